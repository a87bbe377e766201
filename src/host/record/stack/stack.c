/*
 * stack.c - see stack.h: the stacks of a thread, and the rule for every event. Its caller,
 * event_loop.c, processes plain events itself.
 */
#include "record/stack/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "record/stack/call_filter.h"
#include "record/stack/disabled_calls.h"
#include "record/stack/filter_change.h"
#include "record/stack/open_frames.h"
#include "util/array.h"

enum { STACKS_MAX = 1024 };

/* Maximum distance of an entry above the outermost frame of the stack so far. */
#define REACH_ABOVE ((1ull << 20) << KEY_SHIFT)
#define UNREACHABLE UINT64_MAX

/* ---- frames of one stack, kept or not ------------------------------------------------------- */

static void shadow_push(struct nsc_stack *st, uint64_t ticks, uint32_t function, uint64_t key)
{
    st->shadow[++st->depth] =
        (struct nsc_lane_frame){.start_ticks = ticks, .position = key, .function = function};
}

/* Count an event that was given to the lane, or would have been. */
static void count_event(struct nsc_stacks *s, const struct nsc_stack *st)
{
    if (st->lane != NULL)
        s->stats.recorded++;
    else
        s->stats.dropped++;
}

static void stack_push(struct nsc_stacks *s, const struct nsc_stack_event *event,
                       const struct nsc_code *code)
{
    struct nsc_stack *st = s->current;
    uint64_t key = event->key | event->pc16;

    if (st->sieve != NULL) {
        if (nsc_stack_has_room(s, st))
            nsc_call_filter_enter(st, event->ticks, key, code);
        else
            nsc_stack_miss(s, &s->stats.unmatched);
        return;
    }
    if (st->lane != NULL && !nsc_lane_may_deepen(st->lane)) {
        nsc_stack_miss(s, &s->stats.unmatched);
        return;
    }
    if (st->lane != NULL)
        nsc_lane_enter(st->lane, event->ticks, code->function, key);
    else if (nsc_stack_has_room(s, st))
        shadow_push(st, event->ticks, code->function, key);
    count_event(s, st);
}

static void stack_exit(struct nsc_stacks *s, uint64_t ticks)
{
    struct nsc_stack *st = s->current;

    if (st->sieve != NULL) {
        nsc_call_filter_exit(st, ticks);
        return;
    }
    if (st->lane != NULL)
        nsc_lane_exit(st->lane, ticks);
    else
        st->depth--;
    count_event(s, st);
}

/* Close every frame whose position is below that of @key. */
static void unwind_below(struct nsc_stacks *s, struct nsc_stack *st, uint64_t key, uint64_t ticks)
{
    const struct nsc_lane_frame *top;

    while ((top = nsc_stack_innermost(st)) != NULL && top->position < key)
        nsc_stack_unwind(s, st, ticks);
}

/* Return true if a frame is open at exactly the position of @key. */
static bool stack_holds(struct nsc_stack *st, uint64_t key)
{
    uint32_t low = 0, high = nsc_stack_depth(st);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t position = nsc_stack_frame(st, middle)->position;

        if (position < key)
            high = middle;
        else if (position - key < KEY_STEP)
            return true;
        else
            low = middle + 1;
    }
    return false;
}

/* ---- the stacks of a thread ------------------------------------------------------------------ */

/* Return true if @a should be evicted before @b. */
static bool is_dispensable(const struct nsc_stack *a, const struct nsc_stack *b)
{
    bool a_idle = nsc_stack_depth(a) == 0, b_idle = nsc_stack_depth(b) == 0;

    return a_idle != b_idle ? a_idle : a->used < b->used;
}

static struct nsc_stack *stack_evict(struct nsc_stacks *s)
{
    struct nsc_stack *victim = NULL;
    uint32_t i;

    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        if (st == s->current)
            continue;
        if (victim == NULL || is_dispensable(st, victim))
            victim = st;
    }
    if (victim == NULL)
        return NULL;
    unwind_below(s, victim, UINT64_MAX, victim->left_ticks);
    victim->low = victim->high = victim->name = 0;
    if (victim == s->entered)
        s->entered = NULL;
    victim->outer = victim->outer_on = 0;
    victim->gone = false;
    return victim;
}

