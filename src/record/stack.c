/*
 * stack.c - see stack.h.
 *
 * A frame's own word holds its position << 16 and, below, the low 16 bits of the program counter of
 * its hook (header hook; else 0): one comparison orders frames by position. Along a stack the
 * positions fall from the outermost frame inwards, so a position is found by bisection.
 */
#include "record/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "nanoscope/live.h"
#include "trace/encode.h"

#define KEY_SHIFT 16
#define KEY_PC    0xffffull
#define KEY_STEP  (1ull << KEY_SHIFT)

enum { STACKS_MAX = 1024, LOOKAHEAD_MAX = 64 };

/* How far below the innermost frame (or above the outermost, for an exit) a call can be and still
 * be on the same stack: more than any sane frame, less than stacks lie apart. */
#define REACH_BELOW (1ull << REACH_SHIFT)
#define REACH_SHIFT (24 + KEY_SHIFT) /* 16 MiB */
/* The same for an entry above the outermost frame ever seen. */
#define REACH_ABOVE ((1ull << 20) << KEY_SHIFT)
#define UNREACHABLE UINT64_MAX

struct nsc_stack {
    struct nsc_lane *lane;         /* NULL while calls are not kept, or before the first event */
    struct nsc_lane_frame *shadow; /* the open frames while lane is NULL */
    uint32_t depth, capacity;      /* of shadow */
    uint32_t number;               /* in the trace: 0 = the thread's first stack */
    uint64_t name;                 /* by NSC_LIVE_ESC_SWITCH; 0 = none */
    uint64_t low, high;            /* keys of outermost frames seen; high 0 = nothing seen yet */
    uint64_t left_ticks, used;     /* when it was left, in ticks and in `switches` */
    bool gone; /* left for a stack it had interrupted: its frames are most likely dead */
};

/* An event, decoded. */
struct event {
    uint64_t ticks, key;
    uint64_t address;
    uint32_t pc16;
    bool exit;
};

/* ---- frames of one stack, kept or not ------------------------------------------------------- */

static inline uint32_t stack_depth(const struct nsc_stack *st)
{
    return st->lane != NULL ? nsc_lane_depth(st->lane) : st->depth;
}

static inline struct nsc_lane_frame *stack_top(struct nsc_stack *st)
{
    if (st->lane != NULL)
        return nsc_lane_top(st->lane);
    return st->depth > 0 ? &st->shadow[st->depth - 1] : NULL;
}

/* The frame at @depth below the top counts from 0 = outermost. */
static struct nsc_lane_frame *stack_frame(struct nsc_stack *st, uint32_t index)
{
    if (st->lane != NULL)
        return nsc_lane_top(st->lane) - (nsc_lane_depth(st->lane) - 1 - index);
    return &st->shadow[index];
}

static int shadow_grow(struct nsc_stack *st)
{
    uint32_t capacity = st->capacity == 0 ? 64 : st->capacity * 2;
    struct nsc_lane_frame *frames;

    if (capacity < st->capacity)
        return -ENOMEM;
    frames = realloc(st->shadow, capacity * sizeof *frames);
    if (frames == NULL)
        return -ENOMEM;
    st->shadow = frames;
    st->capacity = capacity;
    return 0;
}

static inline void stack_push(struct nsc_stack *st, uint64_t ticks, uint32_t function, uint64_t key)
{
    if (__builtin_expect(st->lane != NULL, 1)) {
        nsc_lane_enter(st->lane, ticks, function, key);
        return;
    }
    if (st->depth == st->capacity && shadow_grow(st) != 0)
        return; /* out of memory: this frame's exit will not match */
    st->shadow[st->depth++] =
        (struct nsc_lane_frame){.start_ticks = ticks, .position = key, .function = function};
}

static inline void stack_exit(struct nsc_stack *st, uint64_t ticks)
{
    if (__builtin_expect(st->lane != NULL, 1))
        nsc_lane_exit(st->lane, ticks);
    else
        st->depth--;
}

static void stack_unwind(struct nsc_stack *st, uint64_t ticks)
{
    if (st->lane != NULL)
        nsc_lane_unwind(st->lane, ticks);
    else
        st->depth--;
}

