/*
 * test_code.c - a method's code: what is refused, what is written, where the hook puts its
 * calls. Methods of all kinds, by seed, are in test_code_random.c.
 */
#include <errno.h>
#include <time.h>

#include "android/bytecode/code.h"
#include "android/bytecode/opcodes.h"
#include "tap.h"

#define UNITS(...) (const uint16_t[]){__VA_ARGS__}, sizeof((uint16_t[]){__VA_ARGS__}) / 2

static struct nsc_buffer item;

static void put16(unsigned v)
{
    uint8_t bytes[2] = {(uint8_t)v, (uint8_t)(v >> 8)};

    nsc_buffer_bytes(&item, bytes, 2);
}

/* A code item in `item`. */
static void begin(unsigned registers, unsigned ins, unsigned tries, const uint16_t *units,
                  size_t count)
{
    nsc_buffer_clear(&item);
    put16(registers);
    put16(ins);
    put16(0);
    put16(tries);
    put16(0);
    put16(0);
    put16((unsigned)count & 0xffff);
    put16((unsigned)(count >> 16));
    for (size_t i = 0; i < count; i++)
        put16(units[i]);
    if (tries > 0 && count % 2 != 0)
        put16(0);
}

static void put_try(unsigned start, unsigned count, unsigned offset)
{
    put16(start);
    put16(0);
    put16(count);
    put16(offset);
}

static int read_item(struct nsc_dex_code *code)
{
    struct nsc_diag diag = {0};
    int error = nsc_dex_code_read(code, item.data, item.used, NULL, 0, &diag);

    if (error != 0 && diag.message[0] == '\0')
        printf("# no word about %d\n", error);
    return error;
}

static struct nsc_dex_hook hook_of(uint32_t id, const char *shorty, bool is_static)
{
    struct nsc_dex_hook hook = {.id = id,
                                .enter = 0xeeee,
                                .exit = 0xffff,
                                .shorty = shorty,
                                .is_static = is_static,
                                .catch_all = true,
                                .throwable = NSC_DEX_NONE};

    return hook;
}

/* Does @code have these units? */
static void same(const struct nsc_dex_code *code, const uint16_t *units, size_t count, int line)
{
    bool equal = code->size == count && memcmp(code->insns, units, count * 2) == 0;
    char what[40];

    snprintf(what, sizeof what, "units of line %d", line);
    if (!t_report(equal, __FILE__, line, what)) {
        printf("#  ");
        for (uint32_t i = 0; i < code->size && i < 100; i++)
            printf(" %04x", code->insns[i]);
        printf("\n");
    }
}
#define SAME(code, ...) same((code), UNITS(__VA_ARGS__), __LINE__)

static struct nsc_dex_hooked hooked(struct nsc_dex_code *code, struct nsc_dex_hook hook)
{
    struct nsc_dex_hooked done = {0};

    CHECK(nsc_dex_code_hook(code, &hook, &done) == 0);
    return done;
}

/* ---- read and write ---------------------------------------------------------------------------
 */

static void refused(unsigned registers, unsigned ins, const uint16_t *units, size_t count, int line)
{
    struct nsc_dex_code code;

    begin(registers, ins, 0, units, count);
    t_report(read_item(&code) == -EBADMSG, __FILE__, line, "refused");
}
#define REFUSED(registers, ins, ...) refused(registers, ins, UNITS(__VA_ARGS__), __LINE__)

