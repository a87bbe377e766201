/*
 * method_hook.c - insert the hooks into a method: enter first, exit once at the end. See
 * nsc_dex_code_hook() and method_hook.h.
 *
 * Registers: at its entry a method uses only its arguments, at a return only the returned value, in
 * our handler only the exception. So most methods need no additional registers. Others get some at
 * the top. Their arguments then arrive in higher registers and are moved down to where the code
 * expects them.
 */
#include "android/bytecode/method_hook.h"

/* Returns of the same kind and register share one exit sequence: in place of one of them, or at the
 * end of the code. */
struct tail {
    uint32_t count; /* of returns */
    uint32_t at;    /* the return with the sequence; NSC_DEX_NONE: at the end of the code */
    uint32_t label; /* of the sequence; NSC_DEX_NONE: none yet */
};

#define TAILS (4 * 256) /* return-void, return, return-wide, return-object; register */

static uint32_t tail_of(uint16_t insn)
{
    return ((insn & 0xffu) - NSC_OP_RETURN_VOID) * 256 + (insn >> 8);
}

static uint16_t insn_at(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    return rw->code->insns[rw->plan.scan.at[i]];
}

/* Whether instruction @i is a reachable return, and the method is recorded. */
static bool is_return(const struct nsc_dex_rewrite *rw, uint32_t i)
{
    uint16_t insn = insn_at(rw, i);

    return rw->hook->id != 0 && !nsc_dex_is_payload(insn) &&
           (nsc_dex_opcode(insn)->flags & NSC_DEX_RETURNS) != 0 && rw->held[i] != NSC_DEX_UNREACHED;
}

/* The lowest register that a return does not read. */
static uint32_t free_at_return(uint16_t insn)
{
    uint32_t reg = insn >> 8;

    if ((insn & 0xff) == NSC_OP_RETURN_VOID)
        return 0;
    if ((insn & 0xff) == NSC_OP_RETURN_WIDE && reg <= 1)
        return reg == 0 ? 2 : 0;
    return reg == 0 ? 1 : 0;
}

/* Whether our handler is needed for any instruction. */
static bool needs_handler(struct nsc_dex_rewrite *rw)
{
    for (uint32_t i = 0; i < rw->plan.scan.count && rw->hook->catch_all; i++) {
        uint32_t base = rw->plan.base[i];
        uint16_t insn = insn_at(rw, i);

        if (!nsc_dex_is_payload(insn) && (nsc_dex_opcode(insn)->flags & NSC_DEX_THROWS) != 0 &&
            rw->held[i] == 0 && (base == NSC_DEX_NONE || !rw->catches_all[base]))
            return true;
    }
    return false;
}

/* Number of registers that the method needs for its own hooks. */
static uint32_t needed_registers(struct nsc_dex_rewrite *rw)
{
    uint32_t needed = (uint32_t)rw->code->ins + 1;

    for (uint32_t i = 0; i < rw->plan.scan.count; i++)
        if (is_return(rw, i) && free_at_return(insn_at(rw, i)) + 1 > needed)
            needed = free_at_return(insn_at(rw, i)) + 1;
    return needed < 2 && needs_handler(rw) ? 2 : needed;
}

/* Whether the shorty's parameters match the code item's number of argument words. */
static bool shorty_fits(const struct nsc_dex_rewrite *rw)
{
    const char *shorty = rw->hook->shorty;
    uint64_t words = !rw->hook->is_static;

    if (shorty == NULL || shorty[0] == '\0')
        return false;
    for (const char *p = shorty + 1; *p != '\0'; p++)
        words += *p == 'J' || *p == 'D' ? 2 : 1;
    return words == rw->code->ins;
}

static void put_move(struct nsc_dex_rewrite *rw, uint8_t opcode, uint32_t to, uint32_t from)
{
    uint16_t insn[3];
    uint32_t units;

    if (from <= 15) {
        insn[0] = (uint16_t)(opcode | to << 8 | from << 12);
        units = 1;
    } else if (to <= 255) {
        insn[0] = (uint16_t)((opcode + 1u) | to << 8);
        insn[1] = (uint16_t)from;
        units = 2;
    } else {
        insn[0] = (uint16_t)(opcode + 2u);
        insn[1] = (uint16_t)to;
        insn[2] = (uint16_t)from;
        units = 3;
    }
    nsc_dex_plan_add(&rw->plan, insn, units, NSC_DEX_NONE, true);
}