/* Return an unused stack, or an evicted one. NULL only when memory runs out. */
static struct nsc_stack *stack_add(struct nsc_stacks *s)
{
    struct nsc_stack **stacks, *st;

    if (s->count == STACKS_MAX ||
        (s->count > 0 && s->limits != NULL && s->limits->extra_stacks == 0))
        return stack_evict(s);
    stacks = nsc_array_grow(s->stacks, &s->capacity, s->count, sizeof(struct nsc_stack *));
    if (stacks == NULL)
        return NULL;
    s->stacks = stacks;
    st = calloc(1, sizeof *st);
    if (st == NULL)
        return NULL;
    st->number = s->count;
    st->pending = UINT32_MAX;
    if (s->sieve.rules != NULL && !nsc_stack_has_room(s, st)) {
        free(st);
        return NULL;
    }
    st->sieve = s->sieve.rules != NULL ? &s->sieve : NULL;
    if (s->limits != NULL && s->count > 0)
        s->limits->extra_stacks--;
    s->stacks[s->count++] = st;
    return st;
}

int nsc_stacks_init(struct nsc_stacks *s)
{
    s->stacks = NULL;
    s->entered = NULL;
    s->count = s->capacity = 0;
    s->switches = 0;
    s->before_ticks = 0;
    s->offs_passed = s->offs_met = 0;
    s->off_ticks = UINT64_MAX;
    s->anchor = s->last_ticks = s->near_ticks = s->since_ticks = s->since_key = 0;
    s->stats = (struct nsc_stacks_stats){0};
    s->sieve = (struct nsc_call_filter){.stats = &s->stats};
    if (s->rules != NULL)
        nsc_stacks_begin_rules(s, s->rules);
    nsc_stacks_disabled_next(s);
    s->current = stack_add(s);
    return s->current != NULL ? 0 : -ENOMEM;
}

void nsc_stacks_free(struct nsc_stacks *s)
{
    uint32_t i;

    for (i = 0; i < s->count; i++) {
        if (s->limits != NULL) {
            s->limits->extra_stacks += i > 0;
            s->limits->frames += s->stacks[i]->capacity > NSC_SHADOW_FIRST
                                     ? s->stacks[i]->capacity - NSC_SHADOW_FIRST
                                     : 0;
        }
        free(s->stacks[i]->shadow);
        free(s->stacks[i]);
    }
    free(s->stacks);
    nsc_user_events_free(&s->notes);
    s->stacks = NULL;
    s->current = NULL;
    s->count = s->capacity = 0;
}

/*
 * Return the distance of @key from where the stack's next call would be; UNREACHABLE if it cannot
 * be a call of this stack.
 */
static uint64_t stack_distance(struct nsc_stack *st, uint64_t key, bool exit)
{
    const struct nsc_lane_frame *top = nsc_stack_innermost(st);
    uint64_t next = top != NULL ? top->position : st->high;

    if (st->high == 0)
        return UNREACHABLE;
    if (key <= next)
        return next - key <= REACH_BELOW ? next - key : UNREACHABLE;
    if (key <= st->high)
        return key - next;
    return key - st->high <= (exit ? REACH_BELOW : REACH_ABOVE) ? key - next : UNREACHABLE;
}

static void stack_go(struct nsc_stacks *s, struct nsc_stack *to, uint64_t ticks, bool marked)
{
    struct nsc_stack *from = s->current;

    if (to == from)
        return;
    from->left_ticks = ticks;
    from->used = ++s->switches;
    from->gone = !marked && to->high != 0 && !to->gone;
    s->current = to;
}

/*
 * Find the stack of an event; most often the current one. Signal stacks and coroutines that switch
 * without a marker (uc_link, code of others) are detected by a position that does not fit. Then it
 * is the suspended stack that fits best, or a new one (NULL).
 */
static struct nsc_stack *stack_find(struct nsc_stacks *s, const struct nsc_stack_event *event)
{
    struct nsc_stack *current = s->current, *best = NULL;
    uint64_t distance, best_distance = UNREACHABLE;
    uint32_t i;