static void test_refused(void)
{
    struct nsc_dex_code code;

    REFUSED(1, 2, 0x000e);                                        /* more comes in than there is */
    REFUSED(1, 0, 0x003e);                                        /* no opcode */
    REFUSED(1, 0, 0x0013);                                        /* cut off */
    REFUSED(1, 0, 0x0228, 0x000e);                                /* goto beyond the end */
    REFUSED(1, 0, 0xff28, 0x000e);                                /* before the begin */
    REFUSED(1, 0, 0x0228, 0x0013, 0x0000, 0x000e);                /* into an instruction */
    REFUSED(1, 0, 0x0426, 0x0003, 0x0000, 0x000e);                /* no data there */
    REFUSED(1, 0, 0x002b, 0x0004, 0, 0x000e, 0x0200, 0);          /* the other kind of table */
    REFUSED(1, 0, 0x002b, 0x0005, 0, 0x000e, 0, 0x0100, 0, 0, 0); /* not aligned */
    REFUSED(1, 0, 0x002b, 0x0004, 0, 0x000e, 0x0100, 1, 0, 0, 2, 0); /* a case inside the switch */
    REFUSED(1, 0, 0x0000, 0x0100, 0xffff, 0, 0);                     /* a table beyond the end */
    REFUSED(1, 0, 0x0000, 0x0300, 0xffff, 0xffff, 0xffff);
    refused(1, 0, NULL, 0, __LINE__);

    begin(1, 0, 1, UNITS(0x0000, 0x000e));
    CHECK(read_item(&code) == -EBADMSG); /* no tries */
    put_try(0, 1, 1);
    CHECK(read_item(&code) == -EBADMSG); /* no lists */
    nsc_buffer_bytes(&item, "\x01\x00\x01", 3);
    CHECK(read_item(&code) == 0);
    CHECK(nsc_dex_code_bytes(item.data, item.used) == item.used);
    CHECK(nsc_dex_code_bytes(item.data, item.used - 1) == 0);
    nsc_dex_code_free(&code);
    item.data[item.used - 1] = 2;
    CHECK(read_item(&code) == -EBADMSG); /* a handler beyond the end */
    begin(1, 0, 2, UNITS(0x0000, 0x0000, 0x000e, 0x0000));
    put_try(1, 1, 1);
    put_try(0, 1, 1);
    nsc_buffer_bytes(&item, "\x01\x00\x01", 3);
    CHECK(read_item(&code) == -EBADMSG); /* not in order */
    for (size_t bytes = 0; bytes < item.used; bytes++)
        CHECK(nsc_dex_code_read(&code, item.data, bytes, NULL, 0, NULL) == -EBADMSG);
}

static void test_written(void)
{
    struct nsc_buffer out = {0};
    struct nsc_dex_code code;

    begin(3, 1, 2, UNITS(0x0000, 0x0027, 0x0000, 0x000d, 0x000e));
    put_try(0, 1, 1);
    put_try(1, 2, 3);
    /* Two lists: one of all; one of type 5 alone. */
    nsc_buffer_bytes(&item, "\x02\x00\x03\x01\x05\x03", 6);
    CHECK(read_item(&code) == 0);
    CHECK_U64(code.list_count, 2);
    CHECK_U64(code.catches[code.lists[1].first].type, 5);
    nsc_buffer_bytes(&out, "x", 1);
    CHECK_U64(nsc_dex_code_write(&code, &out), 4);
    CHECK(out.used - 4 == item.used && memcmp(out.data + 4, item.data, item.used) == 0);
    nsc_dex_code_free(&code);
    nsc_buffer_free(&out);
}

/* ---- indices ----------------------------------------------------------------------------------
 */

static void test_indices(void)
{
    uint32_t strings[2] = {7, 0x12345}, types[2] = {9, 70000};
    struct nsc_dex_maps maps = {
        .strings = strings, .string_count = 2, .types = types, .type_count = 2};
    struct nsc_dex_code code;

    /* if-eqz over two const-string, one of which becomes jumbo. */
    begin(1, 0, 0, UNITS(0x0038, 6, 0x001a, 0, 0x001a, 1, 0x000e));
    CHECK(read_item(&code) == 0);
    CHECK(nsc_dex_code_remap(&code, &maps, NULL) == 0);
    SAME(&code, 0x0038, 7, 0x001a, 7, 0x001b, 0x2345, 1, 0x000e);
    nsc_dex_code_free(&code);

    begin(1, 0, 0, UNITS(0x001c, 0, 0x000e));
    CHECK(read_item(&code) == 0);
    CHECK(nsc_dex_code_remap(&code, &maps, NULL) == 0);
    SAME(&code, 0x001c, 9, 0x000e);
    nsc_dex_code_free(&code);

    begin(1, 0, 0, UNITS(0x001c, 1, 0x000e));
    CHECK(read_item(&code) == 0);
    CHECK(nsc_dex_code_remap(&code, &maps, NULL) == -EOVERFLOW);
    nsc_dex_code_free(&code);
    begin(1, 0, 0, UNITS(0x001a, 2, 0x000e));
    CHECK(read_item(&code) == 0);
    CHECK(nsc_dex_code_remap(&code, &maps, NULL) == -EBADMSG);
    nsc_dex_code_free(&code);
}

