/*
 * event_loop.c - see stack.h: the loop over the slots of a chunk. It decodes them, orders their
 * times and processes plain calls and returns itself; it passes all other events to stack.c.
 */
#include "abi/live.h"
#include "record/stack/call_filter.h"
#include "record/stack/disabled_calls.h"
#include "record/stack/fast_path.h"
#include "record/stack/filter_change.h"
#include "record/stack/open_frames.h"
#include "record/stack/stack.h"

enum { LOOKAHEAD_MAX = 64 };

/* ---- slots that hold no event ---------------------------------------------------------------- */

/* Process an escape record at slot @at; returns the number of slots it takes. */
static __attribute__((noinline)) size_t run_escape(struct nsc_stacks *s, const uint64_t *words,
                                                   size_t at, size_t to)
{
    uint64_t word = __atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE);
    uint64_t payload = __atomic_load_n(&words[2 * at + 1], __ATOMIC_RELAXED);
    size_t slots = 1 + ((word >> 12) & 15);

    if (slots > to - at)
        slots = to - at;
    switch (word & 0xfff) {
    case NSC_LIVE_ESC_ANCHOR:
        s->anchor = payload;
        break;
    case NSC_LIVE_ESC_SWITCH:
        if (slots >= 2)
            nsc_stack_switch(s, payload, __atomic_load_n(&words[2 * at + 3], __ATOMIC_RELAXED),
                             slots >= 3 ? __atomic_load_n(&words[2 * at + 5], __ATOMIC_RELAXED)
                                        : 0);
        break;
    case NSC_LIVE_ESC_UNWIND:
        if (slots >= 2)
            nsc_stack_leave(s, payload, __atomic_load_n(&words[2 * at + 3], __ATOMIC_RELAXED));
        break;
    case NSC_LIVE_ESC_LOST:
        if (payload != 0) /* 0: a filler in an unused slot */
            nsc_stacks_lost(s, s->last_ticks, payload);
        break;
    case NSC_LIVE_ESC_MARK:
    case NSC_LIVE_ESC_COUNTER:
    case NSC_LIVE_ESC_SAMPLE:
        if (s->keep)
            nsc_user_events_add(&s->notes, &words[2 * at], slots, s->near_ticks);
        break;
    default: /* kinds that are reserved or unknown */
        break;
    }
    return slots;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/*
 * Return the ticks that the event in slot @at may have. A signal handler that runs between the
 * reservation of a slot and its time stamp gives later slots earlier ticks: the outer event then
 * happened before them.
 */
static __attribute__((noinline)) uint64_t lower_ticks(const uint64_t *words, size_t at, size_t to,
                                                      uint64_t ticks, uint64_t near, bool header)
{
    unsigned budget = LOOKAHEAD_MAX;

    while (++at < to && budget-- > 0) {
        uint64_t word = __atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE);
        uint64_t next = slot_ticks(&words[2 * at], near, header);

        if ((word & NSC_LIVE_ADDRESS_MASK) < NSC_LIVE_ESC_LIMIT) {
            at += (word >> 12) & 15;
            continue;
        }
        if (__atomic_load_n(&words[2 * at + 1], __ATOMIC_RELAXED) == 0)
            continue; /* an untimed exit */
        if (next >= ticks)
            break;
        ticks = next;
    }
    return ticks;
}

/* Process a plain event on a stack whose calls are not kept; false: the event is not plain. */
static inline __attribute__((always_inline)) bool run_dropped(struct nsc_stack *st, uint64_t ticks,
                                                              uint64_t key, uint64_t pc16,
                                                              bool exit,
                                                              const struct nsc_code *code)
{
    const struct nsc_lane_frame *top = st->depth > 0 ? &st->shadow[st->depth] : NULL;

    if (top == NULL)
        return false;
    if (exit && returns(top, key, code))
        st->depth--;
    else if (!exit && st->depth < st->capacity && nests(top, key))
        st->shadow[++st->depth] = (struct nsc_lane_frame){
            .start_ticks = ticks, .position = key | pc16, .function = code->function};
    else
        return false;
    return true;
}

