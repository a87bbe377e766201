/*
 * test_code_random.c - random methods, hooked, do what they did: the same calls with the same
 * arguments from the same lines, the same locks, the same end; and enter once, first, exit once,
 * last.
 */
#include "unit/rigs/dex_random.h"

static void debug_of(struct nsc_buffer *out, const struct nsc_dex_code *code)
{
    uint32_t unit = 0, from = 0, units, line = 1;

    nsc_buffer_leb(out, 1);
    nsc_buffer_leb(out, 0);
    for (; unit < code->size; unit += units) {
        uint8_t bytes[3] = {2, 0, 0}, op;

        units = nsc_dex_insn_units(code->insns + unit, code->size - unit);
        if (code->insns[unit] == NSC_OP_NOP || nsc_dex_is_payload(code->insns[unit]))
            continue;
        bytes[1] = (uint8_t)(line++ % 40);
        nsc_buffer_bytes(out, bytes, 2);
        nsc_buffer_bytes(out, "\x01", 1);
        nsc_buffer_leb(out, unit - from);
        from = unit;
        op = (uint8_t)(10 + line % 15);
        nsc_buffer_bytes(out, &op, 1);
    }
    nsc_buffer_bytes(out, "", 1);
}

/* The generator's method as a code item, with tries. */
static void item_of(struct gen *g, struct nsc_buffer *out, struct nsc_buffer *debug)
{
    static struct nsc_dex_try tries[GEN_UNITS / 4];
    static struct nsc_dex_catches lists[GEN_LISTS];
    static struct nsc_dex_catch catches[GEN_LISTS * 8];
    struct nsc_dex_code code = {.registers = (uint16_t)g->registers,
                                .ins = (uint16_t)g->ins,
                                .outs = 3,
                                .size = g->used,
                                .insns = g->units,
                                .tries = tries,
                                .lists = lists,
                                .catches = catches,
                                .list_count = g->list_count};

    for (uint32_t l = 0; l < g->list_count; l++) {
        lists[l] = (struct nsc_dex_catches){code.catch_count, g->lists[l].count};
        for (uint32_t c = 0; c < g->lists[l].count; c++) {
            catches[code.catch_count] = g->lists[l].catches[c];
            catches[code.catch_count++].addr = g->labels[g->lists[l].catches[c].addr];
        }
    }
    for (uint32_t i = 0; i < g->used;) {
        uint32_t end = i + 1;

        while (end < g->used && g->cover[end] == g->cover[i] && end - i < 65535 - 5)
            end++;
        while (end < g->used && end - i >= 65535 - 5 && g->units[end] != NSC_OP_NOP)
            end--;
        if (g->cover[i] != 0)
            tries[code.try_count++] = (struct nsc_dex_try){i, end - i, g->cover[i] - 1u};
        i = end;
    }
    debug_of(debug, &code);
    nsc_dex_code_write(&code, out);
}

static uint32_t call_id(void *context, uint8_t opcode, uint32_t method)
{
    (void)context;
    (void)opcode;
    return method >= RIG_SITE && method < RIG_SITES ? method : 0;
}

/* Registers in range; results beside their calls; handlers begin with what they may begin with. */
static const char *structure(const struct nsc_dex_code *code)
{
    uint16_t before = 0;
    uint32_t units;

    for (uint32_t unit = 0; unit < code->size; unit += units) {
        const uint16_t *insn = code->insns + unit;
        const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);
        uint32_t wide_a = (op->flags & NSC_DEX_WIDE_A) != 0;

        units = nsc_dex_insn_units(insn, code->size - unit);
        if (nsc_dex_is_payload(insn[0])) {
            before = 0;
            continue;
        }
        if ((op->flags & NSC_DEX_RESULT) != 0 &&
            (nsc_dex_opcode(before)->flags & NSC_DEX_INVOKES) == 0)
            return "a result without its call";
        if ((op->flags & (NSC_DEX_WRITES_A | NSC_DEX_READS_A)) != 0 &&
            nsc_dex_insn_a(insn, op->format) + wide_a >= code->registers)
            return "a register out of range";
        if ((op->flags & NSC_DEX_READS_B) != 0 &&
            nsc_dex_insn_b(insn, op->format) >= code->registers)
            return "a register out of range";
        for (uint32_t n = nsc_dex_has_args(op->format) ? nsc_dex_insn_args(insn, op->format) : 0;
             n > 0; n--)
            if (nsc_dex_insn_arg(insn, op->format, n - 1) >= code->registers)
                return "an argument out of range";
        before = insn[0];
    }
    for (uint32_t t = 1; t < code->try_count; t++)
        if (code->tries[t - 1].start + code->tries[t - 1].count == code->tries[t].start &&
            code->tries[t - 1].list == code->tries[t].list &&
            code->tries[t - 1].count + code->tries[t].count < 60000)
            return "two tries that could be one";
    return NULL;
}

/* Written and read again. */
static bool again(struct nsc_dex_code *code, const char **wrong)
{
    struct nsc_buffer out = {0};
    struct nsc_dex_code read;
    struct nsc_diag diag = {0};
    bool ok;

    nsc_dex_code_write(code, &out);
    ok = nsc_dex_code_bytes(out.data, out.used) == out.used &&
         nsc_dex_code_read(&read, out.data, out.used, code->debug, code->debug_bytes, &diag) == 0;
    nsc_buffer_free(&out);
    if (!ok) {
        printf("# %s\n", diag.message);
        *wrong = "what is written cannot be read";
        return false;
    }
    nsc_dex_code_free(code);
    *code = read;
    *wrong = structure(code);
    return *wrong == NULL;
}

