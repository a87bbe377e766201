/* test_dex.c - the model of a DEX file: made from nothing, written, read, added to; and bytes that
 * are none. */
#include <errno.h>

#include "android/dex/dex.h"
#include "tap.h"
#include "unit/rigs/dex_sample.h"

static void test_empty(uint32_t version, size_t header)
{
    struct nsc_dex *dex = nsc_dex_new(version), *again = NULL;
    struct nsc_buffer out = {0}, twice = {0};
    struct nsc_diag diag;

    CHECK(nsc_dex_write(dex, &out, &diag) == 0);
    CHECK_U64(out.used, header + 4 + 2 * 12);
    CHECK(nsc_dex_read(out.data, out.used, &again, &diag) == 0);
    CHECK_U64(again->version, version);
    CHECK(again->checksum_ok && again->signature_ok && again->loose_bytes == 0);
    CHECK(nsc_dex_write(again, &twice, &diag) == 0);
    CHECK(twice.used == out.used && memcmp(twice.data, out.data, out.used) == 0);
    nsc_dex_free(again);
    nsc_dex_free(dex);
    nsc_buffer_free(&out);
    nsc_buffer_free(&twice);
}

static const char *pretty(const struct nsc_dex *dex, uint32_t method)
{
    static struct nsc_buffer out;

    nsc_buffer_clear(&out);
    nsc_dex_pretty(dex, method, &out);
    nsc_buffer_bytes(&out, "", 1);
    return (const char *)out.data;
}

/* The sample as a file, for free(). */
static struct nsc_buffer sample_bytes(uint32_t version)
{
    struct nsc_dex *dex = dex_sample(version);
    struct nsc_buffer out = {0};
    struct nsc_diag diag;

    CHECK(nsc_dex_write(dex, &out, &diag) == -EINVAL); /* not settled */
    CHECK(nsc_dex_settle(dex, &diag) == 0);
    CHECK(nsc_dex_write(dex, &out, &diag) == 0);
    nsc_dex_free(dex);
    return out;
}

/* What holds of the sample, whatever was added to it. */
static void check_sample(const struct nsc_dex *dex)
{
    static const char *const names[] = {
        "void test.Hooks.<clinit>()",
        "long test.Hooks.count(long, java.lang.String[], int[][])",
    };
    const uint8_t *insns;
    struct nsc_dex_walk w = {0};
    uint32_t n = 0, enter;

    for (; nsc_dex_walk_next(dex, &w) && n < 2; n++) {
        CHECK_STR(pretty(dex, w.member->index), names[n]);
        CHECK_STR(nsc_dex_text(dex, w.class->source), "Hooks.java");
        insns = w.code->data + 16;
        if (n == 0) {
            CHECK_STR(nsc_dex_text(dex, insns[2] | (uint32_t)insns[3] << 8), "a-library");
            CHECK_STR(pretty(dex, insns[6] | (uint32_t)insns[7] << 8),
                      "void java.lang.System.loadLibrary(java.lang.String)");
        } else {
            const struct nsc_dex_field *f = &dex->fields[insns[2] | (uint32_t)insns[3] << 8];

            CHECK_STR(nsc_dex_descriptor(dex, f->holder), "Ltest/Other;");
            CHECK_STR(nsc_dex_text(dex, f->name), "count");
        }
    }
    CHECK_U64(n, 2);
    enter = nsc_dex_find_method(dex, "Ltest/Hooks;", "enter", "(I)V");
    CHECK(enter != NSC_DEX_NONE);
    CHECK_U64(dex->directory_count, 1);
    CHECK_U64(dex->directories[0].methods, 2);
    CHECK_U64(dex->directories[0].items[0].member, enter);
    CHECK_STR(nsc_dex_descriptor(dex, dex->annotations[0].data[1]),
              "Ldalvik/annotation/optimization/CriticalNative;");
    for (uint32_t i = 1; i < dex->string_count; i++)
        CHECK(strcmp(nsc_dex_text(dex, i - 1), nsc_dex_text(dex, i)) < 0);
}