/* Types that take more bytes than before move the last list to where no try can name it. */
static void test_large_lists(void)
{
    uint32_t types[2] = {100, 20000};
    struct nsc_dex_maps maps = {.types = types, .type_count = 2};
    const unsigned lists = 20000;
    struct nsc_dex_code code;

    for (uint8_t type = 0; type < 2; type++) {
        begin(1, 0, 1, UNITS(0x0027));
        put_try(0, 1, 3 + 3 * (lists - 1));
        nsc_buffer_leb(&item, lists);
        for (unsigned i = 0; i < lists; i++)
            nsc_buffer_bytes(&item, (const uint8_t[]){1, type, 0}, 3);
        CHECK(read_item(&code) == 0);
        CHECK(nsc_dex_code_remap(&code, &maps, NULL) == (type == 0 ? 0 : -EOVERFLOW));
        nsc_dex_code_free(&code);
    }
}

/* ---- the hook ---------------------------------------------------------------------------------
 */

static void test_simple(void)
{
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    /* Nothing can throw: no handler. Ids of all sizes. */
    begin(1, 0, 0, UNITS(0x000e));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(7, "V", true));
    SAME(&code, 0x7012, 0x1071, 0xeeee, 0, 0x7012, 0x1071, 0xffff, 0, 0x000e);
    CHECK(done.registers == 0 && code.try_count == 0 && code.outs == 1);
    nsc_dex_code_free(&code);
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(0x7fff, "V", true));
    CHECK(code.insns[0] == 0x0013 && code.insns[1] == 0x7fff);
    nsc_dex_code_free(&code);
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(0x30000, "V", true));
    CHECK(code.insns[0] == 0x0015 && code.insns[1] == 3);
    nsc_dex_code_free(&code);
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(0x8000, "V", true));
    CHECK(code.insns[0] == 0x0014 && code.insns[1] == 0x8000 && code.insns[2] == 0);
    nsc_dex_code_free(&code);

    /* No register at all: two more, since a call may throw. */
    begin(0, 0, 0, UNITS(0x0071, 5, 0, 0x000e));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", true));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x0071, 5, 0, 0x1012, 0x1071, 0xffff, 0, 0x000e, 0x000d,
         0x1112, 0x1071, 0xffff, 1, 0x0027);
    CHECK(done.registers == 2 && code.registers == 2 && code.ins == 0);
    CHECK(code.try_count == 1 && code.tries[0].start == 4 && code.tries[0].count == 3);
    CHECK(code.catch_count == 1 && code.catches[0].addr == 12);
    nsc_dex_code_free(&code);
}