static const char *compare(const struct nsc_dex_code *was, const struct nsc_dex_code *is,
                           uint64_t seed, bool catch_all, bool calls, const uint32_t *strings)
{
    static struct rig_log one, two;
    struct rig a = {.strings = strings}, b = {.loose = !catch_all};
    uint32_t last;

    one.used = two.used = 0;
    rig_run(&a, was, seed, false, &one);
    rig_run(&b, is, seed, calls, &two);
    if (one.used != two.used || memcmp(one.words, two.words, one.used * sizeof *one.words) != 0)
        return "it does something else";
    if (b.wrong != NULL)
        return b.wrong;
    if (b.enters > 1 || b.exits > b.enters)
        return "not one enter and one exit";
    last = one.used == 0 ? 0 : (uint32_t)one.words[one.used - 1] & 0xf0000000u;
    if (b.enters == 1 && b.ticks <= 60 && b.exits != 1 && (catch_all || last == 0xf0000000u))
        return "no exit";
    if (catch_all && b.ticks <= 60 && b.depth != 0)
        return "something is left open";
    return NULL;
}

static uint32_t refused, grown, timed, left, hooked;

static const char *try_seed(struct gen *g, uint64_t seed)
{
    static const uint32_t sizes[] = {32600, 32700, 32740, 120, 65500, 126};
    uint32_t size = seed % 16 == 5 ? sizes[seed / 16 % 6] : 0;
    struct nsc_buffer item = {0}, debug = {0};
    struct nsc_dex_code was, is;
    struct nsc_dex_hooked done;
    struct nsc_dex_hook hook = {.id = seed % 7 == 3 ? 0 : RIG_ID,
                                .enter = RIG_ENTER,
                                .exit = RIG_EXIT,
                                .catch_all = seed % 5 != 4,
                                .throwable = NSC_DEX_NONE,
                                .call_id = seed % 3 == 1 ? call_id : NULL};
    static uint32_t strings[1000];
    struct nsc_dex_maps maps = {.strings = strings, .string_count = 1000};
    bool remap = seed % 4 == 2, near = size > 10000 && size < 33000;
    const char *wrong = NULL;

    if (!gen_body(g, seed, true, size) && !gen_body(g, seed, false, size) && !near)
        return NULL;
    /* As far as the branch reaches, or just about. */
    if (near && !gen_body(g, seed, false, size + 32760 + (uint32_t)(seed / 96 % 10) - g->far))
        return NULL;
    hook.shorty = g->shorty;
    hook.is_static = g->is_static;
    item_of(g, &item, &debug);
    if (nsc_dex_code_read(&was, item.data, item.used, debug.data, debug.used, NULL) != 0 ||
        nsc_dex_code_read(&is, item.data, item.used, debug.data, debug.used, NULL) != 0)
        return "the generator's code is not read";
    for (uint32_t i = 0; i < 1000; i++)
        strings[i] = i * 131;
    if (remap && nsc_dex_code_remap(&is, &maps, NULL) != 0)
        wrong = "not renumbered";
    if (wrong == NULL && again(&is, &wrong) && nsc_dex_code_hook(&is, &hook, &done) != 0)
        wrong = "not hooked";
    if (wrong == NULL && done.held != 0)
        wrong = "held monitors";
    refused += done.refused != 0;
    grown += done.registers > 0;
    timed += done.calls;
    left += done.calls_left;
    hooked++;
    if (wrong == NULL && done.refused != 0 &&
        (done.refused != NSC_DEX_REFUSED_REGISTERS || g->registers < 65533))
        wrong = nsc_dex_refusal_text(done.refused);
    if (wrong == NULL && done.refused == 0 && done.calls_left == 0 && again(&is, &wrong))
        for (uint32_t k = 0; k < 3 && wrong == NULL; k++)
            wrong = compare(&was, &is, seed + k, hook.catch_all, hook.call_id != NULL,
                            remap ? strings : NULL);
    nsc_dex_code_free(&was);
    nsc_dex_code_free(&is);
    nsc_buffer_free(&item);
    nsc_buffer_free(&debug);
    return wrong;
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : T_SANITIZED ? 1500 : 12000;
    struct gen *g = malloc(sizeof *g);
    uint32_t failed = 0;

    if (g == NULL)
        return 1;
    for (uint64_t seed = first; seed < first + count && failed < 10; seed++) {
        const char *wrong = try_seed(g, seed);

        if (wrong != NULL) {
            printf("# seed %llu: %s (%s, %u registers, %u units)\n", (unsigned long long)seed,
                   wrong, g->shorty, g->registers, g->used);
            failed++;
        }
    }
    printf("# %u hooked, %u refused, %u with more registers, %u calls recorded, %u not\n", hooked,
           refused, grown, timed, left);
    CHECK_U64(failed, 0);
    CHECK(hooked > count / 2);
    CHECK(grown > 0 && timed > 0);
    free(g);
    return t_done();
}
