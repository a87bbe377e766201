/*
 * test_r8_mapping.c - mapping files of ProGuard and R8: which original a method of the APK is.
 */
#include <errno.h>
#include <stdbool.h>

#include "android/names/r8_mapping.h"
#include "tap.h"

static struct nsc_diag diag;

/* As ProGuard writes it. */
static const char proguard[] = "# compiler: somebody's\n"
                               "com.example.Main -> a.a:\n"
                               "    int count -> a\n"
                               "    java.lang.String[] words -> b\n"
                               "    void <init>() -> <init>\n"
                               "    12:14:void main(java.lang.String[]) -> main\n"
                               "    20:25:void run(int,com.example.Other) -> a\n"
                               "    30:31:void run(com.example.Other[][],long) -> a\n"
                               "    40:44:boolean run(int) -> a\n"
                               "    50:52:int run(int) -> a\n"
                               "    1016:1018:void inner(int):70:72 -> b\n"
                               "    1016:1018:void com.example.Other.middle():81 -> b\n"
                               "    1016:1018:void outer():90 -> b\n"
                               "    91:93:void outer():91:93 -> b\n"
                               "com.example.Other -> a.b:\n"
                               "    com.example.Main owner -> a\n"
                               "    com.example.Main main() -> a\n"
                               "com.example.Plain -> com.example.Plain:\n"
                               "com.example.Keyword -> int:\n";

/* As R8 writes it. */
static const char r8[] =
    "# compiler: R8\r\n"
    "# {\"id\":\"com.android.tools.r8.mapping\",\"version\":\"2.2\"}\r\n"
    "# pg_map_id: 0123456\r\n"
    "org.app.List -> x:\r\n"
    "# {\"id\":\"sourceFile\",\"fileName\":\"List.kt\"}\r\n"
    "    java.lang.Object head -> a\r\n"
    "    1:1:void <init>():13:13 -> <init>\r\n"
    "    1:4:org.app.Node first(org.app.Node):20:23 -> a\r\n"
    "      # {\"id\":\"com.android.tools.r8.residualsignature\",\"signature\":\"(Ly;I)Lz;\"}\r\n"
    "    5:5:void org.app.Node.check():7:7 -> a\r\n"
    "    5:5:org.app.Node first(org.app.Node):24 -> a\r\n"
    "    1:2:void org.app.Merged.foo():100:101 -> b\r\n"
    "    3:4:void org.app.List.bar():200:201 -> b\r\n"
    "    5:5:void org.app.Merged.foo():102:102 -> b\r\n"
    "    1:1:void synthetic():0:0 -> c\r\n"
    "      # {'id':'com.android.tools.r8.synthesized'}\r\n"
    "    1:1:void inlined():5:5 -> d\r\n"
    "    # {'id':'com.android.tools.r8.residualsignature','signature':'(I)V'}\r\n"
    "    1:1:void kept(long,org.app.Node):6:6 -> d\r\n"
    "org.app.Node -> y:\r\n"
    "# {'id':'sourceFile','fileName':'Nodes.kt'}\r\n"
    "    1:1:void <init>():3:3 -> <init>\r\n"
    "org.app.Merged -> R8$$REMOVED$$CLASS$$1:\r\n"
    "# {\"id\":\"sourceFile\",\"fileName\":\"Merged.java\"}\r\n";

static struct nsc_r8_mapping *read_all(const char *text)
{
    struct nsc_r8_mapping *m = NULL;

    if (nsc_mapping_read(text, strlen(text), &m, &diag) != 0)
        printf("# %s\n", diag.message);
    return m;
}

/* @wanted: "signature how file:line others". */
static void check(const struct nsc_r8_mapping *m, const char *holder, const char *name,
                  const char *descriptor, uint32_t line, const char *wanted)
{
    struct nsc_mapping_query q = {holder, name, descriptor, line};
    struct nsc_mapping_found found;
    struct nsc_buffer signature = {0};
    char got[512];
    int error = nsc_mapping_method(m, &q, &signature, &found);

    if (error != 0)
        snprintf(got, sizeof got, "error %d", error);
    else
        snprintf(got, sizeof got, "%s %d %.*s:%u %u", (const char *)signature.data, (int)found.how,
                 found.file == NULL ? 1 : (int)found.file_bytes,
                 found.file == NULL ? "-" : found.file, found.line, found.others);
    CHECK_STR(got, wanted);
    nsc_buffer_free(&signature);
}