/* Close every frame whose position is below that of @key. */
static void unwind_below(struct nsc_stack *st, uint64_t key, uint64_t ticks)
{
    const struct nsc_lane_frame *top;

    while ((top = stack_top(st)) != NULL && top->position < key)
        stack_unwind(st, ticks);
}

/* Is a frame open at exactly the position of @key? */
static bool stack_holds(struct nsc_stack *st, uint64_t key)
{
    uint32_t low = 0, high = stack_depth(st);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t position = stack_frame(st, middle)->position;

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

static struct nsc_stack *stack_evict(struct nsc_stacks *s)
{
    struct nsc_stack *victim = NULL;
    uint32_t i;

    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        if (st == s->current)
            continue;
        if (victim == NULL || (stack_depth(st) == 0 && stack_depth(victim) != 0) ||
            ((stack_depth(st) == 0) == (stack_depth(victim) == 0) && st->used < victim->used))
            victim = st;
    }
    if (victim == NULL)
        return NULL;
    unwind_below(victim, UINT64_MAX, victim->left_ticks);
    victim->low = victim->high = victim->name = 0;
    victim->gone = false;
    return victim;
}

/* A stack that nothing was seen of. NULL only when memory runs out. */
static struct nsc_stack *stack_add(struct nsc_stacks *s)
{
    struct nsc_stack *st;

    if (s->count == STACKS_MAX)
        return stack_evict(s);
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity == 0 ? 4 : s->capacity * 2;
        struct nsc_stack **stacks = realloc(s->stacks, capacity * sizeof(struct nsc_stack *));

        if (stacks == NULL)
            return NULL;
        s->stacks = stacks;
        s->capacity = capacity;
    }
    st = calloc(1, sizeof *st);
    if (st == NULL)
        return NULL;
    st->number = s->count;
    s->stacks[s->count++] = st;
    return st;
}

int nsc_stacks_init(struct nsc_stacks *s)
{
    s->stacks = NULL;
    s->count = s->capacity = 0;
    s->switches = 0;
    s->anchor = s->last_ticks = s->near_ticks = 0;
    s->stats = (struct nsc_stacks_stats){0};
    s->current = stack_add(s);
    return s->current != NULL ? 0 : -ENOMEM;
}

void nsc_stacks_free(struct nsc_stacks *s)
{
    uint32_t i;

    for (i = 0; i < s->count; i++) {
        free(s->stacks[i]->shadow);
        free(s->stacks[i]);
    }
    free(s->stacks);
    s->stacks = NULL;
    s->current = NULL;
    s->count = s->capacity = 0;
}

/*
 * How far @key lies from where the stack's next call would be; UNREACHABLE if it cannot be a call
 * of this stack.
 */