    if (s->count == 1 && current->high == 0)
        return current;
    if (event->exit) {
        if (stack_holds(current, event->key))
            return current;
        for (i = 0; s->count > 1 && i < s->count; i++)
            if (stack_holds(s->stacks[i], event->key))
                return s->stacks[i];
    }
    if (current->high == 0)
        return current;
    distance = stack_distance(current, event->key, event->exit);
    if (distance != UNREACHABLE && (s->count == 1 || nsc_stack_depth(current) > 0 ||
                                    (event->key >= current->low && event->key <= current->high)))
        return current;
    if (distance != UNREACHABLE) {
        best = current;
        best_distance = distance;
    }
    for (i = 0; i < s->count; i++) {
        if (s->stacks[i] == current)
            continue;
        distance = stack_distance(s->stacks[i], event->key, event->exit);
        if (distance < best_distance) {
            best = s->stacks[i];
            best_distance = distance;
        }
    }
    return best;
}

static struct nsc_stack *stack_select(struct nsc_stacks *s, const struct nsc_stack_event *event)
{
    struct nsc_stack *st = stack_find(s, event);

    if (st == NULL)
        st = stack_add(s);
    return st != NULL ? st : s->current;
}

/* Make the event's stack current and ready. Returns the time at which frames that are found dead on
 * it ended. */
static uint64_t stack_arrive(struct nsc_stacks *s, const struct nsc_stack_event *event)
{
    struct nsc_stack *st = stack_select(s, event);
    uint64_t dead_ticks = event->ticks;

    if (st != s->current)
        stack_go(s, st, event->ticks, false);
    if (st->gone) {
        dead_ticks = st->left_ticks;
        st->gone = false;
    }
    if (s->keep && st->lane == NULL) {
        struct nsc_lane *lane;

        if (s->open_lane(s->context, st->number, event->ticks, &lane) == 0)
            st->lane = lane;
    }
    if (st->high == 0 || event->key > st->high)
        st->high = event->key;
    /* Inner calls do not count: most of them are handled by the fast path. */
    if (st->low == 0 || (event->key < st->low && nsc_stack_depth(st) == 0))
        st->low = event->key;
    return dead_ticks;
}

/* ---- events that do not nest plainly --------------------------------------------------------- */

/*
 * Close frames at the entry's own position. A real call there replaces them. A function inlined
 * into its caller shares the caller's position. Only an entry from the same hook site means that
 * the frame of the site's last run was left without an exit.
 */
static void close_equal(struct nsc_stacks *s, struct nsc_stack *st,
                        const struct nsc_stack_event *event, const struct nsc_code *code,
                        uint64_t dead_ticks)
{
    bool known = (code->flags & NSC_CODE_REAL_PC) != 0;
    bool real = (code->flags & NSC_CODE_HEADER) == 0 || (known && event->pc16 == code->real_pc16);
    uint32_t depth = nsc_stack_depth(st), i;

    for (i = depth; i > 0; i--) {
        const struct nsc_lane_frame *frame = nsc_stack_frame(st, i - 1);

        if (frame->position - event->key >= KEY_STEP)
            break;
        if (real || (frame->function == code->function &&
                     (!known || (frame->position & KEY_PC) == event->pc16)))
            depth = i - 1;
    }
    while (nsc_stack_depth(st) > depth)
        nsc_stack_unwind(s, st, dead_ticks);
}

static void note_outermost(const struct nsc_stacks *s, const struct nsc_stack_event *event)
{
    uint64_t *outer = event->ticks < s->on_ticks ? &s->current->outer : &s->current->outer_on;

    if (event->key > *outer)
        *outer = event->key;
}

void nsc_stack_enter(struct nsc_stacks *s, const struct nsc_stack_event *event,
                     const struct nsc_code *code)
{
    uint64_t dead_ticks = stack_arrive(s, event);
    struct nsc_stack *st = s->current;

    unwind_below(s, st, event->key, dead_ticks);
    close_equal(s, st, event, code, dead_ticks);
    stack_push(s, event, code);
    if (s->offs_met != s->offs_passed)
        nsc_stack_meet_offs(s, event, code);
    note_outermost(s, event);
}

/* Return the depth down to which an exit at @event closes frames, or UINT32_MAX if no frame
 * matches. Frames below the position are already closed. */