static void test_proguard(void)
{
    struct nsc_r8_mapping *m = read_all(proguard);
    struct nsc_mapping_counts counts;

    nsc_mapping_count(m, &counts);
    CHECK_U64(counts.classes, 4);
    CHECK_U64(counts.methods, 8);
    CHECK_U64(counts.ambiguous, 0);
    check(m, "La/a;", "<init>", "()V", 0, "void com.example.Main.<init>() 2 -:0 0");
    check(m, "La/a;", "main", "([Ljava/lang/String;)V", 0,
          "void com.example.Main.main(java.lang.String[]) 2 -:12 0");
    check(m, "La/a;", "a", "(ILa/b;)V", 0,
          "void com.example.Main.run(int, com.example.Other) 2 -:20 0");
    check(m, "La/a;", "a", "([[La/b;J)V", 0,
          "void com.example.Main.run(com.example.Other[][], long) 2 -:30 0");
    check(m, "La/a;", "a", "(I)Z", 0, "boolean com.example.Main.run(int) 2 -:40 0");
    check(m, "La/a;", "a", "(I)I", 0, "int com.example.Main.run(int) 2 -:50 0");
    check(m, "La/a;", "a", "(I)I", 51, "int com.example.Main.run(int) 2 -:51 0");
    check(m, "La/a;", "a", "(J)I", 0, "int com.example.Main.a(long) 1 -:0 0");
    check(m, "La/a;", "b", "()V", 0, "void com.example.Main.outer() 2 -:90 0");
    check(m, "La/a;", "b", "()V", 92, "void com.example.Main.outer() 2 -:92 0");
    check(m, "La/a;", "b", "()V", 1017, "void com.example.Main.outer() 2 -:90 0");
    check(m, "La/b;", "a", "()La/a;", 0, "com.example.Main com.example.Other.main() 2 -:0 0");
    check(m, "La/c;", "a", "(La/a;[[I)La/b;", 0,
          "com.example.Other a.c.a(com.example.Main, int[][]) 0 -:0 0");
    check(m, "Lcom/example/Plain;", "x", "()V", 0, "void com.example.Plain.x() 1 -:0 0");
    check(m, "Lint;", "x", "(ILint;)V", 0,
          "void com.example.Keyword.x(int, com.example.Keyword) 1 -:0 0");
    nsc_mapping_free(m);
}

static void test_r8(void)
{
    struct nsc_r8_mapping *m = read_all(r8);
    struct nsc_mapping_counts counts;

    nsc_mapping_count(m, &counts);
    CHECK_U64(counts.classes, 3);
    CHECK_U64(counts.ambiguous, 1);
    check(m, "Lx;", "<init>", "()V", 0, "void org.app.List.<init>() 2 List.kt:13 0");
    check(m, "Lx;", "a", "(Ly;I)Lz;", 0,
          "org.app.Node org.app.List.first(org.app.Node) 2 List.kt:20 0");
    check(m, "Lx;", "a", "(Ly;I)Lz;", 3,
          "org.app.Node org.app.List.first(org.app.Node) 2 List.kt:22 0");
    check(m, "Lx;", "a", "(Ly;I)Lz;", 5,
          "org.app.Node org.app.List.first(org.app.Node) 2 List.kt:24 0");
    check(m, "Lx;", "a", "(Ly;)Ly;", 0, "org.app.Node org.app.List.a(org.app.Node) 1 List.kt:0 0");
    check(m, "Lx;", "b", "()V", 0, "void org.app.Merged.foo() 2 Merged.java:100 1");
    check(m, "Lx;", "b", "()V", 4, "void org.app.List.bar() 2 List.kt:201 1");
    check(m, "Lx;", "c", "()V", 0, "void org.app.List.synthetic() 2 List.kt:0 0");
    check(m, "Lx;", "d", "(I)V", 0, "void org.app.List.kept(long, org.app.Node) 2 List.kt:6 0");
    check(m, "Ly;", "<init>", "()V", 0, "void org.app.Node.<init>() 2 Nodes.kt:3 0");
    check(m, "x", "a", "()V", 0, "error -22");
    check(m, "Lx;", "a", "()", 0, "error -22");
    check(m, "Lx;", "a", "(Q)V", 0, "error -22");
    check(m, "Lx;", "a", "(Ly)V", 0, "error -22");
    check(m, "Lx;", "a", "()VV", 0, "error -22");
    check(m, "Lx;", "a", "([)V", 0, "error -22");
    nsc_mapping_free(m);
}

