/*
 * disabled_calls.c - see disabled_calls.h.
 *
 * A call that is open when its function is disabled is usually the innermost one. Then it ends at
 * that time, as a bound: it was open while its exit was enabled. If other calls are open inside it,
 * it is considered over when they are, because its own exit is not recorded. Its position becomes
 * KEY_ORPHAN. So the next event after those leaves the fast path and finds the call dead.
 *
 * A thread may be inside a function's hook when the function is disabled, and store the entry
 * afterwards. Then the entry is the thread's first event after the switch, while the function is
 * disabled. Its exit may not be recorded, so only its start is known. (If the function is enabled
 * again while the hook is still running, the exit is enabled, too.)
 */
#include "record/stack/disabled_calls.h"

#include "record/stack/filter_change.h"
#include "record/stack/open_frames.h"

/* In a deep recursion it is cheaper to look up each function. */
static bool may_be_open(const struct nsc_stack *st, const struct nsc_off *off)
{
    uint32_t i;

    if (!nsc_stack_in_lane(st) || nsc_stack_depth(st) <= off->count)
        return true;
    for (i = 0; i < off->count; i++)
        if (nsc_lane_open_calls(st->lane, off->functions[i]) > 0)
            return true;
    return false;
}

/* End the open calls of disabled functions. @ticks: the last time at which the open calls surely
 * were open. */
static void end_open(struct nsc_stacks *s, struct nsc_stack *st, const struct nsc_off *off,
                     uint64_t ticks)
{
    const struct nsc_lane_frame *top;
    uint32_t i;

    if (!may_be_open(st, off))
        return;
    while ((top = nsc_stack_innermost(st)) != NULL &&
           (top->position == KEY_ORPHAN || nsc_disabled_functions_find(off, top->function) != NULL))
        nsc_stack_unwind(s, st, ticks);
    for (i = nsc_stack_depth(st); i > 1; i--) {
        struct nsc_lane_frame *frame = nsc_stack_frame(st, i - 2);

        if (nsc_disabled_functions_find(off, frame->function) != NULL)
            frame->position = KEY_ORPHAN;
    }
}

/* Apply one disable operation to all stacks. @seen: the thread's events reach it without a gap;
 * else nothing is known since its last event. */
static void pass(struct nsc_stacks *s, const struct nsc_off *off, bool seen)
{
    uint32_t i;

    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];
        uint64_t ticks = st == s->current ? s->last_ticks : st->left_ticks;

        if (nsc_stack_depth(st) > 0)
            end_open(s, st, off, seen && off->from_ticks > ticks ? off->from_ticks : ticks);
    }
}

static const struct nsc_off *next_off(const struct nsc_stacks *s)
{
    const struct nsc_disabled_functions *offs = s->offs;

    if (offs == NULL || s->offs_passed >= offs->first + offs->count)
        return NULL;
    return &offs->list[s->offs_passed > offs->first ? s->offs_passed - offs->first : 0];
}

void nsc_stacks_disabled_next(struct nsc_stacks *s)
{
    const struct nsc_off *off = next_off(s);

    if (s->off_ticks == 0 && s->end_ticks != 0)
        return;
    s->off_ticks = s->offs_met != s->offs_passed ? 1 : off != NULL ? off->until_ticks : UINT64_MAX;
    if (s->end_ticks != 0 && s->end_ticks < s->off_ticks)
        s->off_ticks = s->end_ticks;
}

void nsc_stack_turn_off(struct nsc_stacks *s, uint64_t ticks, bool seen)
{
    const struct nsc_off *off;

    /* Later code may read it: an orphan ends with the last event. */
    s->before_ticks = s->last_ticks;
    while ((off = next_off(s)) != NULL && off->until_ticks <= ticks) {
        if (s->sieve.rules != NULL)
            nsc_stack_turn(s, off->from_ticks);
        pass(s, off, seen);
        s->offs_passed = s->offs->first + (uint64_t)(off - s->offs->list) + 1;
    }
    nsc_stacks_disabled_next(s);
}

/* Return true if the function was disabled at @ticks, the time of the thread's first event after
 * the switch. */
static bool has_just_gone(const struct nsc_stacks *s, uint32_t function, uint64_t ticks)
{
    uint64_t i;

    if (!nsc_disabled_functions_since(s->offs, function, ticks))
        return false;
    for (i = s->offs_passed; i > s->offs_met && i > s->offs->first; i--) {
        const struct nsc_off *off = &s->offs->list[i - 1 - s->offs->first];
        const uint32_t *found = nsc_disabled_functions_find(off, function);

        if (found != NULL)
            return off->on_ticks[found - off->functions] > ticks;
    }
    return s->offs_met < s->offs->first; /* dropped from the list: most likely disabled */
}

void nsc_stack_meet_offs(struct nsc_stacks *s, const struct nsc_stack_event *event,
                         const struct nsc_code *code)
{
    const struct nsc_lane_frame *top = nsc_stack_innermost(s->current);

    if (code != NULL && top != NULL && top->position == (event->key | event->pc16) &&
        has_just_gone(s, code->function, event->ticks))
        nsc_stack_unwind(s, s->current, event->ticks);
    s->offs_met = s->offs_passed;
    nsc_stacks_disabled_next(s);
}

bool nsc_stack_began_while_off(const struct nsc_stacks *s, const struct nsc_code *code)
{
    return s->on_ticks > s->since_ticks &&
           (nsc_stack_depth(s->current) > 0 ||
            (s->offs != NULL &&
             nsc_disabled_functions_since(s->offs, code->function, s->since_ticks)));
}

void nsc_stack_unwind_orphans(struct nsc_stacks *s, struct nsc_stack *st)
{
    uint64_t ticks = st == s->current ? s->last_ticks : st->left_ticks;
    const struct nsc_lane_frame *top;

    while ((top = nsc_stack_innermost(st)) != NULL && top->position == KEY_ORPHAN)
        nsc_stack_unwind(s, st, ticks);
}

void nsc_stacks_disabled_pass(struct nsc_stacks *s)
{
    uint32_t gone = s->offs->count / 2;

    if (gone > 0 && s->offs_passed < s->offs->first + gone)
        nsc_stack_turn_off(s, s->offs->list[gone - 1].until_ticks, false);
}
