/*
 * ELF symbols, lines, sites and demangling, on small files that the test itself compiles with gcc
 * and clang into a folder of its own.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/live.h"
#include "symbols/symbols.h"
#include "tap.h"

static char folder[64];

/* Runs a shell command inside the test's folder. */
__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
{
    char command[1200];
    va_list ap;
    int n = snprintf(command, sizeof command, "cd %s && ", folder);

    va_start(ap, format);
    vsnprintf(command + n, sizeof command - (size_t)n, format, ap);
    va_end(ap);
    if (system(command) == 0)
        return true;
    printf("# failed: %s\n", command);
    return false;
}

static void put(const char *name, const char *text)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    if (f == NULL || fputs(text, f) == EOF || fclose(f) != 0) {
        printf("Bail out! cannot write %s\n", path);
        exit(1);
    }
}

static struct nsc_symbols *open_file(const char *name, const struct nsc_symbols_options *options)
{
    struct nsc_symbols *s = NULL;
    struct nsc_diag diag = {0};
    char path[200];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (nsc_symbols_open(path, options, &s, &diag) < 0)
        printf("# %s\n", diag.message);
    return s;
}

/* Address of a symbol by its linker name, 0 if there is none. */
static uint64_t va_of(const struct nsc_symbols *s, const char *name)
{
    for (size_t i = 0; i < nsc_symbols_count(s); i++) {
        struct nsc_symbol symbol = nsc_symbols_at(s, i);

        if (strcmp(symbol.name, name) == 0)
            return symbol.va;
    }
    return 0;
}

static const char *name_at(struct nsc_symbols *s, uint64_t va)
{
    struct nsc_symbol symbol;

    return nsc_symbols_find(s, va, &symbol) ? symbol.name : "(none)";
}

static const char c_source[] = "__attribute__((noinline)) static int inner(int x)\n"
                               "{\n"
                               "    return x * 3;\n"
                               "}\n"
                               "\n"
                               "int outer(int x)\n"
                               "{\n"
                               "    return inner(x) + inner(x + 1);\n"
                               "}\n"
                               "__attribute__((alias(\"outer\"), weak)) int a(int x);\n"
                               "__attribute__((alias(\"outer\"))) int outer_longer(int x);\n"
                               "int main(int argc, char **argv)\n"
                               "{\n"
                               "    (void)argv;\n"
                               "    return outer(argc) == 7;\n"
                               "}\n";

static void check_c(const char *compiler, const char *dwarf)
{
    struct nsc_symbols_line lines[3] = {0};
    struct nsc_symbol symbol = {0};
    struct nsc_symbols *s;
    uint64_t vas[3];

    if (!CHECK(run("%s -O1 %s c.c -o c", compiler, dwarf)))
        return;
    s = open_file("c", NULL);
    if (!CHECK(s != NULL))
        return;
    CHECK_STR(nsc_symbols_origin(s), ".symtab");
    vas[0] = va_of(s, "inner");
    vas[1] = va_of(s, "outer");
    vas[2] = va_of(s, "main");
    CHECK(vas[0] != 0 && vas[1] != 0 && vas[2] != 0);
    CHECK(nsc_symbols_find(s, vas[1], &symbol));
    CHECK_STR(symbol.name, "outer"); /* not `a` (weak), not outer_longer */
    CHECK_STR(name_at(s, vas[1] + symbol.size - 1), "outer");
    CHECK(nsc_symbols_find(s, vas[0] + 2, &symbol));
    CHECK_STR(symbol.name, "inner");
    CHECK_U64(symbol.va, vas[0]);
    CHECK_STR(name_at(s, 1), "(none)");
    CHECK_STR(name_at(s, UINT64_MAX), "(none)");
    CHECK(nsc_symbols_lines(s, vas, 3, lines) == 0);
    if (dwarf[0] != 0) {
        const unsigned want[] = {1, 6, 12};

        for (unsigned i = 0; i < 3; i++) {
            /* the line of the declarator or of its brace */
            CHECK(lines[i].line == want[i] || lines[i].line == want[i] + 1);
            CHECK(lines[i].file != NULL && strstr(lines[i].file, "/c.c") != NULL);
        }
    } else {
        CHECK(lines[0].file == NULL && lines[0].line == 0);
    }
    nsc_symbols_lines_free(lines, 3);
    nsc_symbols_close(s);
}