static uint64_t stack_distance(struct nsc_stack *st, uint64_t key, bool exit)
{
    const struct nsc_lane_frame *top = stack_top(st);
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
 * Whose event is it? Most often the current stack's. Signal stacks and coroutines that switch
 * without a marker (uc_link, code of others) show by a position that does not fit: then it is the
 * suspended stack that fits best, or none that was seen before (NULL).
 */
static struct nsc_stack *stack_find(struct nsc_stacks *s, const struct event *event)
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
    if (distance != UNREACHABLE && (s->count == 1 || stack_depth(current) > 0 ||
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

static struct nsc_stack *stack_select(struct nsc_stacks *s, const struct event *event)
{
    struct nsc_stack *st = stack_find(s, event);

    if (st == NULL)
        st = stack_add(s);
    return st != NULL ? st : s->current;
}

/* Makes the event's stack current and ready; returns when frames found dead on it ended. */
static uint64_t stack_arrive(struct nsc_stacks *s, const struct event *event)
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
    /* Inner calls do not count: most of them never come here. */
    if (st->low == 0 || (event->key < st->low && stack_depth(st) == 0))
        st->low = event->key;
    return dead_ticks;
}

/* ---- events that do not nest plainly --------------------------------------------------------- */

static void count_event(struct nsc_stacks *s, const struct nsc_stack *st)
{
    if (st->lane != NULL)
        s->stats.recorded++;
    else
        s->stats.dropped++;
}

/* One event is missing just here; what is open stays so. */
static void miss_event(struct nsc_stacks *s, uint64_t *count)
{
    ++*count;
    if (s->current->lane != NULL)
        nsc_lane_lost(s->current->lane, s->last_ticks, 1);
}

/*
 * Frames at the entry's own position. A real call there replaces them. A function inlined into its
 * caller shares the caller's position; only the same hook site again means that the frame of its
 * last run was left without an exit.
 */
static void close_equal(struct nsc_stack *st, const struct event *event,
                        const struct nsc_code *code, uint64_t dead_ticks)
{
    bool known = (code->flags & NSC_CODE_REAL_PC) != 0;
    bool real = (code->flags & NSC_CODE_HEADER) == 0 || (known && event->pc16 == code->real_pc16);
    uint32_t depth = stack_depth(st), i;

    for (i = depth; i > 0; i--) {
        const struct nsc_lane_frame *frame = stack_frame(st, i - 1);

        if (frame->position - event->key >= KEY_STEP)
            break;
        if (real || (frame->function == code->function &&
                     (!known || (frame->position & KEY_PC) == event->pc16)))
            depth = i - 1;
    }
    while (stack_depth(st) > depth)
        stack_unwind(st, dead_ticks);
}

static __attribute__((noinline)) void enter_slowly(struct nsc_stacks *s, const struct event *event,
                                                   const struct nsc_code *code)
{
    uint64_t dead_ticks = stack_arrive(s, event);
    struct nsc_stack *st = s->current;

    unwind_below(st, event->key, dead_ticks);
    close_equal(st, event, code, dead_ticks);
    stack_push(st, event->ticks, code->function, event->key | event->pc16);
    count_event(s, st);
}

/* The depth down to which an exit at @event closes frames, or UINT32_MAX if none of them matches.
 * Frames below the position are gone already. */
static uint32_t match_exit(struct nsc_stack *st, const struct event *event,
                           const struct nsc_code *code)
{
    uint32_t i;

    for (i = stack_depth(st); i > 0; i--) {
        const struct nsc_lane_frame *frame = stack_frame(st, i - 1);

        if (frame->position - event->key >= KEY_STEP)
            break;
        if ((code->flags & NSC_CODE_HEADER) == 0 || frame->function == code->function)
            return i - 1;
    }
    return UINT32_MAX;
}

static __attribute__((noinline)) void exit_slowly(struct nsc_stacks *s, const struct event *event,
                                                  const struct nsc_code *code)
{
    uint64_t dead_ticks = stack_arrive(s, event);
    struct nsc_stack *st = s->current;
    uint32_t depth;

    s->last_ticks = event->ticks;
    unwind_below(st, event->key, dead_ticks);
    depth = match_exit(st, event, code);
    if (depth != UINT32_MAX) {
        while (stack_depth(st) > depth + 1)
            stack_unwind(st, dead_ticks);
        stack_exit(st, event->ticks);
        count_event(s, st);
    } else if (stack_depth(st) == 0) {
        if (st->lane != NULL)
            nsc_lane_late_exit(st->lane, event->ticks, code->function);
        count_event(s, st);
    } else {
        /* Its entry is missing though its caller's is there. */
        miss_event(s, &s->stats.unmatched);
    }
}

/* @position: where the stack @to goes on, 0 if not known. Handlers may still run on the stack that
 * is left: knowing where the other one is keeps their calls from being taken for its first. */
static void switch_stacks(struct nsc_stacks *s, uint64_t from, uint64_t to, uint64_t position)
{
    struct nsc_stack *target = NULL;
    uint32_t i;

    if (from == to || to == 0)
        return;
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        if (st->name == to && st != s->current)
            target = st;
        else if (st->name == from)
            st->name = 0; /* the name passes to the stack that is left now */
    }
    if (from != 0)
        s->current->name = from;
    /* A context that nothing switched away from, entered for good (setcontext): it may well lie on
     * this very stack, like a longjmp. The next event's position will tell. */
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
}

/* A jump or an exception: every frame at or below @position is over, and its stack is the current
 * one from now on. Nothing to do on a stack that no event was seen of. */
static void leave_frames(struct nsc_stacks *s, uint64_t position, uint64_t ticks)
{
    struct event event = {.ticks = ticks, .key = position << KEY_SHIFT, .exit = true};
    struct nsc_stack *st = stack_find(s, &event);

    if (st == NULL || st->high == 0)
        return;
    if (ticks < s->last_ticks)
        event.ticks = s->last_ticks;
    stack_go(s, st, event.ticks, false);
    st->gone = false;
    unwind_below(st, event.key + KEY_STEP, event.ticks);
}

/* An escape record at slot @at; returns the number of slots it takes. */
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
            switch_stacks(s, payload, __atomic_load_n(&words[2 * at + 3], __ATOMIC_RELAXED),
                          slots >= 3 ? __atomic_load_n(&words[2 * at + 5], __ATOMIC_RELAXED) : 0);
        break;
    case NSC_LIVE_ESC_UNWIND:
        if (slots >= 2)
            leave_frames(s, payload, __atomic_load_n(&words[2 * at + 3], __ATOMIC_RELAXED));
        break;
    case NSC_LIVE_ESC_LOST:
        if (payload != 0) /* 0: a filler for a slot that was not needed */
            nsc_stacks_lost(s, s->last_ticks, payload);
        break;
    default: /* kinds that this recorder does not know, or not yet */
        break;
    }
    return slots;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Ticks of a header hook's event: its low 48 bits are right, and it is less than 2^47 from @near.
 */
