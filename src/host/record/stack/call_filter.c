/* call_filter.c - see call_filter.h. */
#include "record/stack/call_filter.h"

static void leave_out(const struct nsc_stack *st, uint32_t reason, uint64_t events)
{
    st->sieve->stats->left_out[reason] += events;
}

static void count_written(const struct nsc_stack *st)
{
    if (st->lane != NULL)
        st->sieve->stats->recorded++;
    else
        st->sieve->stats->dropped++;
}

static void flush_losses(struct nsc_stack *st)
{
    if (st->held_lost != 0 && st->lane != NULL)
        nsc_lane_lost(st->lane, st->held_ticks, st->held_lost);
    st->held_lost = 0;
}

/* Write the entry of the frame at @index, counted from the outermost. */
static void write_entry(struct nsc_stack *st, uint32_t index)
{
    struct nsc_lane_frame *frame = &st->shadow[index + 1];

    if (index >= st->held_depth)
        flush_losses(st);
    if (st->lane != NULL)
        nsc_lane_enter(st->lane, frame->start_ticks, frame->function, frame->position);
    frame->bound = (frame->bound & ~(uint32_t)NSC_FRAME_PENDING) | NSC_FRAME_WRITTEN;
    count_written(st);
}

void nsc_call_filter_settle(struct nsc_stack *st, uint64_t ticks)
{
    uint64_t min_ticks = st->sieve->rules->min_ticks;

    for (; st->pending < st->depth; st->pending++) {
        const struct nsc_lane_frame *frame = &st->shadow[st->pending + 1];

        if ((frame->bound & NSC_FRAME_PENDING) == 0)
            continue;
        if (ticks - frame->start_ticks < min_ticks)
            return;
        write_entry(st, st->pending);
    }
    st->pending = UINT32_MAX;
    flush_losses(st);
}

/* ---- Entries --------------------------------------------------------------------------------- */

uint32_t nsc_call_filter_reason(const struct nsc_call_filter *sieve)
{
    if (!sieve->wanted)
        return NSC_LEFT_OUT_THREAD;
    return sieve->open ? 0 : NSC_LEFT_OUT_TRIGGER;
}

/* Apply the roles of the function to the thread's state; returns the frame's marks. */
static uint32_t play_roles(struct nsc_call_filter *sieve, uint32_t roles)
{
    const struct nsc_filter_rules *rules = sieve->rules;
    uint32_t marks = 0;

    if ((roles & NSC_CODE_TRIGGER) != 0) {
        sieve->trigger_calls += sieve->trigger_calls < UINT32_MAX;
        if (!sieve->open && (rules->nth == 0 || sieve->trigger_calls == rules->nth)) {
            sieve->open = true;
            if (!rules->stopper)
                marks |= NSC_FRAME_STOPS;
        }
    }
    if ((roles & NSC_CODE_STOPPER) != 0)
        marks |= NSC_FRAME_STOPS;
    if ((roles & NSC_CODE_CALLER) != 0)
        marks |= NSC_FRAME_UNDER;
    return marks;
}

void nsc_call_filter_enter(struct nsc_stack *st, uint64_t ticks, uint64_t key,
                           const struct nsc_code *code)
{
    const struct nsc_filter_rules *rules = st->sieve->rules;
    struct nsc_lane_frame *parent = &st->shadow[st->depth], *frame = parent + 1;
    uint32_t marks = (parent->bound & NSC_FRAME_UNDER) | play_roles(st->sieve, code->flags);
    uint32_t reason = nsc_call_filter_reason(st->sieve);

    nsc_call_filter_settle(st, ticks);
    if ((code->flags & NSC_CODE_LEFT_OUT) != 0)
        reason = NSC_LEFT_OUT_FILTER;
    else if (reason == 0 && rules->under && (marks & NSC_FRAME_UNDER) == 0)
        reason = NSC_LEFT_OUT_UNDER;
    else if (reason == 0 && parent->child_ticks >= rules->depth)
        reason = NSC_LEFT_OUT_DEPTH;
    *frame = (struct nsc_lane_frame){.start_ticks = ticks,
                                     .child_ticks = parent->child_ticks + (reason == 0),
                                     .position = key,
                                     .function = code->function,
                                     .bound = marks | reason << NSC_FRAME_REASON};
    st->depth++;
    if (reason != 0) {
        leave_out(st, reason, 1);
        return;
    }
    frame->bound |= NSC_FRAME_PENDING;
    if (rules->min_ticks == 0)
        write_entry(st, st->depth - 1);
    else if (st->pending >= st->depth)
        st->pending = st->depth - 1;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

/* End the innermost frame; returns its marks. */
static uint32_t pop(struct nsc_stack *st)
{
    uint32_t marks = st->shadow[st->depth--].bound;

    if ((marks & NSC_FRAME_STOPS) != 0 && st->sieve->rules->trigger)
        st->sieve->open = false;
    if ((marks & NSC_FRAME_PENDING) != 0)
        leave_out(st, NSC_LEFT_OUT_SHORT, 1);
    if (st->held_depth > st->depth)
        st->held_depth = st->depth;
    if (st->pending >= st->depth) {
        st->pending = UINT32_MAX;
        flush_losses(st);
    }
    return marks;
}

static uint32_t reason_of(uint32_t marks)
{
    return (marks & NSC_FRAME_PENDING) != 0 ? NSC_LEFT_OUT_SHORT : marks >> NSC_FRAME_REASON;
}

void nsc_call_filter_exit(struct nsc_stack *st, uint64_t ticks)
{
    uint32_t marks;

    nsc_call_filter_settle(st, ticks);
    marks = pop(st);
    if ((marks & NSC_FRAME_WRITTEN) == 0) {
        leave_out(st, reason_of(marks), 1);
        return;
    }
    if (st->lane != NULL)
        nsc_lane_exit(st->lane, ticks);
    count_written(st);
}

void nsc_call_filter_unwind(struct nsc_stack *st, uint64_t ticks)
{
    nsc_call_filter_settle(st, ticks);
    if ((pop(st) & NSC_FRAME_WRITTEN) != 0 && st->lane != NULL)
        nsc_lane_unwind(st->lane, ticks);
}

void nsc_call_filter_late_exit(struct nsc_stack *st, uint64_t ticks, uint64_t since_ticks,
                               const struct nsc_code *code)
{
    const struct nsc_filter_rules *rules = st->sieve->rules;
    uint32_t reason = 0;

    if ((code->flags & NSC_CODE_LEFT_OUT) != 0)
        reason = NSC_LEFT_OUT_FILTER;
    else if (!st->sieve->wanted)
        reason = NSC_LEFT_OUT_THREAD;
    else if (rules->trigger) /* its entry was before any recorded call of the trigger */
        reason = NSC_LEFT_OUT_TRIGGER;
    else if (rules->under)
        reason = NSC_LEFT_OUT_UNDER;
    else if (ticks - since_ticks < rules->min_ticks)
        reason = NSC_LEFT_OUT_SHORT;
    if (reason != 0) {
        leave_out(st, reason, 1);
        return;
    }
    if (st->lane != NULL)
        nsc_lane_late_exit(st->lane, ticks, code->function);
    count_written(st);
}

void nsc_call_filter_lost(struct nsc_stack *st, uint64_t ticks, uint64_t events)
{
    st->held_lost += events;
    st->held_ticks = ticks;
    st->held_depth = st->depth;
    if (st->pending >= st->depth)
        flush_losses(st);
}

void nsc_call_filter_close(struct nsc_stack *st, uint64_t ticks)
{
    nsc_call_filter_settle(st, ticks);
    while (st->depth > 0)
        pop(st);
}