/* Additions before, between and behind what there was. */
static void test_add(uint32_t version)
{
    struct nsc_buffer bytes = sample_bytes(version), out = {0};
    struct nsc_dex *dex = NULL, *again = NULL;
    struct nsc_dex_room room;
    struct nsc_diag diag;
    uint32_t method;

    CHECK(nsc_dex_read(bytes.data, bytes.used, &dex, &diag) == 0);
    check_sample(dex);
    room = nsc_dex_room(dex);
    CHECK_U64(room.methods, 65536 - dex->method_count);
    CHECK_U64(room.types, 65535 - dex->type_count);
    for (int i = 0; i < 300; i++) {
        char name[32];

        snprintf(name, sizeof name, "%c%03d", "!Lz"[i % 3], i);
        nsc_dex_add_string(dex, name);
        snprintf(name, sizeof name, "L%c%03d;", "AtZ"[i % 3], i);
        nsc_dex_add_method(dex, name, i % 2 != 0 ? "a" : "zz", i % 5 != 0 ? "([[J)Z" : "()V");
        nsc_dex_add_field(dex, name, "<", "I");
    }
    method = nsc_dex_add_method(dex, "LZ002;", "zz", "([[J)Z");
    CHECK_U64(method, nsc_dex_add_method(dex, "LZ002;", "zz", "([[J)Z"));
    CHECK_U64(nsc_dex_room(dex).methods, room.methods - 300);
    CHECK(nsc_dex_settle(dex, &diag) == 0);
    CHECK(nsc_dex_find_method(dex, "LZ002;", "zz", "([[J)Z") != method);
    CHECK_STR(pretty(dex, nsc_dex_find_method(dex, "LZ002;", "zz", "([[J)Z")),
              "boolean Z002.zz(long[][])");
    check_sample(dex);
    CHECK(nsc_dex_write(dex, &out, &diag) == 0);
    CHECK(nsc_dex_read(out.data, out.used, &again, &diag) == 0);
    check_sample(again);
    CHECK_U64(again->string_count, dex->string_count);
    nsc_dex_free(dex);
    nsc_dex_free(again);
    nsc_buffer_free(&out);
    nsc_buffer_free(&bytes);
}

/* What cannot be added is said when everything is settled. */
static void test_add_wrong(void)
{
    static const char *const wrong[] = {"", "X", "L;", "Lopen", "[", "II", "V;"};
    static const char *const wrong_signatures[] = {"", "V", "()", "(V)V", "(I", "(I)VV", "(L)V"};
    struct nsc_diag diag;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct nsc_dex *dex = nsc_dex_new(35);

        CHECK(nsc_dex_add_type(dex, wrong[i]) == NSC_DEX_NONE);
        CHECK(nsc_dex_settle(dex, &diag) == -EINVAL && diag.message[0] != '\0');
        nsc_dex_free(dex);
        dex = nsc_dex_new(35);
        CHECK(nsc_dex_add_proto(dex, wrong_signatures[i]) == NSC_DEX_NONE);
        CHECK(nsc_dex_settle(dex, &diag) == -EINVAL && diag.message[0] != '\0');
        nsc_dex_free(dex);
    }
}

/* No table gets more than instructions can name. */
static void test_full(void)
{
    struct nsc_dex *dex = nsc_dex_new(35);
    struct nsc_diag diag;
    char name[32];

    for (uint32_t i = 0; i < 65536; i++) {
        snprintf(name, sizeof name, "m%u", i * 2654435761u);
        nsc_dex_add_method(dex, "LFull;", name, "()V");
    }
    CHECK_U64(nsc_dex_room(dex).methods, 0);
    CHECK(nsc_dex_settle(dex, &diag) == 0);
    CHECK(nsc_dex_add_method(dex, "LFull;", name, "()V") != NSC_DEX_NONE);
    CHECK(nsc_dex_add_method(dex, "LFull;", "another", "()V") == NSC_DEX_NONE);
    CHECK(nsc_dex_settle(dex, &diag) == -EOVERFLOW);
    CHECK_STR(diag.message, "the DEX file has no room for another method");
    nsc_dex_free(dex);
}

/* Other code; code and debug information that methods share. */
static void test_set_code(void)
{
    static const uint8_t debug[] = {7, 0, 0x0e, 0}, other[] = {9, 0, 0x0e, 0};
    static const uint8_t code[20] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x0e, 0};
    struct nsc_buffer bytes = sample_bytes(35), out = {0};
    struct nsc_dex *dex = NULL, *again = NULL;
    struct nsc_dex_walk w = {0};
    struct nsc_diag diag;
    uint32_t first;

    CHECK(nsc_dex_read(bytes.data, bytes.used, &dex, &diag) == 0);
    first = nsc_dex_add_debug(dex, debug, sizeof debug);
    CHECK_U64(nsc_dex_add_debug(dex, debug, sizeof debug), first);
    while (nsc_dex_walk_next(dex, &w)) {
        CHECK(nsc_dex_set_code(dex, w.member, code, 15, first) == -EINVAL);
        CHECK(nsc_dex_set_code(dex, w.member, code, 18, first) == 0);
    }
    CHECK_U64(dex->code_count, 2);
    CHECK_U64(nsc_dex_first_line(dex, &dex->codes[0]), 7);
    /* One code for both: then other for the last of them alone. */
    dex->class_data[0].members[0].code = w.member->code;
    dex->codes[w.member->code].users = 2;
    first = nsc_dex_add_debug(dex, other, sizeof other);
    CHECK(nsc_dex_set_code(dex, w.member, code, 18, first) == 0);
    CHECK_U64(dex->code_count, 3);
    CHECK_U64(nsc_dex_first_line(dex, &dex->codes[2]), 9);
    CHECK(nsc_dex_write(dex, &out, &diag) == 0);
    CHECK(nsc_dex_read(out.data, out.used, &again, &diag) == 0);
    CHECK_U64(again->code_count, 3);
    CHECK_U64(again->debug_count, 2);
    nsc_dex_free(dex);
    nsc_dex_free(again);
    nsc_buffer_free(&out);
    nsc_buffer_free(&bytes);
}