static uint32_t match_exit(struct nsc_stack *st, const struct nsc_stack_event *event,
                           const struct nsc_code *code)
{
    uint32_t i;

    for (i = nsc_stack_depth(st); i > 0; i--) {
        const struct nsc_lane_frame *frame = nsc_stack_frame(st, i - 1);

        if (frame->position - event->key >= KEY_STEP)
            break;
        if ((code->flags & NSC_CODE_HEADER) == 0 || frame->function == code->function)
            return i - 1;
    }
    return UINT32_MAX;
}

/*
 * Return true if an exit without entry, outside of all open calls, may belong to a call that began
 * while sleds were being enabled. Exits are enabled before entries, so a call that began and ended
 * meanwhile has an exit only.
 *
 * Calls that were open before are one chain and end from the inside outwards: none of them lies at
 * or below the position of an earlier event. (An exit does lie there if events after the switching
 * were there, too. No call at that position can lack its entry then, and the exit is of another
 * stack near by.)
 */
static bool began_meanwhile(const struct nsc_stacks *s, const struct nsc_stack_event *event,
                            const struct nsc_code *code)
{
    const struct nsc_stack *st = s->current;
    bool shares = (code->flags & NSC_CODE_HEADER) != 0; /* a position, with its caller */
    uint64_t least = event->key + (shares ? KEY_STEP : 0);

    return s->switched && st->outer >= least && st->outer_on < least;
}

void nsc_stacks_switched_on(struct nsc_stacks *s, uint64_t ticks)
{
    uint32_t i;

    s->switched = true;
    s->on_ticks = ticks;
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        st->outer = st->outer > st->outer_on ? st->outer : st->outer_on;
        st->outer_on = 0;
    }
}

void nsc_stacks_end(struct nsc_stacks *s, uint64_t ticks)
{
    if (s->end_ticks == 0)
        s->end_ticks = ticks;
    nsc_stacks_disabled_next(s);
}

static void late_exit(struct nsc_stacks *s, const struct nsc_stack_event *event,
                      const struct nsc_code *code)
{
    struct nsc_stack *st = s->current;

    if ((code->flags & NSC_CODE_LEFT_OUT) == 0 && began_meanwhile(s, event, code)) {
        s->stats.left_out[NSC_LEFT_OUT_OTHER]++;
        return;
    }
    if (st->sieve != NULL) {
        nsc_call_filter_late_exit(st, event->ticks, s->since_ticks, code);
        return;
    }
    if (st->lane != NULL)
        nsc_lane_late_exit(st->lane, event->ticks, code->function);
    count_event(s, st);
}

/*
 * Return true if an exit without entry inside open calls may belong to a call that began in a gap,
 * or was open when the gap began: all calls that contain it are from before the last gap, and it
 * lies where events were missing at some time.
 */
static bool began_in_gap(const struct nsc_stacks *s, const struct nsc_stack_event *event)
{
    const struct nsc_lane_frame *top = nsc_stack_innermost(s->current);

    return top != NULL && nsc_stack_depth(s->current) <= s->current->kept &&
           top->start_ticks <= s->current->kept_ticks && event->key < s->since_key;
}

void nsc_stack_exit(struct nsc_stacks *s, const struct nsc_stack_event *event,
                    const struct nsc_code *code)
{
    uint64_t dead_ticks = stack_arrive(s, event);
    struct nsc_stack *st = s->current;
    uint32_t depth;

    s->last_ticks = event->ticks;
    unwind_below(s, st, event->key, dead_ticks);
    depth = match_exit(st, event, code);
    if (depth != UINT32_MAX) {
        while (nsc_stack_depth(st) > depth + 1)
            nsc_stack_unwind(s, st, dead_ticks);
        stack_exit(s, event->ticks);
    } else if ((nsc_stack_depth(st) == 0 || began_in_gap(s, event)) &&
               !nsc_stack_began_while_off(s, code)) {
        late_exit(s, event, code);
    } else {
        /* Its entry is missing, though its caller's may be there. */
        if (s->switched)
            s->stats.left_out[NSC_LEFT_OUT_OTHER]++;
        else
            nsc_stack_miss(s, &s->stats.unmatched);
    }
    if (s->offs_met != s->offs_passed)
        nsc_stack_meet_offs(s, event, NULL);
    note_outermost(s, event);
}