static void refused(const char *text, size_t bytes, const char *wanted)
{
    struct nsc_r8_mapping *m = NULL;

    CHECK(nsc_mapping_read(text, bytes, &m, &diag) == -EBADMSG && m == NULL);
    if (strstr(diag.message, wanted) == NULL)
        CHECK_STR(diag.message, wanted);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *wanted;
    } bad[] = {
        {"", "empty"},
        {"\n\n# nothing\n", "line 3: no mapping"},
        {"hello\n", "line 1: a class was expected"},
        {"a -> b\n", "line 1: a class was expected"},
        {"    int a() -> b\n", "line 1: no mapping"},
        {"a -> b:\n    int a()\n", "line 2: ' -> '"},
        {"a -> b:\n    1:int a() -> b\n", "line 2: a method"},
        {"a -> b:\n    1:99999999999:int a() -> b\n", "line 2: a method"},
        {"a -> b:\n    int a():x -> b\n", "line 2: a method"},
        {"a -> b:\n    int a():1:2:3 -> b\n", "line 2: a method"},
        {"a -> b:\n    a() -> b\n", "line 2: a method"},
        {"a -> b:\n    int a(( -> b\n", "line 2: a method"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(bad[i].text, strlen(bad[i].text), bad[i].wanted);
    refused("a -> b\0:\n", 9, "line 1: no mapping of ProGuard or R8: it is no text");
}

#define CLASSES 500
#define METHODS 40

/* Enough for all tables to grow. */
static void test_many(void)
{
    struct nsc_buffer text = {0}, signature = {0};
    struct nsc_mapping_found found;
    struct nsc_r8_mapping *m = NULL;
    unsigned wrong = 0;
    char line[128], holder[32], wanted[128];

    for (int i = 0; i < CLASSES; i++) {
        snprintf(line, sizeof line, "p.Class%d -> c%d:\n", i, i);
        nsc_buffer_bytes(&text, line, strlen(line));
        for (int k = 0; k < METHODS; k++) {
            snprintf(line, sizeof line, "    1:2:p.Class%d run%d(p.Class%d,int):%d:%d -> %c\n", k,
                     k, k, 10 * k + 1, 10 * k + 2, 'a' + k % 4);
            nsc_buffer_bytes(&text, line, strlen(line));
        }
    }
    CHECK(nsc_mapping_read((const char *)text.data, text.used, &m, &diag) == 0);
    for (int i = 0; i < CLASSES; i++) {
        for (int k = 0; k < METHODS; k++) {
            char name[2] = {(char)('a' + k % 4), 0};
            struct nsc_mapping_query q = {holder, name, line, 2};

            snprintf(holder, sizeof holder, "Lc%d;", i);
            snprintf(line, sizeof line, "(Lc%d;I)Lc%d;", k, k);
            snprintf(wanted, sizeof wanted, "p.Class%d p.Class%d.run%d(p.Class%d, int)", k, i, k,
                     k);
            wrong += nsc_mapping_method(m, &q, &signature, &found) != 0 || found.others != 0 ||
                     found.line != (uint32_t)(10 * k + 2) ||
                     strcmp((const char *)signature.data, wanted) != 0;
        }
    }
    CHECK_U64(wrong, 0);
    nsc_mapping_free(m);
    nsc_buffer_free(&text);
    nsc_buffer_free(&signature);
}

/* No damage does more than change what is found. */
static void test_damage(void)
{
    static const char *const texts[] = {proguard, r8};
    static const char *const holders[] = {"La/a;", "Lx;"};

    for (size_t t = 0; t < 2; t++) {
        size_t bytes = strlen(texts[t]);
        char *copy = malloc(bytes);

        for (size_t at = 0; at < bytes; at++) {
            for (int flip = 1; flip < 256; flip *= 2) {
                struct nsc_mapping_query q = {holders[t], "a", "(I)V", 3};
                struct nsc_buffer signature = {0};
                struct nsc_mapping_found found;
                struct nsc_r8_mapping *m = NULL;

                memcpy(copy, texts[t], bytes);
                copy[at] = (char)(copy[at] ^ flip);
                if (nsc_mapping_read(copy, flip == 128 ? at : bytes, &m, &diag) != 0)
                    continue;
                if (nsc_mapping_method(m, &q, &signature, &found) != 0)
                    CHECK(!"a query is answered");
                nsc_buffer_free(&signature);
                nsc_mapping_free(m);
            }
        }
        free(copy);
    }
    CHECK("every bit was flipped");
}

int main(void)
{
    test_proguard();
    test_r8();
    test_refusals();
    test_many();
    test_damage();
    return t_done();
}