/* Move the arguments down, below the added registers. */
static void put_moves(struct nsc_dex_rewrite *rw)
{
    uint32_t to = (uint32_t)rw->code->registers - rw->code->ins;

    if (rw->grow == 0)
        return;
    if (!rw->hook->is_static) {
        put_move(rw, NSC_OP_MOVE_OBJECT, to, to + rw->grow);
        to++;
    }
    for (const char *p = rw->hook->shorty + 1; *p != '\0'; p++) {
        bool wide = *p == 'J' || *p == 'D';
        uint8_t opcode = wide ? NSC_OP_MOVE_WIDE : *p == 'L' ? NSC_OP_MOVE_OBJECT : NSC_OP_MOVE;

        put_move(rw, opcode, to, to + rw->grow);
        to += wide ? 2 : 1;
    }
}

/* Cover of the next instruction after @i that may throw. *from caches the search position. */
static uint32_t next_cover(struct nsc_dex_rewrite *rw, uint32_t i, uint32_t *from)
{
    bool neutral = true;
    uint32_t cover = NSC_DEX_NONE;

    if (*from <= i)
        *from = i + 1;
    for (; *from < rw->plan.scan.count; ++*from) {
        cover = nsc_dex_handlers_cover(rw, *from, &neutral);
        if (!neutral)
            return cover;
    }
    return NSC_DEX_NONE;
}

/* Choose for each kind of return the one that gets the exit sequence in its place. Not one whose
 * exit would split a try: that costs more than a goto. */
static void choose_tails(struct nsc_dex_rewrite *rw, struct tail *tails)
{
    uint32_t before = NSC_DEX_NONE, from = 0;

    for (uint32_t i = 0; i < TAILS; i++)
        tails[i] = (struct tail){.at = NSC_DEX_NONE, .label = NSC_DEX_NONE};
    for (uint32_t i = 0; i < rw->plan.scan.count; i++) {
        struct tail *tail;

        if (is_return(rw, i)) {
            tail = &tails[tail_of(insn_at(rw, i))];
            tail->count++;
            if (before == NSC_DEX_NONE || before != next_cover(rw, i, &from))
                tail->at = i;
        } else {
            bool neutral;
            uint32_t cover = nsc_dex_handlers_cover(rw, i, &neutral);

            before = neutral ? before : cover;
        }
    }
}

static void put_tail(struct nsc_dex_rewrite *rw, uint16_t insn)
{
    nsc_dex_put_event(&rw->plan, rw->hook->exit, rw->hook->id, free_at_return(insn), NSC_DEX_NONE);
    nsc_dex_plan_add(&rw->plan, &insn, 1, NSC_DEX_NONE, false);
}

static void put_return(struct nsc_dex_rewrite *rw, uint32_t i, struct tail *tail)
{
    if (tail->label == NSC_DEX_NONE)
        tail->label = nsc_dex_plan_label(&rw->plan);
    if (tail->at != i) {
        nsc_dex_plan_jump(&rw->plan, tail->label, rw->plan.base[i], true);
        return;
    }
    nsc_dex_plan_mark(&rw->plan, tail->label);
    put_tail(rw, insn_at(rw, i));
}

/* Emit the method's instructions and the hooks between them. */
static void put_body(struct nsc_dex_rewrite *rw, struct tail *tails)
{
    struct nsc_dex_plan *plan = &rw->plan;

    for (uint32_t i = 0; i < plan->scan.count && !plan->failed; i++) {
        uint32_t id = nsc_dex_calls_id(rw, i), cover;
        bool neutral;

        nsc_dex_plan_mark(plan, i);
        rw->done->held +=
            rw->hook->id != 0 && rw->hook->catch_all && nsc_dex_handlers_escapes(rw, i);
        if (nsc_dex_plan_is_padding(plan, i, rw->held[i] != NSC_DEX_UNREACHED))
            continue;
        if (id != 0) {
            i += nsc_dex_calls_put(rw, i, id) - 1;
        } else if (is_return(rw, i)) {
            put_return(rw, i, &tails[tail_of(insn_at(rw, i))]);
        } else {
            cover = nsc_dex_handlers_cover(rw, i, &neutral);
            nsc_dex_plan_keep(plan, i, cover, neutral);
        }
    }
    for (uint32_t t = 0; t < TAILS && rw->hook->id != 0; t++)
        if (tails[t].count > 0 && tails[t].at == NSC_DEX_NONE) {
            nsc_dex_plan_mark(plan, tails[t].label);
            put_tail(rw, (uint16_t)(NSC_OP_RETURN_VOID + t / 256 + (t % 256) * 256));
        }
}

