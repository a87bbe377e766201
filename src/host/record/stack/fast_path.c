/*
 * fast_path.c - see fast_path.h. About 45 instructions per event, including the work of the lane.
 * Each loop is a function of its own, so that all values that change with every event fit into
 * registers.
 */
#include "record/stack/fast_path.h"

#define X86_EXIT (1ull << 47)

/* A slot, read once. */
struct seen {
    uint64_t word, ticks;
};

static inline struct seen see(const uint64_t *slot)
{
    uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);

    return (struct seen){word, __atomic_load_n(&slot[1], __ATOMIC_RELAXED)};
}

/* Return the code at an entry's address if the entry is a plain call; else NULL. */
static inline __attribute__((always_inline)) const struct nsc_code *plain_code(
    const struct nsc_plain *p, const struct nsc_codes *codes, const struct nsc_lane_run *run,
    uint64_t word, uint64_t key)
{
    const struct nsc_code *code = nsc_codes_known(codes, word & NSC_LIVE_ADDRESS_MASK);

    if (code == NULL || (__builtin_expect(!nests(run->top, key), 0) && !begins(p, run->top, key)))
        return NULL;
    return code;
}

static inline __attribute__((always_inline)) bool plain_exit(const struct nsc_lane_run *run,
                                                             uint64_t word, uint64_t key,
                                                             const uint64_t exit_mask)
{
    return run->top->position - key < KEY_STEP && !is_exit_record(word, exit_mask);
}

/* The loop if all events are timed. */
static inline __attribute__((always_inline)) const uint64_t *timed(const struct nsc_plain *p,
                                                                   struct nsc_lane_run *run,
                                                                   const uint64_t *slot,
                                                                   const uint64_t *end,
                                                                   const uint64_t exit_mask)
{
    const uint64_t part = ~NSC_LIVE_ADDRESS_MASK | exit_mask;
    const struct nsc_codes codes = {.slots = p->codes->slots, .shift = p->codes->shift};
    struct seen now = see(slot), next, after;
    uint64_t delta = now.ticks - run->last_ticks, key;

    if (!nsc_lane_is_short(p->lane, delta))
        return slot;
    for (; slot < end; delta = next.ticks - now.ticks, now = next, slot += 2) {
        const struct nsc_code *code;

        next = see(slot + 2);
        if (!nsc_lane_is_short(p->lane, next.ticks - now.ticks))
            break;
        key = position_key(now.word, p->anchor);
        if ((now.word & exit_mask) != 0) {
            if (!plain_exit(run, now.word, key, exit_mask))
                break;
            nsc_lane_run_short_exit(p->lane, run, delta);
            continue;
        }
        code = plain_code(p, &codes, run, now.word, key);
        if (code == NULL)
            break;
        if (((now.word ^ next.word) & part) != exit_mask) {
            if (!nsc_lane_run_short_enter(p->lane, run, delta, code->function, code->coded, key))
                break;
            continue;
        }
        after = see(slot + 4);
        if (!nsc_lane_is_short(p->lane, after.ticks - next.ticks) ||
            is_exit_record(next.word, exit_mask) ||
            !nsc_lane_run_short_leaf(p->lane, run, delta, next.ticks - now.ticks, code->function,
                                     code->coded))
            break;
        slot += 2;
        now = next;
        next = after;
    }
    return slot;
}

/* Return the time of the next timed event after @slot; 0: not known. */
static inline __attribute__((always_inline)) uint64_t next_time(const struct nsc_plain *p,
                                                                const uint64_t *slot,
                                                                struct seen next,
                                                                const uint64_t exit_mask)
{
    if ((next.word & exit_mask) != 0 || is_record(next.word)) {
        slot = next_timed(slot + 2, p->end + 2, exit_mask);
        return slot != NULL ? see(slot).ticks & ~NSC_LIVE_TICKS_RETURNED : 0;
    }
    return next.ticks & ~NSC_LIVE_TICKS_RETURNED;
}

/* Return true if @delta is short in a lane that omits nothing. */
static inline bool is_short(uint64_t delta)
{
    return __builtin_expect(delta < NSC_LANE_DELTA_SHORT, 1);
}