static void test_arguments(void)
{
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    /* A getter: one register, which is `this` and what is returned. */
    begin(1, 1, 0, UNITS(0x0054, 3, 0x0011));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "L", false));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x1007, 0x0054, 3, 0x1112, 0x1071, 0xffff, 1, 0x0011,
         0x000d, 0x1112, 0x1071, 0xffff, 1, 0x0027);
    CHECK(done.registers == 1 && code.registers == 2);
    nsc_dex_code_free(&code);

    /* A wide one, in the way of every register that there is. */
    begin(2, 2, 0, UNITS(0x0010));
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "JJ", true));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x1004, 0x1212, 0x1071, 0xffff, 2, 0x0010);
    nsc_dex_code_free(&code);

    /* Sixteen arguments: the last moves from where no short instruction reaches. */
    begin(16, 16, 0, UNITS(0x000e));
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "VIIIIIIIIIIIIIIIL", true));
    CHECK_U64(code.insns[4], 0x1001);
    CHECK_U64(code.insns[18], 0xfe01);
    CHECK(code.insns[19] == 0x0f08 && code.insns[20] == 16);
    nsc_dex_code_free(&code);

    /* What the prototype says is not what comes in. */
    begin(1, 1, 0, UNITS(0x0054, 3, 0x0011));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "LJ", false));
    CHECK(done.refused == NSC_DEX_REFUSED_SHORTY && code.size == 3 && code.registers == 1);
    nsc_dex_code_free(&code);
}

/* Many arguments, to the limit. */
static void test_many_registers(void)
{
    static char shorty[65600];
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;
    static const unsigned counts[] = {255, 256, 257, 65534, 65535};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        unsigned n = counts[i];

        memset(shorty, 'I', n);
        shorty[0] = 'V';
        shorty[n] = '\0'; /* and `this` */
        begin(n, n, 0, UNITS(0x000e));
        CHECK(read_item(&code) == 0);
        done = hooked(&code, hook_of(1, shorty, false));
        if (n == 65535) {
            CHECK(done.refused == NSC_DEX_REFUSED_REGISTERS && code.size == 1);
        } else {
            CHECK(done.refused == 0 && done.registers == 1 && code.registers == n + 1);
            /* The last move, in front of the exit. */
            if (n > 256) {
                CHECK(code.insns[code.size - 8] == 0x0003 && code.insns[code.size - 7] == n - 1);
                CHECK(code.insns[code.size - 6] == n);
            } else {
                CHECK(code.insns[code.size - 7] == ((n - 1) << 8 | 2));
                CHECK(code.insns[code.size - 6] == n);
            }
        }
        nsc_dex_code_free(&code);
    }
    /* One local register is enough, however many there are. */
    memset(shorty, 'I', 65535);
    shorty[0] = 'V';
    shorty[65535] = '\0';
    begin(65535, 65534, 0, UNITS(0x000e));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, shorty, true));
    CHECK(done.refused == 0 && done.registers == 0);
    nsc_dex_code_free(&code);
}

/* A branch back to the first instruction enters once; returns share what comes after them. */
static void test_flow(void)
{
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    begin(1, 0, 0, UNITS(0x0038, 3, 0x000e, 0x0038, 0xfffd, 0x000e));
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "V", true));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x0038, 3, 0x0328, 0x0038, 0xfffd, 0x1012, 0x1071,
         0xffff, 0, 0x000e);
    nsc_dex_code_free(&code);

    /* A loop for ever; code that is never reached is left alone. */
    begin(1, 0, 0, UNITS(0x0000, 0xff28, 0x000e));
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "V", true));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x0000, 0xff28, 0x000e);
    nsc_dex_code_free(&code);
    begin(1, 0, 0, UNITS(0x002a, 0, 0)); /* goto/32 to itself */
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "V", true));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x002a, 0, 0);
    nsc_dex_code_free(&code);

    /* Into its end, and into data. */
    begin(1, 0, 0, UNITS(0x0000));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", true));
    CHECK(done.refused == NSC_DEX_REFUSED_FALLS && code.size == 1);
    nsc_dex_code_free(&code);
    begin(1, 0, 0, UNITS(0x0012, 0x0000, 0x0100, 0, 0, 0));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", true));
    CHECK(done.refused == NSC_DEX_REFUSED_FALLS);
    nsc_dex_code_free(&code);
}