static void c_files(void)
{
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const dwarfs[] = {"", "-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz"};

    put("c.c", c_source);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned j = 0; j < 4; j++)
            check_c(compilers[i], dwarfs[j]);
}

static void stripped(void)
{
    struct nsc_symbols_options options = {.size = sizeof options};
    const uint8_t *id;
    struct nsc_symbols *s;
    struct nsc_symbols_line line;
    uint8_t other[20] = {0};
    char root[120];
    uint64_t outer;

    if (!CHECK(run("gcc -O1 -g -shared -fPIC -Wl,--build-id=sha1 c.c -o whole.so && "
                   "cp whole.so bare.so && strip bare.so")))
        return;
    s = open_file("bare.so", NULL);
    CHECK(s != NULL);
    CHECK_STR(nsc_symbols_origin(s), ".dynsym");
    outer = va_of(s, "outer");
    CHECK(outer != 0);
    CHECK_U64(va_of(s, "inner"), 0);
    CHECK_U64(nsc_symbols_build_id(s, &id), 20);
    snprintf(root, sizeof root, "%s/debug", folder);
    options.debug_root = root;
    CHECK(run("objcopy --only-keep-debug whole.so whole.debug && mkdir -p debug/.build-id/%02x && "
              "cp whole.debug debug/.build-id/%02x/$(readelf -n whole.so | "
              "sed -n 's/.*Build ID: ..//p').debug",
              id[0], id[0]));
    nsc_symbols_close(s);

    s = open_file("bare.so", &options); /* found by build id */
    CHECK(s != NULL);
    CHECK(strstr(nsc_symbols_origin(s), "/debug/.build-id/") != NULL);
    CHECK(va_of(s, "inner") != 0);
    CHECK_U64(va_of(s, "outer"), outer);
    CHECK(nsc_symbols_lines(s, &outer, 1, &line) == 0);
    CHECK(line.line == 6 || line.line == 7);
    nsc_symbols_lines_free(&line, 1);
    nsc_symbols_close(s);

    CHECK(run("cp bare.so linked.so && objcopy --add-gnu-debuglink=whole.debug linked.so"));
    s = open_file("linked.so", NULL); /* found beside the file */
    CHECK(s != NULL);
    CHECK(strstr(nsc_symbols_origin(s), "/whole.debug") != NULL);
    nsc_symbols_close(s);
    s = open_file("linked.so",
                  &(struct nsc_symbols_options){.size = sizeof options, .no_debug_links = true});
    CHECK(s != NULL);
    CHECK_STR(nsc_symbols_origin(s), ".dynsym");
    nsc_symbols_close(s);
    options.no_debug_files = true;
    s = open_file("linked.so", &options);
    CHECK(s != NULL);
    CHECK_STR(nsc_symbols_origin(s), ".dynsym");
    options.build_id = other;
    options.build_id_bytes = 20;
    nsc_symbols_close(s);
    CHECK(open_file("linked.so", &options) == NULL);

    CHECK(run("gcc c.c -Wl,--build-id=none -o none && strip none"));
    s = open_file("none", NULL);
    CHECK(s != NULL);
    CHECK_U64(nsc_symbols_build_id(s, &id), 0);
    nsc_symbols_close(s);
}

static void nested_and_sizeless(void)
{
    struct nsc_symbols *s;
    uint64_t big, label;

    put("n.s", ".text\n.globl big\n.type big,@function\nbig: .zero 16\n"
               ".type small,@function\nsmall: .zero 4\n.size small,4\n.zero 12\n.size big,32\n"
               ".type label,@function\nlabel: .zero 8\n.type next,@function\nnext: .zero 8\n"
               ".globl _start\n_start: ret\n");
    if (!CHECK(run("gcc -nostdlib -static n.s -o n")))
        return;
    s = open_file("n", NULL);
    CHECK(s != NULL);
    big = va_of(s, "big");
    label = va_of(s, "label");
    CHECK_STR(name_at(s, big + 15), "big");
    CHECK_STR(name_at(s, big + 16), "small");
    CHECK_STR(name_at(s, big + 19), "small");
    CHECK_STR(name_at(s, big + 20), "big"); /* after the inner one, the outer one again */
    CHECK_STR(name_at(s, big + 31), "big");
    CHECK_STR(name_at(s, label + 7), "label");
    CHECK_STR(name_at(s, label + 8), "next");
    CHECK_STR(name_at(s, label + 15), "next"); /* to the end of its section */
    CHECK_STR(name_at(s, label + 17), "(none)");
    CHECK_STR(name_at(s, big - 1), "(none)");
    nsc_symbols_close(s);
}