/* Process an event that does not nest plainly on the current stack. */
static __attribute__((noinline)) void run_slowly(struct nsc_stacks *s,
                                                 const struct nsc_stack_event *event)
{
    struct nsc_code code = nsc_codes_find(s->codes, event->address, event->ticks);

    if (event->exit)
        nsc_stack_exit(s, event, &code);
    else
        nsc_stack_enter(s, event, &code);
}

/* Return true if all slots of the record at @at are complete. */
static bool is_complete(const uint64_t *words, size_t at, size_t to)
{
    uint64_t word = __atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE);
    size_t slots = word == 0 ? 0 : 1 + ((word >> 12) & 15);

    if (slots == 0 || slots > to - at)
        return false;
    while (slots > 1 && __atomic_load_n(&words[2 * ++at], __ATOMIC_ACQUIRE) != 0)
        slots--;
    return slots == 1;
}

/* Process a slot that holds no event: an escape record, or a hole. Returns the number of slots, 0 =
 * stop. */
static __attribute__((noinline)) size_t run_record(struct nsc_stacks *s, const uint64_t *words,
                                                   size_t at, size_t to, bool stop_at_hole)
{
    if (stop_at_hole && !is_complete(words, at, to))
        return 0;
    if (__atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE) != 0)
        return run_escape(s, words, at, to);
    nsc_stack_miss(s, &s->stats.holes);
    return 1;
}

/* Process a call in one slot, whose next event is at time @next. Takes one of the @spare events. */
static inline __attribute__((always_inline)) size_t plain_returned(
    const struct nsc_plain *p, struct nsc_lane_run *run, uint64_t next_word, uint64_t ticks,
    uint64_t next, const struct nsc_code *code, size_t *spare)
{
    if (*spare == 0 || is_record(next_word) ||
        !nsc_lane_run_leaf(p->lane, run, ticks, next, code->function, code->coded))
        return 0;
    --*spare;
    return 1;
}

/* Process a plain entry at @ticks, whose next event is at time @next. Returns the number of slots,
 * 0: it is not plain. */
static inline __attribute__((always_inline)) size_t plain_entry(
    const struct nsc_plain *p, struct nsc_lane_run *run, const uint64_t *slot, uint64_t ticks,
    uint64_t next, const struct nsc_code *code, size_t *spare, const bool header)
{
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
    uint64_t next_word = __atomic_load_n(&slot[2], __ATOMIC_ACQUIRE);
    uint64_t key = position_key(word, p->anchor);

    if (__builtin_expect(!nests(run->top, key), 0) && !begins(p, run->top, key))
        return 0;
    if (!header && has_returned(slot))
        return plain_returned(p, run, next_word, ticks, next, code, spare);
    if (!p->marked && is_leaf(word, next_word, p->exit_mask, header) && slot + 2 < p->end) {
        uint64_t after = slot_ticks(slot + 4, next, header);

        return follows(p, next, after) &&
                       nsc_lane_run_leaf(p->lane, run, ticks, next, code->function, code->coded)
                   ? 2
                   : 0;
    }
    if (header)
        key |= (__atomic_load_n(&slot[1], __ATOMIC_RELAXED) - ticks) >> 48;
    return nsc_lane_run_enter(p->lane, run, ticks, code->function, code->coded, key) ? 1 : 0;
}

/* As plain_entry(), for any event. */
static inline __attribute__((always_inline)) size_t plain_event(const struct nsc_plain *p,
                                                                struct nsc_lane_run *run,
                                                                const uint64_t *slot, size_t *spare,
                                                                uint64_t *coming, const bool header)
{
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);
    uint64_t ticks = slot_ticks(slot, run->last_ticks, header);
    uint64_t next = slot_ticks(slot + 2, ticks, header);
    bool exit = (word & p->exit_mask) != 0, own;
    const struct nsc_code *code = NULL;
    uint64_t key;

    if (p->marked && (header ? is_untimed(slot, p->exit_mask)
                             : !plain_times(p, slot, run->last_ticks, &ticks, &next, coming)))
        return 0;
    if (__builtin_expect(!follows(p, ticks, next), 0))
        return 0;
    if (header || !exit) {
        code = nsc_codes_known(p->codes, word & p->address_mask);
        if (code == NULL || (header && (code->flags & NSC_CODE_LEFT_OUT) != 0) ||
            (header && returned_sled(slot, code)))
            return 0;
    }
    if (!exit)
        return plain_entry(p, run, slot, ticks, next, code, spare, header);
    key = position_key(word, p->anchor);
    own = header ? returns(run->top, key, code) : run->top->position - key < KEY_STEP;
    return own && !is_record(word) && nsc_lane_run_exit(p->lane, run, ticks) ? 1 : 0;
}

