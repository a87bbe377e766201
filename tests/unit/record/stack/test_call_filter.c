/*
 * test_call_filter.c - the rules for calls against their definition: simulated threads know their
 * whole call tree; what the rules make of the events must be that tree, filtered afterwards.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "abi/live.h"
#include "tap.h"
#include "unit/rigs/lane_log.h"

/* The sources themselves, over those lanes. */
#include "record/stack/call_filter.c"
#include "record/stack/disabled_calls.c"
#include "record/stack/disabled_functions.c"
#include "record/stack/event_loop.c"
#include "record/stack/fast_path.c"
#include "record/stack/filter_change.c"
#include "record/stack/open_frames.c"
#include "record/stack/stack.c"
#include "unit/rigs/thread_rig.h"

enum { FUNCTIONS = 64, CALLS_MAX = 8192 };

/* ---- The definition -------------------------------------------------------------------------- */

/* A call of the truth. */
struct known_call {
    uint64_t start_ticks, end_ticks;
    uint32_t reason;   /* why it is not wanted; 0: it is */
    uint32_t end_kind; /* EXIT, UNWIND */
    size_t end;        /* index of its end in the truth; its count if it stays open */
    bool under, stops;
    bool written; /* whatever its duration: a change of the rules found it in the trace */
};

struct definition {
    const struct rig *rig;
    const struct nsc_filter_rules *rules;
    struct known_call calls[CALLS_MAX];
    uint32_t count;
    uint32_t open[LANES][DEPTH_MAX + 1], depth[LANES];
    bool recording;
    uint32_t trigger_calls;
    uint64_t since_ticks;
    struct log want;                         /* in any order of lanes */
    uint64_t left_out[NSC_LEFT_OUT_REASONS]; /* events */
};

static bool thread_wanted[2];

static bool is_wanted(void *context, const struct nsc_filter_rules *rules)
{
    (void)context;
    return thread_wanted[rules->since_ticks != 0];
}

static uint32_t roles_of(void *context, const struct nsc_filter_rules *rules, uint32_t function)
{
    struct rig *rig = context;

    return rig->flags[rules->since_ticks != 0][function] & NSC_CODE_ROLES;
}

static uint32_t flags_of(const struct definition *d, uint32_t function)
{
    return d->rig->flags[d->rules->since_ticks != 0][function];
}

static void begin(struct definition *d, const struct nsc_filter_rules *rules)
{
    d->rules = rules;
    d->recording = !rules->trigger;
    d->trigger_calls = 0;
}

/* What is open and written goes on, the rest is out. */
static void turn(struct definition *d)
{
    const struct nsc_filter_rules *old = d->rules;
    uint32_t lane, i;

    begin(d, old->next);
    for (lane = 0; lane < LANES; lane++) {
        bool under = false;

        for (i = 0; i < d->depth[lane]; i++) {
            struct known_call *call = &d->calls[d->open[lane][i]];

            if (call->reason == 0 && !call->written) {
                if (old->until_ticks - call->start_ticks >= old->min_ticks)
                    call->written = true;
                else
                    call->reason = NSC_LEFT_OUT_SHORT;
            }
            under |= (flags_of(d, (uint32_t)call->end) & NSC_CODE_CALLER) != 0;
            call->under = under;
            call->stops = (flags_of(d, (uint32_t)call->end) & NSC_CODE_STOPPER) != 0;
        }
    }
}

static uint32_t judge(struct definition *d, uint32_t lane, uint32_t flags, bool under)
{
    uint32_t i, wanted = 0;

    for (i = 0; i < d->depth[lane]; i++)
        wanted += d->calls[d->open[lane][i]].reason == 0;
    return (flags & NSC_CODE_LEFT_OUT) != 0             ? NSC_LEFT_OUT_FILTER
           : !thread_wanted[d->rules->since_ticks != 0] ? NSC_LEFT_OUT_THREAD
           : !d->recording                              ? NSC_LEFT_OUT_TRIGGER
           : d->rules->under && !under                  ? NSC_LEFT_OUT_UNDER
           : wanted >= d->rules->depth                  ? NSC_LEFT_OUT_DEPTH
                                                        : 0;
}