static void cold_parts(void)
{
    struct nsc_symbols *s;

    put("k.s", ".text\n.type f,@function\nf: .zero 8\n.size f,8\n"
               ".type f.cold,@function\nf.cold: .zero 8\n.size f.cold,8\n"
               ".type g.part.0,@function\ng.part.0: .zero 8\n.size g.part.0,8\n"
               ".type g.part.0.cold,@function\ng.part.0.cold: .zero 8\n.size g.part.0.cold,8\n"
               ".type h.cold.12,@function\nh.cold.12: .zero 8\n.size h.cold.12,8\n");
    put("l.s", ".globl _start\n_start: .zero 8\n.type f,@function\nf: .zero 8\n.size f,8\n"
               ".type f.cold,@function\nf.cold: .zero 8\n.size f.cold,8\n");
    if (!CHECK(run("gcc -nostdlib -static k.s l.s -o k")))
        return;
    s = open_file("k", NULL);
    CHECK(s != NULL);
    for (size_t i = 0; i < nsc_symbols_count(s); i++) {
        struct nsc_symbol at = nsc_symbols_at(s, i), found = {0};

        CHECK(nsc_symbols_find(s, at.va + 3, &found));
        if (strcmp(at.name, "f.cold") == 0) {
            CHECK_STR(found.name, "f");
            CHECK_U64(found.va, at.va - 8); /* the f of the same source file */
        } else if (strcmp(at.name, "g.part.0.cold") == 0) {
            CHECK_STR(found.name, "g.part.0");
        } else {
            CHECK_STR(found.name, at.name); /* clones stand alone; h.cold.12 has no parent */
        }
    }
    nsc_symbols_close(s);
    CHECK_U64(nsc_symbols_base_length("foo.constprop.0.cold"), 3);
    CHECK_U64(nsc_symbols_base_length("foo.part.0"), 3);
    CHECK_U64(nsc_symbols_base_length("foo.lto_priv.0.isra.11"), 3);
    CHECK_U64(nsc_symbols_base_length("nested.12"), 9);
    CHECK_U64(nsc_symbols_base_length(".cold"), 5);
    CHECK_U64(nsc_symbols_base_length(""), 0);
}

static void cplusplus(void)
{
    /* Each parameter doubles the one before: 2^28 characters when written out. */
    static const char bomb[] =
        "_Z1fPFvvEPFvS0_S0_EPFvS2_S2_EPFvS4_S4_EPFvS6_S6_EPFvS8_S8_EPFvSA_SA_EPFvSC_SC_EPFvSE_SE_E"
        "PFvSG_SG_EPFvSI_SI_EPFvSK_SK_EPFvSM_SM_EPFvSO_SO_EPFvSQ_SQ_EPFvSS_SS_EPFvSU_SU_EPFvSW_SW_E"
        "PFvSY_SY_EPFvS10_S10_EPFvS12_S12_EPFvS14_S14_EPFvS16_S16_EPFvS18_S18_EPFvS1A_S1A_E";
    const char *names[] = {
        "_ZN2ns1fIiEEvT_",
        bomb,
        "main",
        "_Znot a name",
        "_ZN2ns1fEi.part.0",
        "_Z1fRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt6vectorIS4_SaIS4_EE",
    };
    char *out[6] = {0};
    struct nsc_symbols *s;

    CHECK(nsc_symbols_demangle(names, 6, out) == 0);
    CHECK_STR(out[0], "void ns::f<int>(int)");
    CHECK_STR(out[1], bomb);
    CHECK_STR(out[2], "main");
    CHECK_STR(out[3], "_Znot a name");
    CHECK_STR(out[4], "ns::f(int) [clone .part.0]");
    CHECK_STR(out[5], "f(std::string const&, std::vector<std::string>)");
    for (unsigned i = 0; i < 6; i++)
        free(out[i]);
    CHECK(nsc_symbols_demangle(NULL, 0, NULL) == 0);

    put("p.cc", "namespace ns {\nstruct A { int v; A(int x); };\nA::A(int x) : v(x) {}\n"
                "template <typename T> __attribute__((noinline)) T twice(T x) { return x + x; }\n"
                "}\nint main() { return ns::twice(ns::A(3).v) + (int)ns::twice(1.5); }\n");
    for (unsigned i = 0; i < 2; i++) {
        if (!CHECK(run("%s -g p.cc -o p", i == 0 ? "g++" : "clang++")))
            continue;
        s = open_file("p", NULL);
        CHECK(s != NULL);
        if (i == 0) { /* g++ makes both constructors one function: strcmp decides its name */
            CHECK(va_of(s, "_ZN2ns1AC1Ei") != 0);
            CHECK_U64(va_of(s, "_ZN2ns1AC2Ei"), 0);
        }
        CHECK(va_of(s, "_ZN2ns5twiceIdEET_S1_") != 0);
        nsc_symbols_close(s);
    }
}