/* Two switches with one table: each has its own afterwards, since distances differ. */
static void test_tables(void)
{
    struct nsc_dex_code code;

    begin(
        1, 0, 0,
        UNITS(0x002b, 10, 0, 0x002b, 7, 0, 0x0000, 0x0000, 0x000e, 0x0000, 0x0100, 1, 0, 0, 3, 0));
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "V", true));
    SAME(&code, 0x1012, 0x1071, 0xeeee, 0, 0x002b, 14, 0, 0x002b, 17, 0, 0, 0, 0x1012, 0x1071,
         0xffff, 0, 0x000e, 0, 0x0100, 1, 0, 0, 3, 0, 0x0100, 1, 0, 0, 3, 0);
    nsc_dex_code_free(&code);
}

/* Branches that no longer reach. */
static void test_far(void)
{
    static uint16_t units[33000];
    static const unsigned nops[] = {32758, 32759, 32760, 32763};
    struct nsc_dex_code code;
    unsigned inverted = 0;

    for (unsigned k = 0; k < 4; k++) {
        unsigned n = nops[k];

        /* if-eqz over returns that grow, and over nops; goto back over all of it. */
        memset(units, 0, sizeof units);
        units[0] = 0x0038;
        units[1] = (uint16_t)(n + 4);
        units[2] = 0x0138;
        units[3] = (uint16_t)(n + 1);
        units[n + 3] = 0x000e;
        units[n + 4] = 0x0029;
        units[n + 5] = (uint16_t) - (int)(n + 4);
        begin(2, 0, 0, units, n + 6);
        CHECK(read_item(&code) == 0);
        hooked(&code, hook_of(1, "V", true));
        if (code.insns[4] == 0x0039) {
            uint32_t to = 6 + (code.insns[7] | (uint32_t)code.insns[8] << 16);

            inverted++;
            CHECK(code.insns[5] == 5 && code.insns[6] == 0x002a);
            CHECK(code.insns[to] == 0x002a || code.insns[to] == 0x0029);
        } else {
            CHECK(code.insns[4] == 0x0038 && code.insns[4u + code.insns[5]] != 0);
        }
        nsc_dex_code_free(&code);
    }
    CHECK_U64(inverted, 2);
}

/* Monitors: our handler is for what happens without one. */
static void test_monitors(void)
{
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    /* As a compiler does it: enter; try { call } catch all { exit; throw }; exit; return. */
    begin(3, 1, 2, UNITS(0x021d, 0x0071, 5, 0, 0x021e, 0x000e, 0x000d, 0x021e, 0x0027, 0x0000));
    put_try(1, 3, 1);
    put_try(7, 1, 1);
    nsc_buffer_bytes(&item, "\x01\x00\x06", 3);
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", false));
    CHECK_U64(done.held, 0);
    CHECK_U64(code.try_count, 4);
    /* monitor-enter and the last throw are ours; what is between them is not. */
    CHECK(code.tries[0].start == 4 && code.tries[0].count == 1);
    CHECK(code.tries[1].start == 5 && code.tries[1].count == 3);
    CHECK(code.tries[0].list == code.tries[3].list && code.tries[1].list == code.tries[2].list);
    CHECK(code.tries[2].list != code.tries[3].list);
    CHECK_U64(code.lists[code.tries[3].list].count, 1);
    nsc_dex_code_free(&code);

    /* The handler's exit stands under the handler around all of it, type 8, which is told of no
     * monitor by that: what is thrown there passes our exit. */
    begin(3, 1, 3,
          UNITS(0x021d, 0x0071, 5, 0, 0x021e, 0x000e, 0x000d, 0x021e, 0x0027, 0x000d, 0x0071, 6, 0,
                0x000e));
    put_try(0, 1, 1);
    put_try(1, 4, 4);
    put_try(6, 3, 1);
    nsc_buffer_bytes(&item, "\x02\x01\x08\x09\x00\x06", 6);
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", false));
    CHECK_U64(done.held, 0);
    CHECK_U64(code.lists[code.tries[code.try_count - 1].list].count, 1);
    CHECK(code.catches[code.lists[code.tries[code.try_count - 1].list].first].type == NSC_DEX_NONE);
    nsc_dex_code_free(&code);

    /* Nobody catches what is thrown with the monitor held. */
    begin(1, 1, 0, UNITS(0x001d, 0x0071, 5, 0, 0x001e, 0x000e));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", false));
    CHECK_U64(done.held, 1);
    CHECK(code.try_count == 1 && code.tries[0].count == 1);
    nsc_dex_code_free(&code);
}

