/*
 * liveness.c - live register analysis. See flow.h.
 */
#include "android/bytecode/flow.h"

/* Limit of sweeps over the code before giving up: nested loops of real code need a few. */
#define SWEEPS_MAX 48

static void set(struct nsc_dex_live *live, uint32_t reg, bool wide, bool on)
{
    for (uint32_t r = reg; r <= reg + wide; r++) {
        uint64_t bit = (uint64_t)1 << (r % 64);

        if (r >= NSC_DEX_LIVE_REGISTERS)
            return;
        if (on)
            live->bits[r / 64] |= bit;
        else
            live->bits[r / 64] &= ~bit;
    }
}

static void join(struct nsc_dex_live *to, const struct nsc_dex_live *from)
{
    for (uint32_t i = 0; i < NSC_DEX_LIVE_REGISTERS / 64; i++)
        to->bits[i] |= from->bits[i];
}

struct joining {
    const struct nsc_dex_live *live;
    struct nsc_dex_live all;
};

static void visit(void *context, uint32_t next)
{
    struct joining *j = context;

    join(&j->all, &j->live[next]);
}

static struct nsc_dex_live *of_lists(const struct nsc_dex_plan *plan, struct nsc_dex_live *live)
{
    return live + plan->scan.count;
}

struct nsc_dex_live nsc_dex_live_caught(const struct nsc_dex_plan *plan,
                                        const struct nsc_dex_live *live, uint32_t list)
{
    struct nsc_dex_live none = {0};

    return list == NSC_DEX_NONE ? none : live[plan->scan.count + list];
}

struct nsc_dex_live nsc_dex_live_behind(const struct nsc_dex_plan *plan,
                                        const struct nsc_dex_live *live, uint32_t i)
{
    struct joining j = {.live = live, .all = nsc_dex_live_caught(plan, live, plan->base[i])};

    nsc_dex_successors(plan, i, visit, &j);
    return j.all;
}

/* Remove the registers that @insn writes, then add those that it reads. */
static void transfer(const uint16_t *insn, struct nsc_dex_live *live)
{
    const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);
    uint32_t a = nsc_dex_insn_a(insn, op->format);

    if ((op->flags & NSC_DEX_WRITES_A) != 0)
        set(live, a, (op->flags & NSC_DEX_WIDE_A) != 0, false);
    if ((op->flags & NSC_DEX_READS_A) != 0)
        set(live, a, (op->flags & NSC_DEX_WIDE_A) != 0, true);
    if ((op->flags & NSC_DEX_READS_B) != 0)
        set(live, nsc_dex_insn_b(insn, op->format), (op->flags & NSC_DEX_WIDE_B) != 0, true);
    if ((op->flags & NSC_DEX_READS_C) != 0)
        set(live, nsc_dex_insn_c(insn), (op->flags & NSC_DEX_WIDE_C) != 0, true);
    if (nsc_dex_has_args(op->format))
        for (uint32_t n = nsc_dex_insn_args(insn, op->format), k = 0; k < n; k++)
            set(live, nsc_dex_insn_arg(insn, op->format, k), false, true);
}

/* One backward sweep. The live registers of the handler lists are those of the previous sweep.
 * Returns whether anything changed. */
static bool sweep(const struct nsc_dex_plan *plan, struct nsc_dex_live *live)
{
    bool changed = false;

    for (uint32_t i = plan->scan.count; i-- > 0;) {
        const uint16_t *insn = plan->code->insns + plan->scan.at[i];
        struct joining j = {.live = live};

        if (nsc_dex_is_payload(insn[0]))
            continue;
        nsc_dex_successors(plan, i, visit, &j);
        transfer(insn, &j.all);
        if ((nsc_dex_opcode(insn[0])->flags & NSC_DEX_THROWS) != 0 && plan->base[i] != NSC_DEX_NONE)
            join(&j.all, &of_lists(plan, live)[plan->base[i]]);
        changed |= memcmp(&j.all, &live[i], sizeof j.all) != 0;
        live[i] = j.all;
    }
    return changed;
}

static void join_handlers(const struct nsc_dex_plan *plan, struct nsc_dex_live *live)
{
    const struct nsc_dex_code *code = plan->code;

    for (uint32_t l = 0; l < code->list_count; l++)
        for (uint32_t c = 0; c < code->lists[l].count; c++)
            join(&of_lists(plan, live)[l],
                 &live[plan->scan.index[code->catches[code->lists[l].first + c].addr]]);
}

int nsc_dex_live(const struct nsc_dex_plan *plan, struct nsc_dex_live **out)
{
    struct nsc_dex_live *live =
        calloc((size_t)plan->scan.count + plan->code->list_count, sizeof *live);
    unsigned sweeps = 0;

    if (live == NULL)
        return -ENOMEM;
    for (bool changed = true; changed && sweeps < SWEEPS_MAX; sweeps++) {
        changed = sweep(plan, live);
        join_handlers(plan, live);
    }
    if (sweeps == SWEEPS_MAX) {
        free(live);
        live = NULL;
    }
    *out = live;
    return 0;
}