static void define_entry(struct definition *d, const struct entry *e)
{
    uint32_t flags = flags_of(d, e->function), *depth = &d->depth[e->lane];
    struct known_call *call = &d->calls[d->count];

    /* Until it ends, `end` holds the function. */
    *call = (struct known_call){.start_ticks = e->ticks, .end = e->function};
    if ((flags & NSC_CODE_TRIGGER) != 0) {
        d->trigger_calls++;
        if (!d->recording && (d->rules->nth == 0 || d->trigger_calls == d->rules->nth)) {
            d->recording = true;
            call->stops = !d->rules->stopper;
        }
    }
    call->stops |= (flags & NSC_CODE_STOPPER) != 0;
    call->under = (flags & NSC_CODE_CALLER) != 0 ||
                  (*depth > 0 && d->calls[d->open[e->lane][*depth - 1]].under);
    call->reason = judge(d, e->lane, flags, call->under);
    d->open[e->lane][(*depth)++] = d->count++;
}

static void define_end(struct definition *d, uint32_t lane, uint64_t ticks, uint32_t kind,
                       size_t index)
{
    struct known_call *call = &d->calls[d->open[lane][--d->depth[lane]]];

    call->end_ticks = ticks;
    call->end_kind = kind;
    call->end = index;
    if (call->stops && d->rules->trigger)
        d->recording = false;
    if (call->reason == 0 && !call->written && ticks - call->start_ticks < d->rules->min_ticks)
        call->reason = NSC_LEFT_OUT_SHORT;
    if (call->reason != 0)
        d->left_out[call->reason] += kind == EXIT ? 2 : 1;
}

static bool late_wanted(struct definition *d, const struct entry *e)
{
    uint32_t flags = flags_of(d, e->function);
    uint32_t reason = (flags & NSC_CODE_LEFT_OUT) != 0                  ? NSC_LEFT_OUT_FILTER
                      : !thread_wanted[d->rules->since_ticks != 0]      ? NSC_LEFT_OUT_THREAD
                      : d->rules->trigger                               ? NSC_LEFT_OUT_TRIGGER
                      : d->rules->under                                 ? NSC_LEFT_OUT_UNDER
                      : e->ticks - d->since_ticks < d->rules->min_ticks ? NSC_LEFT_OUT_SHORT
                                                                        : 0;

    d->left_out[reason] += reason != 0;
    return reason == 0;
}

/* First all calls, then the events of those that are wanted. @from: index in the truth from which
 * on ends are kept (ring). */