/*
 * Process most events: plain calls and returns on the current stack, in order of time. Returns the
 * first slot that is not one of them. The last slot never is, because its successor is not known.
 * @header: as @by_function of run().
 */
static inline __attribute__((always_inline)) size_t run_plain(struct nsc_stacks *s,
                                                              const uint64_t *words, size_t from,
                                                              size_t to, const bool header)
{
    const struct nsc_plain p = plain_begin(s, words, to);
    const uint64_t *slot = words + 2 * from, *begun;
    struct nsc_lane_run run;
    uint64_t ticks = slot_ticks(slot, s->near_ticks, header);
    uint64_t coming = 0;
    size_t room, slots = 1, spare;

    if (p.lane == NULL || (room = nsc_lane_run_begin(p.lane, &run)) == 0 || ticks < s->last_ticks ||
        !nsc_lane_run_fits(p.lane, &run, ticks) || ticks >= s->off_ticks ||
        !nsc_codes_hold(s->codes, ticks))
        return from;
    do {
        const uint64_t *end = p.end;

        if (s->marked) /* a slot may be two events */
            room = (room + 1) / 2;
        if (slot < end && (size_t)(end - slot) / 2 > room)
            end = slot + 2 * room;
        spare = s->marked ? room : 0;
        begun = slot;
        while (slot < end && slots != 0) {
            if (!header)
                slot = nsc_fast_path_run(&p, &run, slot, end, &spare, &coming);
            if (slot < end && (slots = plain_event(&p, &run, slot, &spare, &coming, header)) != 0)
                slot += 2 * slots;
        }
        s->stats.recorded += (size_t)(slot - begun) / 2 + (s->marked ? room - spare : 0);
        room = nsc_lane_run_room(p.lane, &run);
    } while (slots != 0 && slot < p.end && room > 1);
    if (slot > words + 2 * from)
        s->last_ticks = s->near_ticks = run.last_ticks;
    nsc_lane_run_end(p.lane, &run);
    return (size_t)(slot - words) / 2;
}

/* ---- plain events with a call filter --------------------------------------------------------- */

/* State of a run of plain events with a call filter. */
struct sifted {
    struct nsc_plain plain;
    struct nsc_lane_run lane;
    size_t room; /* events that the lane's run has room for */
    struct nsc_stacks_stats *stats;
    const struct nsc_lane_frame *last; /* last frame of the shadow's capacity */
    struct nsc_lane_frame *top, *pending;
    uint64_t due; /* when the pending frame must be written */
    uint64_t last_ticks, min_ticks, depth;
    uint64_t coming; /* see plain_times() */
    uint32_t reason; /* reason that rejects all calls; 0: none */
    bool under, header, keep;
};

/* Return the reason to reject a call from the innermost frame; 0: it is selected. */
static inline __attribute__((always_inline)) uint32_t sifted_reason(const struct sifted *r,
                                                                    const struct nsc_code *code)
{
    if ((code->flags & NSC_CODE_LEFT_OUT) != 0)
        return NSC_LEFT_OUT_FILTER;
    if (r->reason != 0)
        return r->reason;
    if (r->under && (r->top->bound & NSC_FRAME_UNDER) == 0)
        return NSC_LEFT_OUT_UNDER;
    return r->top->child_ticks >= r->depth ? NSC_LEFT_OUT_DEPTH : 0;
}