static void sites(void)
{
    struct nsc_symbols_site *got = NULL;
    struct nsc_symbols *s;
    uint64_t start;
    size_t count = 0;

    put("t.s", ".text\n.globl _start\n.type _start,@function\n_start: .zero 16\n.size _start,16\n"
               ".section nanoscope_sites,\"a\"\n.long _start-.,0\n.long _start+8-.,1\n"
               ".long _start+12-.,2\n.long _start+13-.,77\n"
               ".section xray_instr_map,\"a\"\n"
               "1: .quad _start+4-1b,_start-1b\n.byte 0,1,2\n.zero 13\n"
               "2: .quad _start+5-2b,_start-2b\n.byte 2,1,2\n.zero 13\n"
               "3: .quad _start+6-3b,_start-3b\n.byte 4,1,2\n.zero 13\n"
               "4: .quad 0x1234,0\n.byte 1,1,1\n.zero 13\n"
               ".section __patchable_function_entries,\"aw\"\n.quad _start+7\n");
    if (!CHECK(run("gcc -nostdlib -static t.s -o t")))
        return;
    s = open_file("t", NULL);
    CHECK(s != NULL);
    start = va_of(s, "_start");
    CHECK(nsc_symbols_sites(s, &got, &count, NULL) == 0);
    if (CHECK(count == 9)) {
        const uint64_t vas[] = {start,     start + 8, start + 12, start + 13, start + 4,
                                start + 5, start + 6, 0x1234,     start + 7};
        const uint32_t kinds[] = {NSC_LIVE_SITE_ENTRY,    NSC_LIVE_SITE_EXIT,  NSC_LIVE_SITE_HOOK,
                                  NSC_SYMBOLS_SITE_OTHER, NSC_LIVE_SITE_ENTRY, NSC_LIVE_SITE_EXIT,
                                  NSC_SYMBOLS_SITE_OTHER, NSC_LIVE_SITE_EXIT,  NSC_LIVE_SITE_ENTRY};

        for (unsigned i = 0; i < 9; i++) {
            CHECK_U64(got[i].va, vas[i]);
            CHECK_U64(got[i].kind, kinds[i]);
            CHECK_U64(got[i].table, i < 4   ? NSC_SYMBOLS_SITES_OWN
                                    : i < 8 ? NSC_SYMBOLS_SITES_XRAY
                                            : NSC_SYMBOLS_SITES_NOPS);
            CHECK_U64(got[i].form, i == 2 || i == 3 || i == 6 ? NSC_SYMBOLS_SLED_NONE
                                   : i == 7                   ? NSC_SYMBOLS_SLED_RET
                                                              : NSC_SYMBOLS_SLED_TEST);
        }
    }
    free(got);
    nsc_symbols_close(s);
}

/* What clang itself emits, and linkers make of it. */
static void sites_of_clang(const char *sleds, const char *link)
{
    struct nsc_symbols_site *got = NULL;
    struct nsc_symbols *s;
    size_t count = 0, entries = 0;

    if (!CHECK(run("clang -O1 -fxray-instrument -fxray-instruction-threshold=1 %s -fPIC -c c.c -o "
                   "x.o && clang x.o -o x.so %s",
                   sleds, link)))
        return;
    s = open_file("x.so", NULL);
    CHECK(s != NULL);
    CHECK(nsc_symbols_sites(s, &got, &count, NULL) == 0);
    CHECK(count >= 6);
    for (size_t i = 0; i < count; i++) {
        struct nsc_symbol f = {0};

        CHECK(nsc_symbols_find(s, got[i].va, &f));
        CHECK((got[i].kind == NSC_LIVE_SITE_ENTRY) == (got[i].va == f.va));
        entries += got[i].kind == NSC_LIVE_SITE_ENTRY;
    }
    CHECK(entries >= 3);
    free(got);
    nsc_symbols_close(s);
}