/* A try that does not catch all gets ours behind; one that does keeps its own. */
static void test_handlers(void)
{
    struct nsc_dex_hook hook = hook_of(1, "V", true);
    struct nsc_dex_code code;

    begin(2, 0, 1, UNITS(0x0071, 5, 0, 0x000e, 0x000d, 0x0027));
    put_try(0, 3, 1);
    nsc_buffer_bytes(&item, "\x01\x01\x08\x04", 4);
    CHECK(read_item(&code) == 0);
    hooked(&code, hook);
    CHECK_U64(code.try_count, 2);
    CHECK_U64(code.lists[code.tries[0].list].count, 2);
    CHECK_U64(code.catches[code.lists[code.tries[0].list].first].type, 8);
    CHECK_U64(code.lists[code.tries[1].list].count, 1);
    nsc_dex_code_free(&code);

    /* Type 8 is Throwable, which is as good. */
    CHECK(read_item(&code) == 0);
    hook.throwable = 8;
    hooked(&code, hook);
    CHECK_U64(code.lists[code.tries[0].list].count, 1);
    nsc_dex_code_free(&code);

    /* Without a catch-all of ours. */
    CHECK(read_item(&code) == 0);
    hook.catch_all = false;
    hooked(&code, hook);
    CHECK_U64(code.try_count, 1);
    CHECK_U64(code.catch_count, 1);
    nsc_dex_code_free(&code);

    /* The handler is the first instruction, too: it does not enter again. */
    begin(1, 0, 1, UNITS(0x0071, 5, 0, 0xfd28));
    put_try(0, 3, 1);
    nsc_buffer_bytes(&item, "\x01\x00\x00", 3);
    CHECK(read_item(&code) == 0);
    hooked(&code, hook_of(1, "V", true));
    CHECK_U64(code.try_count, 1);
    CHECK_U64(code.catches[0].addr, 4);
    nsc_dex_code_free(&code);
}

/* ---- calls at their place ---------------------------------------------------------------------
 */

static uint32_t call_id(void *context, uint8_t opcode, uint32_t method)
{
    (void)context;
    (void)opcode;
    return method == 5 ? 3 : 0;
}

static void test_calls(void)
{
    struct nsc_dex_reroute to = {.from = 9, .to = 10};
    struct nsc_dex_hook hook = {.enter = 0xeeee,
                                .exit = 0xffff,
                                .shorty = "I",
                                .is_static = true,
                                .catch_all = true,
                                .throwable = NSC_DEX_NONE,
                                .call_id = call_id,
                                .reroutes = &to,
                                .reroute_count = 1};
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    /* v0 has the result, so two registers are added; the result stays beside its call. */
    begin(1, 0, 0, UNITS(0x0071, 5, 0, 0x000a, 0x000f));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook);
    SAME(&code, 0x3112, 0x1071, 0xeeee, 1, 0x0071, 5, 0, 0x000a, 0x3112, 0x1071, 0xffff, 1, 0x000f,
         0x020d, 0x3112, 0x1071, 0xffff, 1, 0x0227);
    CHECK(done.calls == 1 && done.calls_left == 0 && done.registers == 2);
    CHECK(code.try_count == 1 && code.tries[0].start == 4 && code.tries[0].count == 4);
    nsc_dex_code_free(&code);

    /* Registers that are free by then. */
    begin(4, 0, 0, UNITS(0x0071, 5, 0, 0x030a, 0x030f));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook);
    CHECK(done.registers == 0 && code.insns[0] == 0x3012);
    nsc_dex_code_free(&code);

    /* Thread.setName, and a super call of it, which stays. */
    begin(2, 0, 0, UNITS(0x206e, 9, 0x0010, 0x206f, 9, 0x0010, 0x0274, 9, 0, 0x000e));
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook);
    SAME(&code, 0x2071, 10, 0x0010, 0x206f, 9, 0x0010, 0x0277, 10, 0, 0x000e);
    CHECK_U64(done.rerouted, 2);
    nsc_dex_code_free(&code);
}