/*
 * A signal handler may still run on the stack that is left, after the record and before the switch.
 * If the position of the other stack is known, the handler's calls are not mistaken for its first
 * ones. They make the stack that was left the current one again: if that is to be entered next, it
 * is left from where the last switch went.
 */
void nsc_stack_switch(struct nsc_stacks *s, uint64_t from, uint64_t to, uint64_t position)
{
    struct nsc_stack *left = s->current, *target = NULL;
    uint32_t i;

    if (from == to || to == 0)
        return;
    if (left->name == to && s->entered != NULL)
        left = s->entered;
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        if (st->name == to && st != left)
            target = st;
        else if (st->name == from)
            st->name = 0; /* the name passes to the stack that is left now */
    }
    if (from != 0)
        left->name = from;
    /* A context that was never switched away from is entered for good (setcontext). It may lie on
     * this same stack, like a longjmp. The next event's position decides. */
    if (target == NULL && from == 0)
        return;
    if (target == NULL)
        target = stack_add(s);
    if (target == NULL)
        return;
    target->name = to;
    target->gone = false;
    if (target->high == 0)
        target->low = target->high = position << KEY_SHIFT;
    stack_go(s, target, s->last_ticks, true);
    s->entered = target;
}

/* A stack without events needs no action. */
void nsc_stack_leave(struct nsc_stacks *s, uint64_t position, uint64_t ticks)
{
    struct nsc_stack_event event = {.ticks = ticks, .key = position << KEY_SHIFT, .exit = true};
    struct nsc_stack *st = stack_find(s, &event);

    if (st == NULL || st->high == 0 || nsc_stack_is_over(s, ticks))
        return;
    if (ticks < s->last_ticks)
        event.ticks = s->last_ticks;
    if (event.ticks >= s->off_ticks)
        nsc_stack_turn_off(s, event.ticks, true);
    s->before_ticks = s->last_ticks;
    s->last_ticks = event.ticks;
    if (s->sieve.rules != NULL)
        nsc_stack_turn(s, event.ticks);
    stack_go(s, st, event.ticks, false);
    st->gone = false;
    unwind_below(s, st, event.key + KEY_STEP, event.ticks);
}

/* ---- the whole thread ------------------------------------------------------------------------ */

/*
 * Return the key from which on calls stayed open during a gap. A call that returns has an event at
 * its position, and after a jump out of a call, events follow there or further out. So frames above
 * all lost positions are unaffected. Not if calls wait to be written (their entries would come
 * after the gap), and not on a stack that was most likely left for good.
 */
static uint64_t kept_from(const struct nsc_stacks *s, const struct nsc_stack *st, uint64_t highest)
{
    if (highest == 0 || highest >= 1ull << (64 - KEY_SHIFT - 1) || st->gone ||
        (s->sieve.rules != NULL && s->sieve.rules->min_ticks != 0))
        return UINT64_MAX;
    return (highest << KEY_SHIFT | KEY_PC) + 1;
}

/* Close the frames at or below @highest: their ends may be missing. Returns the time from which on
 * the events are complete again. */
static uint64_t begin_again(struct nsc_stacks *s, uint64_t ticks, uint64_t highest)
{
    const struct nsc_lane_frame *top;
    uint64_t key;
    uint32_t i;

    if (ticks < s->last_ticks)
        ticks = s->last_ticks;
    s->before_ticks = s->last_ticks;
    if (ticks >= s->off_ticks)
        nsc_stack_turn_off(s, ticks, false);
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        unwind_below(s, st, kept_from(s, st, highest),
                     st == s->current ? s->last_ticks : st->left_ticks);
        st->gone = false;
        st->outer = st->outer_on = 0; /* calls may have begun in the gap */
        /* On other stacks the gap cannot be detected. */
        top = st == s->current ? nsc_stack_innermost(st) : NULL;
        st->kept = top != NULL ? nsc_stack_depth(st) : 0;
        st->kept_ticks = top != NULL ? top->start_ticks : 0;
    }
    s->since_ticks = ticks;
    key = kept_from(s, s->current, highest);
    s->since_key = key > s->since_key ? key : s->since_key;
    nsc_user_events_break(&s->notes);
    return ticks;
}