static int put_all(struct nsc_dex_rewrite *rw)
{
    struct tail *tails = malloc(TAILS * sizeof *tails);

    if (tails == NULL)
        return -ENOMEM;
    choose_tails(rw, tails);
    if (rw->hook->id != 0)
        nsc_dex_put_event(&rw->plan, rw->hook->enter, rw->hook->id, 0, NSC_DEX_NONE);
    put_moves(rw);
    put_body(rw, tails);
    nsc_dex_calls_end(rw);
    nsc_dex_handlers_end(rw);
    free(tails);
    return nsc_dex_plan_finish(&rw->plan, rw->code);
}

/* Analyze the code and check that it can be hooked. Returns 0, -ENOMEM or a refusal. */
static int prepare(struct nsc_dex_rewrite *rw)
{
    uint32_t needed;
    bool falls;
    int error = nsc_dex_monitors(&rw->plan, &rw->held, &falls);

    if (error != 0)
        return error;
    if (falls)
        return NSC_DEX_REFUSED_FALLS;
    error = nsc_dex_handlers_begin(rw);
    if (error == 0)
        error = nsc_dex_calls_begin(rw, &rw->grow);
    if (error != 0)
        return error;
    needed = rw->hook->id == 0 ? 0 : needed_registers(rw);
    if (needed > rw->code->registers + rw->grow)
        rw->grow = needed - rw->code->registers;
    if (rw->grow > 0 && !shorty_fits(rw))
        return NSC_DEX_REFUSED_SHORTY;
    if (rw->code->registers + rw->grow > UINT16_MAX)
        return NSC_DEX_REFUSED_REGISTERS;
    return 0;
}

/* Returns 0, -ENOMEM or a refusal. */
static int rewrite(struct nsc_dex_rewrite *rw)
{
    int error = nsc_dex_plan_begin(&rw->plan, rw->code);

    if (error == 0)
        error = prepare(rw);
    if (error == 0 && (rw->hook->id != 0 || rw->timed > 0))
        error = put_all(rw);
    if (error == 0 && (rw->hook->id != 0 || rw->timed > 0)) {
        rw->code->registers = (uint16_t)(rw->code->registers + rw->grow);
        rw->code->outs = rw->code->outs == 0 ? 1 : rw->code->outs;
    }
    free(rw->held);
    free(rw->live);
    free(rw->with_ours);
    free(rw->catches_all);
    free(rw->sites);
    nsc_dex_plan_free(&rw->plan);
    return error;
}

/* The static method that calls of @method are redirected to; NSC_DEX_NONE: none. */
static uint32_t reroute_of(const struct nsc_dex_hook *hook, uint32_t method)
{
    for (uint32_t i = 0; i < hook->reroute_count; i++)
        if (hook->reroutes[i].from == method)
            return hook->reroutes[i].to;
    return NSC_DEX_NONE;
}

static uint32_t reroute(struct nsc_dex_code *code, const struct nsc_dex_hook *hook)
{
    uint32_t done = 0, units;

    for (uint32_t unit = 0; unit < code->size && hook->reroute_count > 0; unit += units) {
        uint16_t *insn = code->insns + unit;
        uint8_t opcode = (uint8_t)insn[0];
        uint32_t to;

        units = nsc_dex_insn_units(insn, code->size - unit);
        if (units == 0)
            break;
        if (nsc_dex_is_payload(insn[0]) ||
            (opcode != NSC_OP_INVOKE_VIRTUAL && opcode != NSC_OP_INVOKE_VIRTUAL_RANGE))
            continue;
        to = reroute_of(hook, insn[1]);
        if (to == NSC_DEX_NONE)
            continue;
        insn[0] = (uint16_t)(insn[0] + NSC_OP_INVOKE_STATIC - NSC_OP_INVOKE_VIRTUAL);
        insn[1] = (uint16_t)to;
        done++;
    }
    return done;
}

int nsc_dex_code_hook(struct nsc_dex_code *code, const struct nsc_dex_hook *hook,
                      struct nsc_dex_hooked *done)
{
    struct nsc_dex_hooked made = {0};
    struct nsc_dex_rewrite rw = {.code = code, .hook = hook, .done = &made};
    uint32_t size = code->size, tries = code->try_count;
    int error = hook->id != 0 || hook->call_id != NULL ? rewrite(&rw) : 0;

    if (error < 0)
        return error;
    if (error > 0) {
        *done = (struct nsc_dex_hooked){.refused = (enum nsc_dex_refusal)error};
        return 0;
    }
    made.rerouted = reroute(code, hook);
    made.registers = rw.grow;
    made.units = code->size > size ? code->size - size : 0;
    made.tries = code->try_count > tries ? code->try_count - tries : 0;
    *done = made;
    return 0;
}