/* Debug information without end for a method of one instruction: its beginning is kept. */
static void test_long_debug(void)
{
    uint8_t debug[100004] = {1, 0};
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    memset(debug + 2, 0x0e, sizeof debug - 4);
    begin(1, 0, 0, UNITS(0x000e));
    CHECK(nsc_dex_code_read(&code, item.data, item.used, debug, sizeof debug, NULL) == 0);
    done = hooked(&code, hook_of(1, "V", true));
    CHECK_U64(done.refused, NSC_DEX_HOOKED);
    CHECK(code.debug_bytes > 200 && code.debug_bytes < 2000);
    CHECK(code.debug[2] == 0x0e && code.debug[code.debug_bytes - 1] == 0);
    nsc_dex_code_free(&code);
}

/* Data that nobody uses, with padding that it does not need: the code becomes smaller. */
static void test_smaller(void)
{
    uint16_t units[1 + 40 * 5] = {0x000e};
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;

    for (size_t i = 0; i < 40; i++) {
        units[5 * i + 2] = NSC_DEX_PACKED_PAYLOAD;
        units[5 * i + 3] = 0;
    }
    begin(1, 0, 0, units, sizeof units / sizeof units[0]);
    CHECK(read_item(&code) == 0);
    done = hooked(&code, hook_of(1, "V", true));
    CHECK(code.size < sizeof units / sizeof units[0]);
    CHECK_U64(done.units, 0);
    nsc_dex_code_free(&code);
}

/* Many calls under a list of many handlers take the sum of their time, not the product. */
static void test_calls_hostile(void)
{
    const uint32_t calls = 20000, handlers = 200000;
    struct nsc_dex_hook hook = {.enter = 0xeeee,
                                .exit = 0xffff,
                                .shorty = "V",
                                .is_static = true,
                                .throwable = NSC_DEX_NONE,
                                .call_id = call_id};
    struct nsc_dex_hooked done;
    struct nsc_dex_code code;
    uint16_t *units = calloc(3 * calls + 1, sizeof *units);
    clock_t begun;

    for (uint32_t i = 0; i < calls; i++) {
        units[3 * i] = 0x0071;
        units[3 * i + 1] = 5;
    }
    units[3 * calls] = 0x000e;
    begin(2, 0, 1, units, 3 * calls + 1);
    put_try(0, 3 * calls, 1);
    nsc_buffer_leb(&item, 1);
    /* Signed numbers of three bytes begin like others. */
    nsc_buffer_leb(&item, handlers);
    for (uint32_t i = 0; i < handlers; i++)
        nsc_buffer_bytes(&item, "\x01\x00", 2);
    CHECK(read_item(&code) == 0);
    begun = clock();
    done = hooked(&code, hook);
    CHECK_U64(done.calls, calls);
    CHECK((clock() - begun) / CLOCKS_PER_SEC < 5);
    nsc_dex_code_free(&code);
    free(units);
}

int main(void)
{
    CHECK_STR(nsc_dex_opcode(0x6e)->name, "invoke-virtual");
    CHECK_STR(nsc_dex_opcode(0xff)->name, "const-method-type");
    test_refused();
    test_written();
    test_indices();
    test_large_lists();
    test_simple();
    test_arguments();
    test_many_registers();
    test_flow();
    test_tables();
    test_far();
    test_monitors();
    test_handlers();
    test_calls();
    test_calls_hostile();
    test_long_debug();
    test_smaller();
    nsc_buffer_free(&item);
    return t_done();
}