static inline uint64_t restore_ticks(uint64_t word, uint64_t near)
{
    return near + (uint64_t)((int64_t)((word - near) << 16) >> 16);
}

static inline uint64_t ticks_at(const uint64_t *words, size_t at, uint64_t near, bool header)
{
    uint64_t ticks = __atomic_load_n(&words[2 * at + 1], __ATOMIC_RELAXED);

    return header ? restore_ticks(ticks, near) : ticks;
}

/* The whole position of an event, as a key. The upper 16 bits of the difference say how far it is
 * from the anchor, in steps of 8 bytes; positions and anchors are multiples of 8. */
static inline uint64_t position_key(uint64_t word, uint64_t anchor)
{
    uint64_t base = (anchor & ~7ull) << KEY_SHIFT, low = anchor >> 3 << 48;

    return base + ((uint64_t)((int64_t)(word - low) >> 48) << (KEY_SHIFT + 3));
}

/*
 * A signal handler that runs between the reservation of a slot and its time stamp gives the slots
 * after it earlier ticks: the outer event then happened before them. Returns the ticks it may have.
 */
static __attribute__((noinline)) uint64_t lower_ticks(const uint64_t *words, size_t at, size_t to,
                                                      uint64_t ticks, uint64_t near, bool header)
{
    unsigned budget = LOOKAHEAD_MAX;

    while (++at < to && budget-- > 0) {
        uint64_t word = __atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE);
        uint64_t next = ticks_at(words, at, near, header);

        if ((word & NSC_LIVE_ADDRESS_MASK) < NSC_LIVE_ESC_LIMIT) {
            at += (word >> 12) & 15;
            continue;
        }
        if (next >= ticks)
            break;
        ticks = next;
    }
    return ticks;
}

/* Is the event of this hook a plain call from the innermost frame, or its plain return? */
static inline bool nests(const struct nsc_lane_frame *top, uint64_t key)
{
    return (top->position - key - KEY_STEP) >> REACH_SHIFT == 0;
}

static inline bool returns(const struct nsc_lane_frame *top, uint64_t key,
                           const struct nsc_code *code)
{
    return top->position - key < KEY_STEP &&
           ((code->flags & NSC_CODE_HEADER) == 0 || top->function == code->function);
}

/* The plain cases on a stack whose calls are not kept; false: the event is not one of them. */
static inline __attribute__((always_inline)) bool run_dropped(struct nsc_stack *st, uint64_t ticks,
                                                              uint64_t key, uint64_t pc16,
                                                              bool exit,
                                                              const struct nsc_code *code)
{
    const struct nsc_lane_frame *top = st->depth > 0 ? &st->shadow[st->depth - 1] : NULL;

    if (top == NULL)
        return false;
    if (exit && returns(top, key, code))
        st->depth--;
    else if (!exit && st->depth < st->capacity && nests(top, key))
        st->shadow[st->depth++] = (struct nsc_lane_frame){
            .start_ticks = ticks, .position = key | pc16, .function = code->function};
    else
        return false;
    return true;
}