/* Process an entry and its own exit. False: not plain. */
static inline __attribute__((always_inline)) bool sifted_leaf(struct sifted *r, uint64_t ticks,
                                                              uint64_t end_ticks, uint32_t reason,
                                                              const struct nsc_code *code)
{
    if (reason == 0 && r->min_ticks != 0) {
        if (end_ticks - ticks >= r->min_ticks)
            return false;
        reason = NSC_LEFT_OUT_SHORT;
    }
    if (reason != 0) {
        r->stats->left_out[reason] += 2;
        return true;
    }
    if (!r->keep) {
        r->stats->dropped += 2;
        return true;
    }
    if (r->room < 2 ||
        !nsc_lane_run_leaf(r->plain.lane, &r->lane, ticks, end_ticks, code->function, code->coded))
        return false;
    r->room -= 2;
    r->stats->recorded += 2;
    return true;
}

/* Process the entry of a call that stays open. False: not plain. */
static inline __attribute__((always_inline)) bool sifted_push(struct sifted *r, uint64_t ticks,
                                                              uint64_t key, uint32_t reason,
                                                              const struct nsc_code *code)
{
    uint32_t marks = r->top->bound & NSC_FRAME_UNDER;
    struct nsc_lane_frame *frame = r->top + 1;

    if (r->top == r->last)
        return false;
    if (reason != 0) {
        r->stats->left_out[reason]++;
        marks |= reason << NSC_FRAME_REASON;
    } else if (r->min_ticks != 0) {
        marks |= NSC_FRAME_PENDING;
        if (r->pending == NULL) {
            r->pending = frame;
            r->due = ticks + r->min_ticks;
        }
    } else if (!r->keep) {
        marks |= NSC_FRAME_WRITTEN;
        r->stats->dropped++;
    } else {
        if (r->room == 0 ||
            !nsc_lane_run_enter(r->plain.lane, &r->lane, ticks, code->function, code->coded, key))
            return false;
        marks |= NSC_FRAME_WRITTEN;
        r->room--;
        r->stats->recorded++;
    }
    frame->start_ticks = ticks;
    frame->child_ticks = r->top->child_ticks + (reason == 0);
    frame->position = key;
    frame->function = code->function;
    frame->bound = marks;
    r->top = frame;
    return true;
}

/* Process the return of the innermost frame. False: not plain. */
static inline __attribute__((always_inline)) bool sifted_pop(struct sifted *r, uint64_t ticks)
{
    uint32_t marks = r->top->bound;

    if ((marks & NSC_FRAME_STOPS) != 0)
        return false;
    if ((marks & NSC_FRAME_PENDING) != 0) {
        r->stats->left_out[NSC_LEFT_OUT_SHORT] += 2;
        if (r->top == r->pending) {
            r->pending = NULL;
            r->due = UINT64_MAX;
        }
    } else if ((marks & NSC_FRAME_WRITTEN) == 0) {
        r->stats->left_out[marks >> NSC_FRAME_REASON]++;
    } else if (!r->keep) {
        r->stats->dropped++;
    } else {
        if (r->room == 0 || !nsc_lane_run_exit(r->plain.lane, &r->lane, ticks))
            return false;
        r->room--;
        r->stats->recorded++;
    }
    r->top--;
    return true;
}

/* Process a call in one slot, as plain_returned(). */
static inline __attribute__((always_inline)) size_t sifted_returned(struct sifted *r,
                                                                    uint64_t next_word,
                                                                    uint64_t ticks, uint64_t next,
                                                                    uint32_t reason,
                                                                    const struct nsc_code *code)
{
    if (is_record(next_word) || !sifted_leaf(r, ticks, next, reason, code))
        return 0;
    r->last_ticks = next;
    return 1;
}

