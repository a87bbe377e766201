/*
 * call_site_hook.c - record calls at the call site: enter, the call and its move-result, exit. An
 * exception handler around the call calls exit before the method's handlers see the exception. See
 * method_hook.h.
 *
 * The registers used here are dead: not read by the call, after it, or in its handlers.
 */
#include "android/bytecode/method_hook.h"
#include "util/array.h"

static const uint16_t *insn_at(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    return rw->code->insns + rw->plan.scan.at[i];
}

/* Number of instructions of a call: 2 if a move-result follows, else 1. */
static uint32_t call_length(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    if (i + 1 >= rw->plan.scan.count || nsc_dex_is_payload(insn_at(rw, i + 1)[0]))
        return 1;
    return (nsc_dex_opcode(insn_at(rw, i + 1)[0])->flags & NSC_DEX_RESULT) != 0 ? 2 : 1;
}

/* The id to record the call at @i with; 0: do not record it. */
static uint32_t wanted_id(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    const uint16_t *insn = insn_at(rw, i);
    const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);

    if (rw->hook->call_id == NULL || nsc_dex_is_payload(insn[0]) ||
        (op->flags & NSC_DEX_INVOKES) == 0 || op->index != NSC_DEX_METHOD ||
        rw->held[i] == NSC_DEX_UNREACHED)
        return 0;
    return rw->hook->call_id(rw->hook->context, (uint8_t)insn[0], insn[1]);
}

/* Find free registers around the call at @i: [0] for the id, [1] for the exception. */
static bool find_registers(const struct nsc_dex_rewrite *rw, uint32_t i, uint32_t *regs)
{
    const uint16_t *insn = insn_at(rw, i);
    uint8_t format = nsc_dex_opcode(insn[0])->format;
    uint32_t length = call_length(rw, i), found = 0;
    uint32_t needed = rw->hook->catch_all ? 2 : 1;
    uint32_t known = rw->code->registers, all = known + rw->grow;
    struct nsc_dex_live taken = {0}, handlers;

    if (rw->live == NULL)
        memset(&taken, 0xff, sizeof taken);
    else
        taken = nsc_dex_live_behind(&rw->plan, rw->live, i + length - 1);
    if (rw->live != NULL) { /* after the call itself: includes its handlers */
        handlers = nsc_dex_live_behind(&rw->plan, rw->live, i);
        for (uint32_t k = 0; k < NSC_DEX_LIVE_REGISTERS / 64; k++)
            taken.bits[k] |= handlers.bits[k];
    }
    for (uint32_t n = nsc_dex_insn_args(insn, format), k = 0; k < n; k++) {
        uint32_t reg = nsc_dex_insn_arg(insn, format, k);

        if (reg < NSC_DEX_LIVE_REGISTERS)
            taken.bits[reg / 64] |= (uint64_t)1 << (reg % 64);
    }
    for (uint32_t r = 0; r < all && r < NSC_DEX_LIVE_REGISTERS && found < needed; r++)
        if (r >= known || !nsc_dex_live_has(&taken, r))
            regs[found++] = r;
    if (needed == 1)
        regs[1] = 0;
    return found == needed;
}

/* Whether the result of the call at @i overwrites a register that a covering handler reads. The
 * verifier then rejects an exit call after it that is covered by that handler. */
static bool result_hides(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    uint32_t base = rw->plan.base[i];
    struct nsc_dex_live caught;
    uint16_t result;

    if (call_length(rw, i) == 1 || base == NSC_DEX_NONE)
        return false;
    if (rw->live == NULL)
        return true;
    result = insn_at(rw, i + 1)[0];
    caught = nsc_dex_live_caught(&rw->plan, rw->live, base);
    return nsc_dex_live_has(&caught, result >> 8) ||
           ((nsc_dex_opcode(result)->flags & NSC_DEX_WIDE_A) != 0 &&
            nsc_dex_live_has(&caught, (result >> 8) + 1u));
}

int nsc_dex_calls_begin(struct nsc_dex_rewrite *rw, uint32_t *grow)
{
    uint32_t regs[2], needed = rw->hook->catch_all ? 2 : 1;
    int error = 0;

    for (uint32_t i = 0; i < rw->plan.scan.count; i++)
        rw->timed += wanted_id(rw, i) != 0;
    if (rw->timed == 0)
        return 0;
    error = nsc_dex_live(&rw->plan, &rw->live);
    for (uint32_t i = 0; i < rw->plan.scan.count && error == 0 && *grow < needed; i++)
        if (wanted_id(rw, i) != 0 && !find_registers(rw, i, regs) &&
            rw->code->registers + needed <= NSC_DEX_LIVE_REGISTERS)
            *grow = needed;
    return error;
}

uint32_t nsc_dex_calls_id(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    uint32_t id = rw->timed == 0 ? 0 : wanted_id(rw, i), regs[2];

    if (id == 0)
        return 0;
    /* With a monitor held, our calls must be covered by the method's handlers. */
    if (!find_registers(rw, i, regs) || (rw->held[i] != 0 && result_hides(rw, i))) {
        rw->done->calls_left++;
        return 0;
    }
    rw->done->calls++;
    return id;
}

/* The handler list for a recorded call. Consecutive calls with the same id, cover and registers
 * share one handler. */
static uint32_t site_list(struct nsc_dex_rewrite *rw, uint32_t id, uint32_t cover,
                          const uint32_t *regs)
{
    struct nsc_dex_site *last = rw->site_count == 0 ? NULL : &rw->sites[rw->site_count - 1], *more;

    if (last != NULL && last->id == id && last->cover == cover && last->number == regs[0] &&
        last->exception == regs[1])
        return last->list;
    more = nsc_array_grow(rw->sites, &rw->site_room, rw->site_count, sizeof *more);
    if (more == NULL) {
        rw->plan.failed = true;
        return cover;
    }
    rw->sites = more;
    more += rw->site_count++;
    *more = (struct nsc_dex_site){.id = id,
                                  .cover = cover,
                                  .label = nsc_dex_plan_label(&rw->plan),
                                  .number = (uint8_t)regs[0],
                                  .exception = (uint8_t)regs[1]};
    more->list = nsc_dex_plan_list(&rw->plan, NSC_DEX_NONE, more->label);
    return more->list;
}

uint32_t nsc_dex_calls_put(struct nsc_dex_rewrite *rw, uint32_t i, uint32_t id)
{
    uint32_t length = call_length(rw, i), regs[2] = {0}, cover;
    bool neutral;

    find_registers(rw, i, regs);
    cover = nsc_dex_handlers_cover(rw, i, &neutral);
    nsc_dex_put_event(&rw->plan, rw->hook->enter, id, regs[0], cover);
    nsc_dex_plan_keep(&rw->plan, i, rw->hook->catch_all ? site_list(rw, id, cover, regs) : cover,
                      false);
    if (length == 2) {
        nsc_dex_plan_mark(&rw->plan, i + 1);
        nsc_dex_plan_keep(&rw->plan, i + 1, rw->plan.base[i + 1], true);
    }
    nsc_dex_put_event(&rw->plan, rw->hook->exit, id, regs[0],
                      result_hides(rw, i) ? NSC_DEX_NONE : cover);
    return length;
}

void nsc_dex_calls_end(struct nsc_dex_rewrite *rw)
{
    for (uint32_t i = 0; i < rw->site_count; i++) {
        struct nsc_dex_site site = rw->sites[i];

        nsc_dex_plan_mark(&rw->plan, site.label);
        nsc_dex_put_rethrow(rw, site.id, site.number, site.exception, site.cover);
    }
}
