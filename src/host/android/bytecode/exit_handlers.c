/*
 * exit_handlers.c - choose the handlers that cover each instruction, so that an exception that
 * leaves the method calls exit exactly once. See method_hook.h.
 *
 * Our catch-all covers each instruction that may throw, unless one of the code's own handlers
 * catches everything: then it covers that handler's code. It never covers instructions with a
 * monitor held: ART cannot verify structured locking if a handler is reached with and without a
 * lock. Our own calls at entry and return are not covered.
 */
#include "android/bytecode/method_hook.h"

int nsc_dex_handlers_begin(struct nsc_dex_rewrite *rw)
{
    const struct nsc_dex_code *code = rw->code;
    size_t count = (size_t)code->list_count + 1;

    rw->with_ours = malloc(count * sizeof *rw->with_ours);
    rw->catches_all = calloc(count, sizeof *rw->catches_all);
    if (rw->with_ours == NULL || rw->catches_all == NULL)
        return -ENOMEM;
    memset(rw->with_ours, 0xff, count * sizeof *rw->with_ours);
    for (uint32_t l = 0; l < code->list_count; l++)
        for (uint32_t c = 0; c < code->lists[l].count; c++) {
            uint32_t type = code->catches[code->lists[l].first + c].type;

            rw->catches_all[l] |= type == NSC_DEX_NONE || type == rw->hook->throwable;
        }
    rw->handler = nsc_dex_plan_label(&rw->plan);
    rw->ours = NSC_DEX_NONE;
    return 0;
}

static bool may_throw(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    uint16_t insn = rw->code->insns[rw->plan.scan.at[i]];

    return !nsc_dex_is_payload(insn) && (nsc_dex_opcode(insn)->flags & NSC_DEX_THROWS) != 0 &&
           rw->held[i] != NSC_DEX_UNREACHED;
}

uint32_t nsc_dex_handlers_cover(struct nsc_dex_rewrite *rw, uint32_t i, bool *neutral)
{
    uint32_t base = rw->plan.base[i], *list;

    *neutral = !may_throw(rw, i);
    if (*neutral || rw->held[i] != 0 || rw->hook->id == 0 || !rw->hook->catch_all ||
        (base != NSC_DEX_NONE && rw->catches_all[base]))
        return base;
    list = base == NSC_DEX_NONE ? &rw->ours : &rw->with_ours[base];
    if (*list == NSC_DEX_NONE)
        *list = nsc_dex_plan_list(&rw->plan, base, rw->handler);
    rw->handler_used = true;
    return *list;
}

bool nsc_dex_handlers_escapes(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    uint32_t base = rw->plan.base[i];

    /* With balanced monitors, monitor-exit does not throw. */
    return may_throw(rw, i) && rw->held[i] != 0 &&
           (base == NSC_DEX_NONE || !rw->catches_all[base]) &&
           (rw->code->insns[rw->plan.scan.at[i]] & 0xff) != NSC_OP_MONITOR_EXIT;
}

void nsc_dex_handlers_end(struct nsc_dex_rewrite *rw)
{
    if (!rw->handler_used)
        return;
    nsc_dex_plan_mark(&rw->plan, rw->handler);
    nsc_dex_put_rethrow(rw, rw->hook->id, 1, 0, NSC_DEX_NONE);
}

/* Encode the shortest instruction that loads @value into @reg (at most 255). Returns its units. */
static uint32_t make_const(uint16_t *insn, uint32_t reg, uint32_t value)
{
    int32_t v = (int32_t)value;

    if (reg <= 15 && v >= -8 && v <= 7) {
        insn[0] = (uint16_t)(NSC_OP_CONST_4 | reg << 8 | (value & 15) << 12);
        return 1;
    }
    if (v >= INT16_MIN && v <= INT16_MAX) {
        insn[0] = (uint16_t)(NSC_OP_CONST_16 | reg << 8);
        insn[1] = (uint16_t)value;
        return 2;
    }
    if ((value & 0xffff) == 0) {
        insn[0] = (uint16_t)(NSC_OP_CONST_HIGH16 | reg << 8);
        insn[1] = (uint16_t)(value >> 16);
        return 2;
    }
    insn[0] = (uint16_t)(NSC_OP_CONST | reg << 8);
    nsc_dex_set_units32(insn + 1, value);
    return 3;
}

void nsc_dex_put_event(struct nsc_dex_plan *plan, uint32_t method, uint32_t id, uint32_t reg,
                       uint32_t cover)
{
    uint16_t load[3], call[3] = {NSC_OP_INVOKE_STATIC | 1 << 12, (uint16_t)method, (uint16_t)reg};

    if (reg > 15)
        call[0] = NSC_OP_INVOKE_STATIC_RANGE | 1 << 8;
    nsc_dex_plan_add(plan, load, make_const(load, reg, id), cover, false);
    nsc_dex_plan_add(plan, call, 3, cover, false);
}

void nsc_dex_put_rethrow(struct nsc_dex_rewrite *rw, uint32_t id, uint32_t number,
                         uint32_t exception, uint32_t cover)
{
    uint16_t insn = (uint16_t)(NSC_OP_MOVE_EXCEPTION | exception << 8);

    nsc_dex_plan_add(&rw->plan, &insn, 1, cover, false);
    nsc_dex_put_event(&rw->plan, rw->hook->exit, id, number, cover);
    insn = (uint16_t)(NSC_OP_THROW | exception << 8);
    nsc_dex_plan_add(&rw->plan, &insn, 1, cover, false);
}