/* Process one event, or a whole call. Returns the number of slots, 0: it is not plain. */
static inline __attribute__((always_inline)) size_t sifted_event(struct sifted *r,
                                                                 const uint64_t *slot,
                                                                 const bool header)
{
    const struct nsc_plain *p = &r->plain;
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);
    uint64_t next_word = __atomic_load_n(&slot[2], __ATOMIC_ACQUIRE);
    uint64_t ticks = slot_ticks(slot, r->last_ticks, header);
    uint64_t next = slot_ticks(slot + 2, ticks, header), key;
    bool exit = (word & p->exit_mask) != 0;
    const struct nsc_code *code = NULL;
    uint32_t reason;

    if (p->marked && (header ? is_untimed(slot, p->exit_mask)
                             : !plain_times(p, slot, r->last_ticks, &ticks, &next, &r->coming)))
        return 0;
    if (__builtin_expect(!follows(p, ticks, next) || ticks >= r->due, 0))
        return 0;
    if (header || !exit) {
        code = nsc_codes_known(p->codes, word & p->address_mask);
        if (code == NULL || (header && !exit && returned_sled(slot, code)))
            return 0;
    }
    key = position_key(word, p->anchor);
    if (exit) {
        if (is_record(word) ||
            !(header ? returns(r->top, key, code) : r->top->position - key < KEY_STEP) ||
            !sifted_pop(r, ticks))
            return 0;
        r->last_ticks = ticks;
        return 1;
    }
    if ((code->flags & NSC_CODE_ROLES) != 0 ||
        (__builtin_expect(!nests(r->top, key), 0) && !begins(p, r->top, key)))
        return 0;
    reason = sifted_reason(r, code);
    if (p->marked && !header && has_returned(slot))
        return sifted_returned(r, next_word, ticks, next, reason, code);
    if (!p->marked && is_leaf(word, next_word, p->exit_mask, header) && slot + 2 < p->end) {
        uint64_t after = slot_ticks(slot + 4, next, header);

        if (!follows(p, next, after) || !sifted_leaf(r, ticks, next, reason, code))
            return 0;
        r->last_ticks = next;
        return 2;
    }
    if (header)
        key |= (__atomic_load_n(&slot[1], __ATOMIC_RELAXED) - ticks) >> 48;
    if (!sifted_push(r, ticks, key, reason, code))
        return 0;
    r->last_ticks = ticks;
    return 1;
}

static inline __attribute__((always_inline)) size_t run_sifted(struct nsc_stacks *s,
                                                               const uint64_t *words, size_t from,
                                                               size_t to, const bool header)
{
    struct nsc_stack *st = s->current;
    const struct nsc_filter_rules *rules = s->sieve.rules;
    const uint64_t *slot = words + 2 * from;
    uint64_t ticks = slot_ticks(slot, s->near_ticks, header);
    struct sifted r = {.plain = plain_begin(s, words, to)};
    size_t slots;

    if ((st->lane == NULL && s->keep) || st->held_lost != 0 || ticks < s->last_ticks ||
        ticks >= rules->until_ticks || ticks >= s->off_ticks || !nsc_codes_hold(s->codes, ticks))
        return from;
    r.stats = &s->stats;
    r.top = &st->shadow[st->depth];
    r.last = &st->shadow[st->capacity];
    r.pending = st->pending < st->depth ? &st->shadow[st->pending + 1] : NULL;
    r.due = r.pending != NULL ? r.pending->start_ticks + rules->min_ticks : UINT64_MAX;
    r.last_ticks = s->near_ticks;
    r.min_ticks = rules->min_ticks;
    r.depth = rules->depth;
    r.reason = nsc_call_filter_reason(&s->sieve);
    r.under = rules->under;
    r.keep = s->keep;
    if (r.plain.until > rules->until_ticks)
        r.plain.until = rules->until_ticks;
    if (s->keep)
        r.room = nsc_lane_run_begin(st->lane, &r.lane);
    for (; slot < r.plain.end; slot += 2 * slots) {
        slots = sifted_event(&r, slot, header);
        if (__builtin_expect(slots == 0, 0))
            break;
    }
    if (slot > words + 2 * from)
        s->last_ticks = s->near_ticks = r.last_ticks;
    if (s->keep)
        nsc_lane_run_end(st->lane, &r.lane);
    st->depth = (uint32_t)(r.top - st->shadow);
    st->pending = r.pending != NULL ? (uint32_t)(r.pending - st->shadow) - 1 : UINT32_MAX;
    return (size_t)(slot - words) / 2;
}