/* Any event that does not nest plainly on the current stack. */
static __attribute__((noinline)) void run_slowly(struct nsc_stacks *s, const struct event *event)
{
    struct nsc_code code = nsc_codes_find(s->codes, event->address, event->ticks);

    if (event->exit)
        exit_slowly(s, event, &code);
    else
        enter_slowly(s, event, &code);
}

/* A slot that holds no event: an escape record, or nothing. Returns the slots it takes, 0 = stop.
 */
static __attribute__((noinline)) size_t run_record(struct nsc_stacks *s, const uint64_t *words,
                                                   size_t at, size_t to, bool stop_at_hole)
{
    if (__atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE) != 0)
        return run_escape(s, words, at, to);
    if (stop_at_hole)
        return 0;
    miss_event(s, &s->stats.holes);
    return 1;
}

/* Is word 0 an escape record, or empty? (On x86-64 an exit bit makes a record look like an event:
 * no hook writes that.) */
static inline bool is_record(uint64_t word)
{
    return (uint32_t)(word >> 16) == 0;
}

/* What stays the same over a run of plain events. */
struct plain {
    const struct nsc_codes *codes;
    struct nsc_lane *lane;
    uint64_t exit_mask, address_mask, anchor;
    uint64_t low, high;  /* keys between which an outermost call is surely the current stack's */
    uint64_t until;      /* ticks until which the codes hold */
    const uint64_t *end; /* the last slot that may be read */
};

/* Is the event a plain call from outside, with nothing open? */
static inline bool begins(const struct plain *p, const struct nsc_lane_frame *top, uint64_t key)
{
    return top->position == NSC_LANE_NOWHERE && key - p->low <= p->high - p->low;
}

/* Is the event after this entry its own exit? */
static inline bool is_leaf(uint64_t entry, uint64_t next, uint64_t exit_mask, bool header)
{
    if (header)
        return (entry ^ next) == exit_mask;
    return (next & exit_mask) != 0 && (entry ^ next) >> 48 == 0 && !is_record(next);
}

/* The time of the slot at @slot. */
static inline uint64_t slot_ticks(const uint64_t *slot, uint64_t near, bool header)
{
    uint64_t ticks = __atomic_load_n(&slot[1], __ATOMIC_RELAXED);

    return header ? restore_ticks(ticks, near) : ticks;
}

/* Is the time of the next event not before @ticks, and do the codes hold for it? They do for
 * @ticks.
 */
static inline bool follows(const struct plain *p, uint64_t ticks, uint64_t next)
{
    return next - ticks < p->until - ticks;
}

/* An entry at @ticks, with the next event at @next. Returns the number of slots it takes, 0: it is
 * not plain. */
static inline __attribute__((always_inline)) size_t plain_entry(
    const struct plain *p, struct nsc_lane_run *run, const uint64_t *slot, uint64_t ticks,
    uint64_t next, const struct nsc_code *code, const bool header)
{
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_RELAXED);
    uint64_t next_word = __atomic_load_n(&slot[2], __ATOMIC_ACQUIRE);
    uint64_t key = position_key(word, p->anchor);

    if (__builtin_expect(!nests(run->top, key), 0) && !begins(p, run->top, key))
        return 0;
    if (is_leaf(word, next_word, p->exit_mask, header) && slot + 2 < p->end) {
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

/* The same for any event. */
static inline __attribute__((always_inline)) size_t plain_event(const struct plain *p,
                                                                struct nsc_lane_run *run,
                                                                const uint64_t *slot,
                                                                const bool header)
{
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);
    uint64_t ticks = slot_ticks(slot, run->last_ticks, header);
    uint64_t next = slot_ticks(slot + 2, ticks, header);
    bool exit = (word & p->exit_mask) != 0, own;
    const struct nsc_code *code = NULL;
    uint64_t key;

    if (__builtin_expect(!follows(p, ticks, next), 0))
        return 0;
    if (header || !exit) {
        code = nsc_codes_known(p->codes, word & p->address_mask);
        if (code == NULL || (header && (code->flags & NSC_CODE_LEFT_OUT) != 0))
            return 0;
    }
    if (!exit)
        return plain_entry(p, run, slot, ticks, next, code, header);
    key = position_key(word, p->anchor);
    own = header ? returns(run->top, key, code) : run->top->position - key < KEY_STEP;
    return own && !is_record(word) && nsc_lane_run_exit(p->lane, run, ticks) ? 1 : 0;
}