static void define(struct definition *d, const struct log *truth, uint64_t end_ticks, size_t from)
{
    bool *late = calloc(truth->count, sizeof *late);
    size_t i;
    uint32_t lane, next = 0;

    for (i = 0; i < truth->count; i++) {
        const struct entry *e = &truth->entries[i];

        while (e->ticks >= d->rules->until_ticks && d->rules->next != NULL && e->kind != LOST)
            turn(d);
        if (e->kind == ENTER)
            define_entry(d, e);
        else if (e->kind == LATE)
            late[i] = late_wanted(d, e);
        else if (e->kind == LOST)
            d->since_ticks = e->ticks;
        else
            define_end(d, e->lane, e->ticks, e->kind, i);
    }
    while (end_ticks >= d->rules->until_ticks && d->rules->next != NULL)
        turn(d);
    for (lane = 0; lane < LANES; lane++)
        while (d->depth[lane] > 0) {
            uint32_t number = d->open[lane][d->depth[lane] - 1];

            log_add(&d->want, UNWIND, lane, end_ticks, (uint32_t)d->calls[number].end, number);
            define_end(d, lane, end_ticks, UNWIND, truth->count);
            if (d->calls[number].reason != 0)
                d->want.count--;
        }
    /* What has just been added stands behind all else. */
    for (i = 0; i < truth->count; i++) {
        const struct entry *e = &truth->entries[i];
        const struct known_call *call;

        if (e->kind == LATE && late[i] && i >= from)
            log_add(&d->want, LATE, e->lane, e->ticks, e->function, 0);
        if (e->kind != ENTER)
            continue;
        call = &d->calls[next++];
        if (call->reason != 0 || call->end < from)
            continue;
        log_add(&d->want, ENTER, e->lane, e->ticks, e->function, 0);
        if (call->end < truth->count)
            log_add(&d->want, call->end_kind, e->lane, call->end_ticks, e->function, 0);
    }
    free(late);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    if (x->kind != y->kind) /* of one time: ends, then the entry or exit that showed them */
        return x->kind == UNWIND ? -1 : y->kind == UNWIND ? 1 : x->kind < y->kind ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

/* Times of a lane must not run backwards, and its calls must nest. */
static bool is_sound(const struct log *log)
{
    uint64_t last[LANES] = {0};
    uint32_t depth[LANES] = {0};
    size_t i;

    for (i = 0; i < log->count; i++) {
        const struct entry *e = &log->entries[i];

        if (e->kind == CLOSE)
            continue;
        if (e->ticks < last[e->lane] || (e->kind == LATE && depth[e->lane] != 0)) {
            printf("# entry %zu of lane %u: kind %u at %llu after %llu\n", i, e->lane, e->kind,
                   (unsigned long long)e->ticks, (unsigned long long)last[e->lane]);
            return false;
        }
        last[e->lane] = e->ticks;
        depth[e->lane] += e->kind == ENTER;
        depth[e->lane] -= e->kind == EXIT || e->kind == UNWIND;
    }
    return true;
}

static void keep_calls(struct log *log)
{
    size_t from, to = 0;

    for (from = 0; from < log->count; from++)
        if (log->entries[from].kind != LOST && log->entries[from].kind != CLOSE)
            log->entries[to++] = log->entries[from];
    log->count = to;
    if (to > 0)
        qsort(log->entries, to, sizeof *log->entries, compare_entries);
}

static bool same(struct log *got, struct log *want, unsigned seed)
{
    size_t i;

    keep_calls(got);
    keep_calls(want);
    for (i = 0; i < want->count && i < got->count; i++) {
        const struct entry *g = &got->entries[i], *w = &want->entries[i];

        if (g->kind == w->kind && g->ticks == w->ticks && g->lane == w->lane &&
            g->function == w->function)
            continue;
        printf("# seed %u, entry %zu: want kind %u function %u ticks %llu lane %u, got kind %u "
               "function %u ticks %llu lane %u\n",
               seed, i, w->kind, w->function, (unsigned long long)w->ticks, w->lane, g->kind,
               g->function, (unsigned long long)g->ticks, g->lane);
        return false;
    }
    if (got->count != want->count)
        printf("# seed %u: %zu entries, want %zu\n", seed, got->count, want->count);
    return got->count == want->count;
}

/* ---- Simulation ------------------------------------------------------------------------------ */

struct setting {
    bool header, fibres;
    bool ring; /* calls are kept only from some point on */
    bool late; /* the rules come while the thread runs */
};

/* A sixth of the functions each. */
static void choose_flags(struct thread *t, uint16_t flags[FUNCTIONS], uint32_t marks)
{
    uint32_t i;

    memset(flags, 0, FUNCTIONS * sizeof *flags);
    for (i = 0; i < FUNCTIONS; i++)
        if (draw(t, 6) == 0)
            flags[i] = (uint16_t)(marks & (uint32_t)1 << draw(t, 6));
}

static void choose_rules(struct thread *t, struct nsc_filter_rules *rules,
                         uint16_t flags[FUNCTIONS])
{
    *rules = (struct nsc_filter_rules){.until_ticks = UINT64_MAX, .depth = UINT32_MAX};
    rules->trigger = draw(t, 3) == 0;
    rules->stopper = rules->trigger && draw(t, 2) == 0;
    rules->nth = draw(t, 2) * draw(t, 9);
    rules->under = draw(t, 3) == 0;
    if (draw(t, 3) == 0)
        rules->depth = 1 + draw(t, 6);
    if (draw(t, 2) == 0)
        rules->min_ticks = 1 + draw(t, draw(t, 2) == 0 ? 10 : 400);
    choose_flags(t, flags,
                 NSC_CODE_LEFT_OUT | (rules->trigger ? NSC_CODE_TRIGGER : 0) |
                     (rules->stopper ? NSC_CODE_STOPPER : 0) |
                     (rules->under ? NSC_CODE_CALLER : 0));
}

static void step(struct thread *t, const struct setting *setting)
{
    uint32_t what = draw(t, 1000);

    if (what < 480)
        call(t, setting->header && draw(t, 3) == 0);
    else if (what < 940)
        leave(t);
    else if (what < 970) {
        leave(t);
        call(t, false);
    } else if (what < 980)
        jump(t);
    else if (what < 990)
        announced_jump(t);
    else if (setting->fibres)
        hop(t);
    else if (what < 993)
        gap(t);
}

static uint64_t sum_left_out(const uint64_t left_out[NSC_LEFT_OUT_REASONS])
{
    uint64_t sum = 0;

    for (size_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        sum += left_out[i];
    return sum;
}

static void begin_thread(struct thread *t, unsigned seed, const struct setting *setting,
                         const struct nsc_filter_rules *rules)
{
    t->ticks = setting->header ? (uint64_t)seed << 40 | 1000 : 1000;
    t->anchor = TOP;
    t->lanes = 1;
    t->fibres[0].used = true;
    rig_begin(&t->rig, setting->header, !setting->ring);
    nsc_stacks_free(&t->rig.stacks);
    t->rig.stacks.rules = setting->late ? NULL : rules;
    t->rig.stacks.is_wanted = is_wanted;
    t->rig.stacks.roles = roles_of;
    nsc_stacks_init(&t->rig.stacks);
    t->rig.codes.until_ticks = 0;
    nsc_stacks_begin_chunk(&t->rig.stacks, t->anchor, t->ticks);
}

static bool simulate(unsigned seed, const struct setting *setting)
{
    static struct thread t;
    static struct definition d;
    static struct nsc_filter_rules rules[2];
    static uint16_t flags[2][FUNCTIONS];
    uint32_t op, ops, keep_at, sift_at;
    size_t from = 0;
    bool good;

    memset(&t, 0, sizeof t);
    memset(&d, 0, sizeof d);
    t.seed = seed * 0x9e3779b97f4a7c15ull + 1;
    choose_rules(&t, &rules[0], flags[0]);
    choose_rules(&t, &rules[1], flags[1]);
    if (setting->late) {
        rules[0] = (struct nsc_filter_rules){.until_ticks = UINT64_MAX, .depth = UINT32_MAX};
        memset(flags[0], 0, sizeof flags[0]);
    }
    thread_wanted[0] = setting->late || draw(&t, 20) > 0;
    thread_wanted[1] = draw(&t, 20) > 0;
    begin_thread(&t, seed, setting, &rules[0]);
    t.rig.change = UINT64_MAX;
    t.rig.flags[0] = flags[0];
    t.rig.flags[1] = flags[1];
    ops = 1 + draw(&t, OPS);
    if (setting->late || draw(&t, 2) == 0) {
        t.rig.change = t.ticks + ops / 2;
        rules[0].until_ticks = rules[1].since_ticks = t.rig.change;
        rules[0].next = &rules[1];
    }
    d.rig = &t.rig;
    d.since_ticks = t.ticks;
    begin(&d, &rules[0]);
    keep_at = setting->ring ? draw(&t, ops) : UINT32_MAX;
    sift_at = setting->late ? draw(&t, ops / 3 + 1) : UINT32_MAX;
    for (op = 0; op < ops; op++) {
        if (op == keep_at) {
            flush(&t);
            nsc_stacks_keep(&t.rig.stacks);
            from = t.truth.count;
        }
        if (op == sift_at)
            nsc_stacks_sift(&t.rig.stacks, &rules[0]);
        step(&t, setting);
    }
    flush(&t);
    nsc_stacks_close(&t.rig.stacks, t.ticks + 7);
    define(&d, &t.truth, t.ticks + 7, from);
    good = is_sound(&t.rig.log);
    good = same(&t.rig.log, &d.want, seed) && good;
    if (memcmp(d.left_out, t.rig.stacks.stats.left_out, sizeof d.left_out) != 0) {
        good = false;
        for (op = 0; op < NSC_LEFT_OUT_REASONS; op++)
            printf("# seed %u: reason %u: %llu events, want %llu\n", seed, op,
                   (unsigned long long)t.rig.stacks.stats.left_out[op],
                   (unsigned long long)d.left_out[op]);
    }
    if (t.rig.stacks.stats.recorded + nsc_stacks_lost_total(&t.rig.stacks) +
            sum_left_out(d.left_out) !=
        t.emitted) {
        printf("# seed %u: not every event is accounted for\n", seed);
        good = false;
    }
    free(d.want.entries);
    free(t.truth.entries);
    rig_end(&t.rig);
    return good;
}

static void test_simulated(const struct setting *setting, const char *what)
{
    unsigned seed, wrong = 0;

    for (seed = 1; seed <= 1500 && wrong < 5; seed++)
        wrong += !simulate(seed, setting);
    t_report_u64(wrong, 0, __FILE__, __LINE__, what);
}

int main(void)
{
    test_simulated(&(struct setting){0}, "sleds: 1500 simulated threads");
    test_simulated(&(struct setting){.header = true}, "header hook");
    test_simulated(&(struct setting){.fibres = true}, "sleds with coroutines");
    test_simulated(&(struct setting){.header = true, .fibres = true},
                   "header hook with coroutines");
    test_simulated(&(struct setting){.ring = true}, "a ring");
    test_simulated(&(struct setting){.header = true, .fibres = true, .ring = true},
                   "a ring, header hook with coroutines");
    test_simulated(&(struct setting){.late = true}, "rules that come while the thread runs");
    test_simulated(&(struct setting){.late = true, .header = true, .fibres = true},
                   "rules that come late, header hook with coroutines");
    return t_done();
}