/* ---- any event ------------------------------------------------------------------------------- */

/* Return true if the codes now need lookups by function. The lookup of a new address may find a
 * module that was just loaded. If that is the first one with the header hook, the current event was
 * decoded wrongly. */
static inline bool is_late_header(struct nsc_codes *codes, uint64_t address, uint64_t ticks)
{
    if (nsc_codes_known(codes, address) == NULL)
        (void)nsc_codes_find(codes, address, ticks);
    return codes->by_function;
}

enum run_kind {
    RUN_KEEP, /* every call is written to the lane */
    RUN_DROP, /* no call is kept (overwrite mode) */
    RUN_SIFT, /* with a call filter, which knows whether calls are kept */
};

/* Process one decoded event. */
static inline __attribute__((always_inline)) void take(struct nsc_stacks *s,
                                                       const struct nsc_stack_event *event,
                                                       const bool by_function,
                                                       const enum run_kind kind)
{
    struct nsc_code code = {0};

    if (kind == RUN_SIFT && __builtin_expect(event->ticks >= s->sieve.rules->until_ticks, 0))
        nsc_stack_turn(s, event->ticks);
    if (kind != RUN_SIFT && (by_function || !event->exit))
        code = nsc_codes_find(s->codes, event->address, event->ticks);
    if (kind != RUN_SIFT && by_function && (code.flags & NSC_CODE_LEFT_OUT) != 0)
        s->stats.left_out[NSC_LEFT_OUT_FILTER]++;
    else if (kind == RUN_DROP && s->offs_met == s->offs_passed &&
             run_dropped(s->current, event->ticks, event->key, event->pc16, event->exit, &code))
        s->stats.dropped++;
    else
        run_slowly(s, event);
}

/*
 * Return the end time of a call whose exit is in, or marked by, the slot at @at: the time of the
 * next timed event, but not before @ticks. 0: that event is not available yet. @final: no more
 * events will come.
 */
static uint64_t end_ticks(const struct nsc_stacks *s, const uint64_t *words, size_t at, size_t to,
                          uint64_t ticks, bool final, bool by_function)
{
    const uint64_t *timed = next_timed(&words[2 * (at + 1)], &words[2 * to], 1ull << s->exit_bit);
    uint64_t next = s->next_ticks;

    if (timed != NULL)
        next = slot_ticks(timed, s->near_ticks, by_function);
    else if (next == 0 && !final)
        return 0;
    return next > ticks ? next : ticks;
}

/*
 * Decode the event in the slot at @at. @end: for an untimed exit, or an entry that marks its call
 * as returned, when the call ended; else 0. False: the time is not available yet.
 */
static inline __attribute__((always_inline)) bool decode(
    const struct nsc_stacks *s, const uint64_t *words, size_t at, size_t to, bool final,
    const bool by_function, struct nsc_stack_event *event, uint64_t *end)
{
    const uint64_t exit_mask = 1ull << s->exit_bit, *slot = &words[2 * at];
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);
    bool returned = (word & exit_mask) == 0 && has_returned(slot);

    *end = 0;
    *event = (struct nsc_stack_event){.ticks = slot_ticks(slot, s->near_ticks, by_function),
                                      .key = position_key(word, s->anchor),
                                      .address = word & NSC_LIVE_ADDRESS_MASK & ~exit_mask,
                                      .exit = (word & exit_mask) != 0};
    if (by_function && returned) {
        struct nsc_code code = nsc_codes_find(s->codes, event->address, event->ticks);

        returned = (code.flags & NSC_CODE_HEADER) == 0;
    }
    if (s->marked && (returned || is_untimed(slot, exit_mask))) {
        *end = end_ticks(s, words, at, to, returned ? event->ticks : s->last_ticks, final,
                         by_function);
        if (!returned)
            event->ticks = *end;
        return *end != 0;
    }
    if (by_function)
        event->pc16 =
            (uint32_t)((__atomic_load_n(&slot[1], __ATOMIC_RELAXED) - event->ticks) >> 48);
    if (at + 1 < to && !is_untimed(slot + 2, exit_mask) &&
        __builtin_expect(slot_ticks(slot + 2, s->near_ticks, by_function) < event->ticks, 0))
        event->ticks = lower_ticks(words, at, to, event->ticks, s->near_ticks, by_function);
    return true;
}