/*
 * Almost all events: plain calls and returns on the current stack, in order of time. Returns the
 * first slot that is anything else; the last one always is, as its successor is not known.
 * @header: as for run().
 */
static inline __attribute__((always_inline)) size_t run_plain(struct nsc_stacks *s,
                                                              const uint64_t *words, size_t from,
                                                              size_t to, const bool header)
{
    const struct nsc_stack *st = s->current;
    const struct plain p = {
        .codes = s->codes,
        .lane = st->lane,
        .low = st->high - st->low < REACH_BELOW ? st->low : st->high - REACH_BELOW,
        .high = st->high,
        .until = s->codes->until_ticks,
        .exit_mask = 1ull << s->exit_bit,
        .address_mask = NSC_LIVE_ADDRESS_MASK & ~(1ull << s->exit_bit),
        .anchor = s->anchor,
        .end = words + 2 * (to - 1),
    };
    const uint64_t *first = words + 2 * from, *slot = first, *end = p.end;
    struct nsc_lane_run run;
    uint64_t ticks = slot_ticks(first, s->near_ticks, header);
    size_t room, slots;

    if (p.lane == NULL || (room = nsc_lane_run_begin(p.lane, &run)) == 0 || ticks < s->last_ticks ||
        !nsc_lane_run_fits(&run, ticks) || !nsc_codes_hold(s->codes, ticks))
        return from;
    if ((size_t)(end - first) / 2 > room)
        end = first + 2 * room;
    for (; slot < end; slot += 2 * slots) {
        slots = plain_event(&p, &run, slot, header);
        if (__builtin_expect(slots == 0, 0))
            break;
    }
    if (slot > first)
        s->last_ticks = s->near_ticks = run.last_ticks;
    nsc_lane_run_end(p.lane, &run);
    s->stats.recorded += (size_t)(slot - first) / 2;
    return from + (size_t)(slot - first) / 2;
}

/* Asked for a new address, the codes may come upon a module that was loaded just now. If it is the
 * first one with the header hook, the event at hand is not what it was taken for. */
static inline bool is_late_header(struct nsc_codes *codes, uint64_t address, uint64_t ticks)
{
    if (nsc_codes_known(codes, address) == NULL)
        (void)nsc_codes_find(codes, address, ticks);
    return codes->by_function;
}

/*
 * Every event that is not plain, and all of them where run_plain() may not be used.
 * @by_function: look up the code of every event, exits too: needed by the header hook (equal
 * positions, ticks of 48 bits) and by filters that work here. Without it, stops where the codes
 * turn out to need it.
 * @keep: as in struct nsc_stacks.
 */
static inline __attribute__((always_inline)) size_t run(struct nsc_stacks *s, const uint64_t *words,
                                                        size_t from, size_t to, bool stop_at_hole,
                                                        const bool by_function, const bool keep)
{
    const uint64_t exit_mask = 1ull << s->exit_bit;
    size_t i, slots;

    for (i = from; i < to; i += slots) {
        uint64_t word, ticks, address, key, pc16 = 0;
        struct nsc_code code = {0};
        bool exit;

        if (keep)
            i = run_plain(s, words, i, to, by_function);
        word = __atomic_load_n(&words[2 * i], __ATOMIC_ACQUIRE);
        ticks = __atomic_load_n(&words[2 * i + 1], __ATOMIC_RELAXED);
        address = word & NSC_LIVE_ADDRESS_MASK & ~exit_mask;
        if (__builtin_expect(address < NSC_LIVE_ESC_LIMIT, 0)) {
            slots = run_record(s, words, i, to, stop_at_hole);
            if (slots == 0)
                break;
            continue;
        }
        if (keep && !by_function && is_late_header(s->codes, address, ticks))
            break;
        slots = 1;
        key = position_key(word, s->anchor);
        exit = (word & exit_mask) != 0;
        if (by_function) {
            uint64_t whole = restore_ticks(ticks, s->near_ticks);

            pc16 = (ticks - whole) >> 48;
            ticks = whole;
        }
        if (i + 1 < to &&
            __builtin_expect(ticks_at(words, i + 1, s->near_ticks, by_function) < ticks, 0))
            ticks = lower_ticks(words, i, to, ticks, s->near_ticks, by_function);
        if (__builtin_expect(ticks < s->last_ticks, 0)) {
            ticks = s->last_ticks;
            s->stats.clamped++;
        }
        s->last_ticks = s->near_ticks = ticks;

        if (by_function || !exit)
            code = nsc_codes_find(s->codes, address, ticks);
        if (by_function && (code.flags & NSC_CODE_LEFT_OUT) != 0)
            s->stats.left_out++;
        else if (!keep && run_dropped(s->current, ticks, key, pc16, exit, &code))
            s->stats.dropped++;
        else
            run_slowly(s, &(struct event){.ticks = ticks,
                                          .key = key,
                                          .address = address,
                                          .pc16 = (uint32_t)pc16,
                                          .exit = exit});
    }
    return i < to ? i : to;
}

