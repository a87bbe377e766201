/*
 * monitors.c - reachability and the number of monitors held at each instruction. See flow.h.
 */
#include "android/bytecode/flow.h"

struct walk {
    const struct nsc_dex_plan *plan;
    uint16_t *held;
    uint16_t *lists; /* the same at the handlers of each list */
    uint32_t *stack; /* instructions to visit; each at most twice */
    uint32_t depth;
    uint16_t now; /* monitors held after the current instruction */
};

bool nsc_dex_successors(const struct nsc_dex_plan *plan, uint32_t i,
                        void (*visit)(void *context, uint32_t next), void *context)
{
    uint32_t unit = plan->scan.at[i], first, count;
    const uint16_t *insns = plan->code->insns, *insn = insns + unit, *table;
    const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);

    if (nsc_dex_is_payload(insn[0]))
        return false;
    if ((op->flags & NSC_DEX_BRANCHES) != 0)
        visit(context, plan->scan.index[(int64_t)unit + nsc_dex_insn_offset(insn, op->format)]);
    if ((op->flags & NSC_DEX_SWITCHES) != 0) {
        table = insn + nsc_dex_insn_offset(insn, op->format);
        count = nsc_dex_switch_targets(table, &first);
        for (uint32_t t = 0; t < count; t++)
            visit(context, plan->scan.index[unit + nsc_dex_units32(table + first + 2 * t)]);
    }
    if ((op->flags & NSC_DEX_ENDS) != 0)
        return true;
    if (i + 1 >= plan->scan.count || nsc_dex_is_payload(insns[plan->scan.at[i + 1]]))
        return false;
    visit(context, i + 1);
    return true;
}

/* Merge the values of two paths. */
static uint16_t merge(uint16_t a, uint16_t b)
{
    if (a == NSC_DEX_UNREACHED || a == b)
        return b;
    return b == NSC_DEX_UNREACHED ? a : NSC_DEX_MIXED;
}

static void reach(struct walk *w, uint32_t i, uint16_t held)
{
    uint16_t merged = merge(w->held[i], held);

    if (merged == w->held[i])
        return;
    w->held[i] = merged;
    w->stack[w->depth++] = i;
}

static void visit(void *context, uint32_t next)
{
    struct walk *w = context;

    reach(w, next, w->now);
}

/* Propagate to the handlers: an exception leaves the monitors as before the instruction. */
static void throws(struct walk *w, uint32_t list, uint16_t held)
{
    const struct nsc_dex_code *code = w->plan->code;
    const struct nsc_dex_catches *l;
    uint16_t merged;

    if (list == NSC_DEX_NONE)
        return;
    merged = merge(w->lists[list], held);
    if (merged == w->lists[list])
        return;
    w->lists[list] = merged;
    l = &code->lists[list];
    for (uint32_t c = l->first; c < l->first + l->count; c++)
        reach(w, w->plan->scan.index[code->catches[c].addr], merged);
}

static uint16_t behind(uint16_t held, uint8_t opcode)
{
    if (held == NSC_DEX_MIXED)
        return held;
    if (opcode == NSC_OP_MONITOR_ENTER)
        return held + 1u < NSC_DEX_MIXED ? (uint16_t)(held + 1) : NSC_DEX_MIXED;
    if (opcode == NSC_OP_MONITOR_EXIT && held > 0)
        return (uint16_t)(held - 1);
    return held;
}

/* Whether an instruction may throw according to ART's verifier. monitor-exit of a held monitor does
 * not, so the monitor is not propagated to its handlers. Compilers leave it covered by any
 * handlers.
 */
static bool may_throw(uint16_t insn, uint16_t held)
{
    bool releases = (insn & 0xff) == NSC_OP_MONITOR_EXIT && held != 0 && held != NSC_DEX_MIXED;

    return (nsc_dex_opcode(insn)->flags & NSC_DEX_THROWS) != 0 && !releases;
}

static void step(struct walk *w, uint32_t i, bool *falls)
{
    uint16_t insn = w->plan->code->insns[w->plan->scan.at[i]];

    if (nsc_dex_is_payload(insn)) {
        *falls = true;
        return;
    }
    if (may_throw(insn, w->held[i]))
        throws(w, w->plan->base[i], w->held[i]);
    w->now = behind(w->held[i], (uint8_t)insn);
    if (!nsc_dex_successors(w->plan, i, visit, w))
        *falls = true;
}

int nsc_dex_monitors(const struct nsc_dex_plan *plan, uint16_t **held, bool *falls)
{
    uint32_t count = plan->scan.count;
    struct walk w = {.plan = plan};

    w.held = malloc((size_t)count * sizeof *w.held);
    w.lists = malloc(((size_t)plan->code->list_count + 1) * sizeof *w.lists);
    /* A value changes at most twice, so an instruction is pushed at most twice. */
    w.stack = malloc(((size_t)count * 2 + 1) * sizeof *w.stack);
    if (w.held == NULL || w.lists == NULL || w.stack == NULL) {
        free(w.held);
        free(w.lists);
        free(w.stack);
        return -ENOMEM;
    }
    memset(w.held, 0xff, (size_t)count * sizeof *w.held);
    memset(w.lists, 0xff, ((size_t)plan->code->list_count + 1) * sizeof *w.lists);
    *falls = false;
    reach(&w, 0, 0);
    while (w.depth > 0)
        step(&w, w.stack[--w.depth], falls);
    free(w.lists);
    free(w.stack);
    *held = w.held;
    return 0;
}