/* Debug information that so many methods share that going through it takes their product. */
static void test_shared_debug(uint32_t bytes, int wanted)
{
    static const uint8_t code[20] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x0e, 0};
    enum { METHODS = 2000 };
    static char names[METHODS][8];
    static struct nsc_dex_new_method methods[METHODS];
    struct nsc_dex_new_class class = {
        .descriptor = "La;", .methods = methods, .method_count = METHODS};
    struct nsc_dex *dex = nsc_dex_new(35), *again = NULL;
    struct nsc_buffer out = {0};
    struct nsc_diag diag;
    uint8_t *long_one = malloc(bytes);
    uint32_t debug;

    memset(long_one, 0x0e, bytes);
    long_one[0] = long_one[1] = long_one[bytes - 1] = 0;
    for (int i = 0; i < METHODS; i++) {
        snprintf(names[i], sizeof names[i], "m%d", i);
        methods[i] = (struct nsc_dex_new_method){
            .name = names[i], .signature = "()V", .access = NSC_DEX_STATIC};
    }
    CHECK(nsc_dex_add_class(dex, &class) == 0 && nsc_dex_settle(dex, &diag) == 0);
    debug = nsc_dex_add_debug(dex, long_one, bytes);
    for (uint32_t i = 0; i < METHODS; i++)
        nsc_dex_set_code(dex, &dex->class_data[0].members[i], code, 18, debug);
    CHECK(nsc_dex_write(dex, &out, &diag) == 0);
    CHECK(nsc_dex_read(out.data, out.used, &again, &diag) == wanted);
    if (wanted == 0)
        nsc_dex_free(again);
    nsc_dex_free(dex);
    nsc_buffer_free(&out);
    free(long_one);
}

/* Everything that can be done with a file that was read. */
static void use(struct nsc_dex *dex)
{
    struct nsc_buffer out = {0};
    struct nsc_dex *again = NULL;
    struct nsc_diag diag;

    for (struct nsc_dex_walk w = {0}; nsc_dex_walk_next(dex, &w);) {
        pretty(dex, w.member->index);
        nsc_dex_first_line(dex, w.code);
    }
    if (nsc_dex_write(dex, &out, &diag) != 0 ||
        nsc_dex_read(out.data, out.used, &again, &diag) != 0)
        CHECK_STR(diag.message, "what was read can be written and read again");
    nsc_dex_free(again);
    nsc_dex_add_method(dex, "L!;", "!", "(IIII)Ljava/lang/String;");
    nsc_buffer_clear(&out);
    if (nsc_dex_settle(dex, &diag) == 0 && nsc_dex_write(dex, &out, &diag) != 0)
        CHECK_STR(diag.message, "what was settled can be written");
    nsc_buffer_free(&out);
}

static void test_hostile(uint32_t version)
{
    struct nsc_buffer bytes = sample_bytes(version);
    struct nsc_dex *dex;
    struct nsc_diag diag;
    size_t refused = 0, read = 0;

    for (size_t n = 0; n < bytes.used; n++) {
        uint8_t *part = malloc(n + 1); /* its end is watched */

        memcpy(part, bytes.data, n);
        if (n >= 36) /* as if it had always been so short */
            for (int i = 0; i < 4; i++)
                part[32 + i] = (uint8_t)(n >> 8 * i);
        if (n >= 116 && version >= 41)
            memcpy(part + 112, part + 32, 4);
        refused += nsc_dex_read(part, n, &dex, &diag) == -EBADMSG && diag.message[0] != '\0';
        free(part);
    }
    CHECK_U64(refused, bytes.used);
    for (size_t at = 0; at < bytes.used; at++) {
        for (int bit = 0; bit < 16; bit++) {
            uint8_t kept = bytes.data[at];

            bytes.data[at] = bit < 8 ? kept ^ (uint8_t)(1 << bit) : (uint8_t)(bit * 17);
            diag.message[0] = '\0';
            if (nsc_dex_read(bytes.data, bytes.used, &dex, &diag) == 0) {
                read++;
                use(dex);
                nsc_dex_free(dex);
            } else if (diag.message[0] == '\0') {
                CHECK_STR("", "refused without a word");
            }
            bytes.data[at] = kept;
        }
    }
    printf("# %zu of %zu were read\n", read, 16 * bytes.used);
    nsc_buffer_free(&bytes);
}

int main(void)
{
    test_empty(35, 112);
    test_empty(41, 120);
    test_add(35);
    test_add(41);
    test_add_wrong();
    test_full();
    test_set_code();
    test_shared_debug(2000, 0);
    test_shared_debug(100000, -EBADMSG);
    test_hostile(35);
    test_hostile(41);
    return t_done();
}