void nsc_stacks_begin_chunk(struct nsc_stacks *s, uint64_t anchor, uint64_t open_ticks,
                            uint64_t lost_before)
{
    if (open_ticks > s->near_ticks)
        s->near_ticks = open_ticks;
    if (lost_before != 0)
        nsc_stacks_lost(s, open_ticks, lost_before);
    s->anchor = anchor;
}

__attribute__((flatten)) size_t nsc_stacks_run(struct nsc_stacks *s, const uint64_t *words,
                                               size_t from, size_t to, bool stop_at_hole)
{
    if (s->keep && !s->codes->by_function) {
        from = run(s, words, from, to, stop_at_hole, false, true);
        if (!s->codes->by_function)
            return from;
    }
    if (s->keep)
        return run(s, words, from, to, stop_at_hole, true, true);
    return s->codes->by_function ? run(s, words, from, to, stop_at_hole, true, false)
                                 : run(s, words, from, to, stop_at_hole, false, false);
}

void nsc_stacks_lost(struct nsc_stacks *s, uint64_t ticks, uint64_t events)
{
    uint32_t i;

    if (ticks < s->last_ticks)
        ticks = s->last_ticks;
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        unwind_below(st, UINT64_MAX, st == s->current ? s->last_ticks : st->left_ticks);
        st->gone = false;
    }
    s->stats.lost += events;
    if (!s->keep)
        return;
    if (s->current->lane == NULL &&
        s->open_lane(s->context, s->current->number, ticks, &s->current->lane) != 0)
        return;
    nsc_lane_lost(s->current->lane, ticks, events);
}

void nsc_stacks_keep(struct nsc_stacks *s)
{
    uint32_t i, frame, open = 0;
    uint64_t lost;

    if (s->keep)
        return;
    s->keep = true;
    for (i = 0; i < s->count; i++)
        open += s->stacks[i]->depth;
    s->stats.cut = s->stats.dropped - open;
    s->stats.recorded = open;
    s->stats.dropped = 0;
    lost = nsc_stacks_lost_total(s);
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];
        struct nsc_lane *lane;
        uint64_t start = st->depth > 0 ? st->shadow[0].start_ticks : s->last_ticks;

        if (st->depth == 0 && (st != s->current || lost == 0))
            continue;
        if (s->open_lane(s->context, st->number, start, &lane) != 0)
            continue;
        if (st == s->current && lost > 0)
            nsc_lane_lost(lane, start, lost);
        for (frame = 0; frame < st->depth; frame++)
            nsc_lane_enter(lane, st->shadow[frame].start_ticks, st->shadow[frame].function,
                           st->shadow[frame].position);
        st->lane = lane;
    }
}

void nsc_stacks_close(struct nsc_stacks *s, uint64_t ticks)
{
    uint32_t i;

    if (ticks < s->last_ticks)
        ticks = s->last_ticks;
    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];

        if (st->lane == NULL)
            continue;
        nsc_lane_close(st->lane, st->gone ? st->left_ticks : ticks);
        st->lane = NULL;
        st->depth = 0;
    }
}