/* Return true if the current stack has a lane, or one could be opened. */
static bool has_lane(struct nsc_stacks *s, uint64_t ticks)
{
    return s->keep && (s->current->lane != NULL ||
                       s->open_lane(s->context, s->current->number, ticks, &s->current->lane) == 0);
}

void nsc_stacks_gap(struct nsc_stacks *s, uint64_t ticks, uint64_t lost, uint64_t left_out,
                    uint64_t highest)
{
    if (s->end_ticks != 0 && ticks >= s->end_ticks) {
        ticks = s->end_ticks;
        s->off_ticks = 0;
    }
    ticks = begin_again(s, ticks, highest);
    s->stats.lost += lost;
    s->stats.left_out[NSC_LEFT_OUT_BUDGET] += left_out;
    if (lost > 0 && has_lane(s, ticks))
        nsc_lane_lost(s->current->lane, ticks, lost);
    if (left_out > 0 && has_lane(s, ticks))
        nsc_lane_left_out(s->current->lane, ticks, left_out);
}

void nsc_stacks_lost(struct nsc_stacks *s, uint64_t ticks, uint64_t events)
{
    nsc_stacks_gap(s, ticks, events, 0, 0);
}

void nsc_stacks_left_out(struct nsc_stacks *s, uint64_t ticks, uint64_t events)
{
    nsc_stacks_gap(s, ticks, 0, events, 0);
}

/* Return true if an open frame of the shadow goes into the lane: its entry counts as dropped. */
static bool frame_counts(const struct nsc_stack *st, uint32_t index)
{
    return st->sieve == NULL || (st->shadow[index + 1].bound & NSC_FRAME_WRITTEN) != 0;
}

static uint32_t count_frames(const struct nsc_stack *st)
{
    uint32_t i, count = 0;

    for (i = 0; i < st->depth; i++)
        count += frame_counts(st, i);
    return count;
}

/* Open the lane of a stack whose calls are kept from now on. */
static void keep_stack(struct nsc_stacks *s, struct nsc_stack *st, uint64_t lost)
{
    uint64_t start = st->depth > 0 ? st->shadow[1].start_ticks : s->last_ticks;
    struct nsc_lane *lane;
    uint32_t i;

    if (s->open_lane(s->context, st->number, start, &lane) != 0)
        return;
    if (st == s->current && lost > 0)
        nsc_lane_lost(lane, start, lost);
    for (i = 0; i < st->depth; i++)
        if (frame_counts(st, i))
            nsc_lane_enter(lane, st->shadow[i + 1].start_ticks, st->shadow[i + 1].function,
                           st->shadow[i + 1].position);
    st->lane = lane;
}

void nsc_stacks_keep(struct nsc_stacks *s)
{
    uint32_t i, open = 0;
    uint64_t lost;

    if (s->keep)
        return;
    s->keep = true;
    for (i = 0; i < s->count; i++)
        open += count_frames(s->stacks[i]);
    s->stats.cut = s->stats.dropped - open;
    s->stats.recorded = open;
    s->stats.dropped = 0;
    lost = nsc_stacks_lost_total(s);
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        if (count_frames(st) > 0 || st->pending < st->depth || (st == s->current && lost > 0))
            keep_stack(s, st, lost);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

void nsc_stacks_close(struct nsc_stacks *s, uint64_t ticks)
{
    uint32_t i;

    nsc_user_events_break(&s->notes);
    if (ticks < s->last_ticks)
        ticks = s->last_ticks;
    if (s->sieve.rules != NULL)
        nsc_stack_turn(s, ticks);
    s->before_ticks = s->last_ticks;
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];
        uint64_t end_ticks = st->gone ? st->left_ticks : ticks;

        nsc_stack_unwind_orphans(s, st);
        if (st->sieve != NULL)
            nsc_call_filter_close(st, end_ticks);
        if (st->lane == NULL)
            continue;
        nsc_lane_close(st->lane, end_ticks);
        st->lane = NULL;
        st->depth = 0;
    }
}
