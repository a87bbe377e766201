/* rate_estimate.c - see rate_estimate.h. */
#include "record/budget/rate_estimate.h"

#include "record/session/clock_reading.h"
#include "record/stack/event_word.h"
#include "util/search.h"

enum {
    SLOTS_MAX = 1024, /* slots read per thread */
    SLOTS_MIN = 64,   /* with fewer slots there is no estimate */
    THREADS_MAX = 16, /* threads read */
};

/* The newest chunk of a thread. */
struct newest {
    struct nsc_tracee_thread *thread;
    uint32_t seq, chunk;
    bool owned; /* the thread still writes to it */
};

struct look {
    const struct nsc_record_session *session;
    uint64_t now; /* ticks */
    double ticks_a_ns;
    void (*saw)(void *context, uint32_t function, double rate);
    void *context;
};

static struct nsc_tracee_thread *thread_of(const struct nsc_tracees *all, uint64_t state)
{
    uint32_t slot = NSC_LIVE_CHUNK_THREAD(state);
    struct nsc_tracee_thread *t = slot < all->thread_high ? all->threads[slot] : NULL;

    return t != NULL && !t->dead && !t->process->left_out ? t : NULL;
}

/* Finds the newest chunk of each of the first threads that have any; returns their number. */
static uint32_t find_newest(const struct nsc_tracees *all, struct newest *newest)
{
    const struct nsc_record_session *s = all->session;
    uint32_t i, k, count = 0;

    for (i = 0; i < s->chunk_count; i++) {
        uint64_t state = __atomic_load_n(&s->chunks[i].state, __ATOMIC_ACQUIRE);
        struct nsc_tracee_thread *t = NULL;

        if (state != 0 && NSC_LIVE_CHUNK_PHASE(state) != NSC_LIVE_CHUNK_TAKEN)
            t = thread_of(all, state);

        if (t == NULL)
            continue;
        for (k = 0; k < count && newest[k].thread != t; k++)
            ;
        if (k == THREADS_MAX || (k < count && newest[k].seq >= NSC_LIVE_CHUNK_SEQ(state)))
            continue;
        newest[k] = (struct newest){.thread = t,
                                    .seq = NSC_LIVE_CHUNK_SEQ(state),
                                    .chunk = i,
                                    .owned = NSC_LIVE_CHUNK_PHASE(state) == NSC_LIVE_CHUNK_OWNED};
        count += k == count;
    }
    return count;
}

/* Returns the number of used slots, by binary search: slots are used in order. */
static uint32_t slots_used(const uint64_t *words, uint32_t slots)
{
    return NSC_PARTITION_POINT(i, slots,
                               __atomic_load_n(&words[2 * (size_t)i], __ATOMIC_ACQUIRE) != 0);
}

/* Returns the ticks from the slot @at to @end, or to the present time if the thread still writes to
 * the chunk; 0: unknown. */
static uint64_t span(const struct look *look, const uint64_t *at, const uint64_t *end, bool owned)
{
    uint64_t exit_mask = 1ull << look->session->exit_bit, first, last = look->now;
    const uint64_t *from = next_timed(at, end, exit_mask), *to = NULL;

    if (from == NULL)
        return 0;
    /* With every kind of hook, the low 48 bits are ticks. */
    first = restore_ticks(__atomic_load_n(&from[1], __ATOMIC_RELAXED), look->now);
    for (at = end - 2; !owned && to == NULL && at > from; at -= 2)
        to = next_timed(at, end, exit_mask);
    if (to != NULL)
        last = restore_ticks(__atomic_load_n(&to[1], __ATOMIC_RELAXED), look->now);
    return last > first ? last - first : 0;
}

/* Reports the newest entries of a thread; returns its calls per ns. */
static double look_at(const struct look *look, const struct newest *n)
{
    const struct nsc_record_session *s = look->session;
    const uint64_t *words = nsc_session_chunk_words(s, n->chunk), *at, *end;
    uint64_t exit_mask = 1ull << s->exit_bit, ticks;
    uint32_t used, calls = 0;
    double one;

    if (nsc_session_is_sparse(s, n->chunk))
        return 0; /* reading would allocate pages */
    used = slots_used(words, s->chunk_bytes / 16);
    if (used < SLOTS_MIN)
        return 0;
    end = words + 2 * (size_t)used;
    at = end - 2 * (size_t)(used < SLOTS_MAX ? used : SLOTS_MAX);
    ticks = span(look, at, end, n->owned);
    if (ticks == 0)
        return 0;
    one = look->ticks_a_ns / (double)ticks;
    for (; at < end; at += 2) {
        uint64_t word = __atomic_load_n(&at[0], __ATOMIC_ACQUIRE);
        uint64_t address = word & NSC_LIVE_ADDRESS_MASK;

        if (word == 0 || (word & exit_mask) != 0)
            continue;
        if (is_record(word)) {
            at += 2 * ((word >> 12) & 15);
            continue;
        }
        look->saw(look->context,
                  nsc_codes_find(&n->thread->process->space.codes, address, look->now).function,
                  one);
        calls++;
    }
    return calls * one;
}

struct nsc_rate_estimate nsc_rate_estimate_look(struct nsc_tracees *all, double ticks_a_ns,
                                                void (*saw)(void *context, uint32_t function,
                                                            double rate),
                                                void *context)
{
    struct look look = {.session = all->session,
                        .now = nsc_clock_reading_ticks(),
                        .ticks_a_ns = ticks_a_ns,
                        .saw = saw,
                        .context = context};
    struct nsc_rate_estimate glance = {0};
    struct newest newest[THREADS_MAX];
    uint32_t count = find_newest(all, newest), i;

    for (i = 0; i < count; i++) {
        double calls = look_at(&look, &newest[i]);

        glance.calls += calls;
        glance.threads += calls > 0;
    }
    return glance;
}