/*
 * Process all events; plain ones through run_plain() or run_sifted() where possible.
 * @by_function: look up the code of every event, including exits. The header hook (equal positions,
 *     ticks of 48 bits) and filters that work here need it. Without it, stops where the codes turn
 *     out to need it.
 */
static inline __attribute__((always_inline)) size_t run(struct nsc_stacks *s, const uint64_t *words,
                                                        size_t from, size_t to, bool stop_at_hole,
                                                        const bool by_function,
                                                        const enum run_kind kind)
{
    const uint64_t exit_mask = 1ull << s->exit_bit;
    size_t i, slots;

    for (i = from; i < to; i += slots) {
        struct nsc_stack_event event;
        uint64_t end;

        if (kind == RUN_KEEP)
            i = run_plain(s, words, i, to, by_function);
        else if (kind == RUN_SIFT)
            i = run_sifted(s, words, i, to, by_function);
        if (__builtin_expect((__atomic_load_n(&words[2 * i], __ATOMIC_ACQUIRE) &
                              NSC_LIVE_ADDRESS_MASK & ~exit_mask) < NSC_LIVE_ESC_LIMIT,
                             0)) {
            slots = run_record(s, words, i, to, stop_at_hole);
            if (slots == 0)
                break;
            continue;
        }
        slots = 1;
        if (!decode(s, words, i, to, !stop_at_hole, by_function, &event, &end) ||
            (kind != RUN_DROP && !by_function &&
             is_late_header(s->codes, event.address, event.ticks)))
            break;
        if (__builtin_expect(event.ticks < s->last_ticks, 0)) {
            event.ticks = s->last_ticks;
            s->stats.clamped++;
        }
        if (__builtin_expect(event.ticks >= s->off_ticks, 0)) {
            nsc_stack_turn_off(s, event.ticks, true);
            if (nsc_stack_is_over(s, event.ticks)) {
                s->near_ticks = event.ticks;
                continue;
            }
        }
        s->before_ticks = s->last_ticks;
        s->last_ticks = s->near_ticks = event.ticks;
        if (__builtin_expect(end != 0 && !event.exit, 0))
            s->offs_met = s->offs_passed; /* its exit is recorded */
        take(s, &event, by_function, kind);
        if (__builtin_expect(end != 0 && !event.exit, 0)) {
            event.exit = true;
            if (end > event.ticks)
                event.ticks = s->last_ticks = s->near_ticks = end;
            take(s, &event, by_function, kind);
        }
    }
    return i < to ? i : to;
}

void nsc_stacks_begin_chunk(struct nsc_stacks *s, uint64_t anchor, uint64_t open_ticks)
{
    if (open_ticks > s->near_ticks)
        s->near_ticks = open_ticks;
    if (s->since_ticks == 0)
        s->since_ticks = open_ticks;
    s->anchor = anchor;
}

__attribute__((flatten)) size_t nsc_stacks_run(struct nsc_stacks *s, const uint64_t *words,
                                               size_t from, size_t to, bool stop_at_hole)
{
    bool sift = s->sieve.rules != NULL;

    if (!s->codes->by_function && (sift || s->keep)) {
        from = sift ? run(s, words, from, to, stop_at_hole, false, RUN_SIFT)
                    : run(s, words, from, to, stop_at_hole, false, RUN_KEEP);
        if (!s->codes->by_function)
            return from;
    }
    if (sift)
        return run(s, words, from, to, stop_at_hole, true, RUN_SIFT);
    if (s->keep)
        return run(s, words, from, to, stop_at_hole, true, RUN_KEEP);
    return s->codes->by_function ? run(s, words, from, to, stop_at_hole, true, RUN_DROP)
                                 : run(s, words, from, to, stop_at_hole, false, RUN_DROP);
}