/* The loop if only entries are timed, and some mark their calls as returned. Then many pairs of
 * consecutive events have equal ticks, so such a lane omits nothing. */
static inline __attribute__((always_inline)) const uint64_t *marked(
    const struct nsc_plain *p, struct nsc_lane_run *run, const uint64_t *slot, const uint64_t *end,
    size_t *spare, uint64_t *coming, const uint64_t exit_mask)
{
    const struct nsc_codes codes = {.slots = p->codes->slots, .shift = p->codes->shift};
    struct seen now = see(slot), next;
    uint64_t until = *coming, calls = 0, key, ticks, delta;

    for (; slot < end; now = next, slot += 2) {
        const struct nsc_code *code;

        next = see(slot + 2);
        key = position_key(now.word, p->anchor);
        if ((now.word & exit_mask) != 0) {
            if (until == 0)
                until = next_time(p, slot, next, exit_mask);
            delta = until - run->last_ticks;
            if (now.ticks != 0 || !is_short(delta) || !plain_exit(run, now.word, key, exit_mask))
                break;
            nsc_lane_run_short_exit(p->lane, run, delta);
            continue;
        }
        until = 0;
        ticks = now.ticks & ~NSC_LIVE_TICKS_RETURNED;
        delta = ticks - run->last_ticks;
        code = plain_code(p, &codes, run, now.word, key);
        if (code == NULL || !is_short(delta) ||
            (next.ticks != 0 && !is_short((next.ticks & ~NSC_LIVE_TICKS_RETURNED) - ticks)))
            break;
        if (now.ticks == ticks) {
            if (!nsc_lane_run_short_enter(p->lane, run, delta, code->function, code->coded, key))
                break;
            continue;
        }
        until = next_time(p, slot, next, exit_mask);
        if (!is_short(until - ticks) || is_record(next.word) ||
            !nsc_lane_run_short_leaf(p->lane, run, delta, until - ticks, code->function,
                                     code->coded))
            break;
        calls++;
    }
    *spare -= calls;
    *coming = until;
    return slot;
}

static __attribute__((noinline, flatten)) const uint64_t *run_timed(const struct nsc_plain *p,
                                                                    struct nsc_lane_run *run,
                                                                    const uint64_t *slot,
                                                                    const uint64_t *end)
{
    const struct nsc_plain plain = *p;
    struct nsc_lane_run here = *run;

    slot = timed(&plain, &here, slot, end, X86_EXIT);
    *run = here;
    return slot;
}

static __attribute__((noinline, flatten)) const uint64_t *run_timed_other(const struct nsc_plain *p,
                                                                          struct nsc_lane_run *run,
                                                                          const uint64_t *slot,
                                                                          const uint64_t *end)
{
    const struct nsc_plain plain = *p;
    struct nsc_lane_run here = *run;

    slot = timed(&plain, &here, slot, end, plain.exit_mask);
    *run = here;
    return slot;
}

static __attribute__((noinline, flatten)) const uint64_t *run_marked(
    const struct nsc_plain *p, struct nsc_lane_run *run, const uint64_t *slot, const uint64_t *end,
    size_t *spare, uint64_t *coming)
{
    const struct nsc_plain plain = *p;
    struct nsc_lane_run here = *run;

    slot = marked(&plain, &here, slot, end, spare, coming, X86_EXIT);
    *run = here;
    return slot;
}

const uint64_t *nsc_fast_path_run(const struct nsc_plain *p, struct nsc_lane_run *run,
                                  const uint64_t *slot, const uint64_t *end, size_t *spare,
                                  uint64_t *coming)
{
    size_t most = (size_t)(end - slot) + 4; /* number of times, two per slot */

    /* Two slots after the last one are read, and the codes must be valid for all of them. */
    if (p->end - slot <= 2 || p->until - run->last_ticks <= most * NSC_LANE_SHORT_MAX)
        return slot;
    if (end > p->end - 2)
        end = p->end - 2;
    if (!p->marked)
        return p->exit_mask == X86_EXIT ? run_timed(p, run, slot, end)
                                        : run_timed_other(p, run, slot, end);
    if (p->exit_mask != X86_EXIT || nsc_lane_leaves_out(p->lane))
        return slot;
    return run_marked(p, run, slot, end, spare, coming);
}