/* Give all symbols of a file the name of the first function. */
static void share_name(const char *path)
{
    static uint8_t file[1 << 20];
    FILE *f = fopen(path, "r+");
    size_t bytes = f != NULL ? fread(file, 1, sizeof file, f) : 0;
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(file + header->e_shoff);
    Elf64_Word name = 0;

    if (!CHECK(bytes > sizeof *header && bytes < sizeof file))
        return;
    while (section->sh_type != SHT_SYMTAB)
        section++;
    for (size_t i = 0; i < section->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym *symbol = (Elf64_Sym *)(file + section->sh_offset) + i;

        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
            continue;
        if (name == 0)
            name = symbol->st_name;
        symbol->st_name = name;
    }
    rewind(f);
    CHECK(fwrite(file, 1, bytes, f) == bytes && fclose(f) == 0);
}

/* A million symbols that share one long name would take hours. */
static void shared_names(void)
{
    static char source[1 << 17], name[10001];
    static const char form[] = ".type %s,@function\n%s: .byte 0\n";
    struct nsc_symbols *s = NULL;
    struct nsc_diag diag = {0};
    size_t length = 0;
    char path[200];

    memset(name, 'l', sizeof name - 1);
    for (int i = 0; i < 1000; i++) {
        length += (size_t)snprintf(source + length, sizeof source - length, form, name, name);
        snprintf(name, sizeof name, "f%d", i);
    }
    put("m.s", source);
    if (!CHECK(run("gcc -nostdlib -shared m.s -o m")))
        return;
    snprintf(path, sizeof path, "%s/m", folder);
    CHECK(nsc_symbols_open(path, NULL, &s, &diag) == 0);
    nsc_symbols_close(s);
    s = NULL;
    share_name(path);
    CHECK(nsc_symbols_open(path, NULL, &s, &diag) == 0);
    CHECK_U64(nsc_symbols_count(s), 0);
    CHECK(strstr(diag.message, "share long names") != NULL);
    nsc_symbols_close(s);
}

static void refused(void)
{
    struct nsc_symbols *s = NULL;
    struct nsc_diag diag = {0};
    char path[200];

    CHECK(nsc_symbols_open("/nowhere/at/all", NULL, &s, &diag) == -ENOENT);
    put("text", "this is no ELF file, but it is longer than an ELF header, which has 64 bytes.\n");
    snprintf(path, sizeof path, "%s/text", folder);
    CHECK(nsc_symbols_open(path, NULL, &s, &diag) == -ENOEXEC);
    CHECK(strstr(diag.message, "text") != NULL);
    CHECK(nsc_symbols_open(folder, NULL, &s, &diag) < 0);
    snprintf(path, sizeof path, "%s/pipe", folder);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(nsc_symbols_open(path, NULL, &s, &diag) == -ENOEXEC);
    CHECK(run("head -c 4000 c > cut"));
    snprintf(path, sizeof path, "%s/cut", folder);
    CHECK(nsc_symbols_open(path, NULL, &s, &diag) == -EBADMSG);
    CHECK(s == NULL);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/nsc-symbols.XXXXXX");
    if (mkdtemp(folder) == NULL) {
        printf("Bail out! no folder for the test: %s\n", strerror(errno));
        return 1;
    }
    c_files();
    stripped();
    nested_and_sizeless();
    cold_parts();
    cplusplus();
    sites();
    sites_of_clang("", "-shared");
    for (unsigned i = 0; i < 6; i++) {
        static const char *const links[] = {"-shared",
                                            "-shared -fuse-ld=gold",
                                            "-shared -fuse-ld=lld",
                                            "-shared -fuse-ld=lld -Wl,--pack-dyn-relocs=relr",
                                            "-shared -fuse-ld=lld -Wl,--apply-dynamic-relocs",
                                            "-nostdlib -no-pie -Wl,-e,main"};

        sites_of_clang("-fxray-instrumentation-bundle=function-exit -Xclang "
                       "-fpatchable-function-entry=5",
                       links[i]);
    }
    refused();
    shared_names();
    if (t_failed == 0)
        CHECK(run("rm -rf %s", folder));
    return t_done();
}
