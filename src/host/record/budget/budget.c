/* budget.c - see budget.h. */
#include "record/budget/budget.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "record/budget/rate_estimate.h"
#include "record/session/clock_reading.h"
#include "record/switch/hook_switch.h"
#include "record/switch/switch_notice.h"
#include "trace/write/writer.h"
#include "util/array.h"
#include "util/now.h"

#define MS 1000000ull

#define NO_INDEX    UINT32_MAX
/* A step takes about 50 us of the recorder's time. */
#define STEP_MIN_NS (MS / 5)
#define STEP_MAX_NS (5 * MS)
/* Time between quick estimates during a long drain. */
#define HURRY_NS    (MS / 4)
/* Steps may take this fraction (1/n) of the recorder's time. */
#define LOOK_PART   4
#define STEADY_NS   (100.0 * MS)
/* A program that waits for a processor gets fewer steps, down to this limit. */
#define BUSY_MIN    0.25
/* Cost of an event, in ns, besides reading the timer. It is 0.5 where nothing else is called (ADR
 * 2), and 2 to 6 in programs that do other work between calls (ADR 12). That work displaces hooks
 * and slots from the caches. HOT_REST_NS applies to warm caches. */
#define REST_NS     4.0
#define HOT_REST_NS 1.0
/* At this utilization of the processors, the program has to wait for the recorder. */
#define SATURATED   0.9

/* A function of the policy: a symbol. Its sleds may have several ids in the trace. */
struct nsc_budget_function {
    uint32_t file, function; /* index in modules.files, in its nsc_module_sleds() */
    uint32_t id;             /* its first id in the trace */
    uint32_t left_out;       /* entry in the trace; NSC_NO_ID: it was always recorded */
    bool on;
    uint64_t from_ticks, on_ticks; /* first time disabled; last time enabled */
    uint64_t off_ticks;            /* last time disabled */
    uint64_t windows, window_ticks;
};

/* Measures the cost of reading the timer, in ns: the minimum of several tries. */
static double timer_ns(void)
{
    enum { READS = 1000, TRIES = 9 };
    uint64_t least = UINT64_MAX;
    int i, k;

    for (i = 0; i < TRIES; i++) {
        uint64_t start = nsc_now_ns(), taken;

        for (k = 0; k < READS; k++)
            (void)nsc_clock_reading_ticks();
        taken = nsc_now_ns() - start;
        if (taken < least)
            least = taken;
    }
    return (double)least / READS;
}

/* The quota until the next step, in chunks. */
static uint32_t ration(const struct nsc_budget *b)
{
    double chunk_ns = b->tracees->session->chunk_bytes / 32.0 * b->policy.call_ns;

    return 1 + (uint32_t)(nsc_policy_ration_ns(&b->policy) / chunk_ns);
}

void nsc_budget_free(struct nsc_budget *b)
{
    uint32_t i;

    if (b->share > 0)
        nsc_cpu_time_free(&b->cputime);
    for (i = 0; i < b->file_count; i++)
        free(b->by_sleds[i]);
    free(b->by_sleds);
    nsc_policy_free(&b->policy);
    free(b->functions);
    free(b->index);
    free(b->before);
    free(b->now);
    *b = (struct nsc_budget){0};
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Returns the recorder's processor time since the last call, if the program has to wait for it;
 * else 0. */
static uint64_t charged_ns(struct nsc_budget *b, uint64_t wall_ns, uint64_t cpu_ns)
{
    struct timespec t;
    uint64_t ns, own;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    own = b->own_ns == 0 ? 0 : ns - b->own_ns;
    b->own_ns = ns;
    if (b->tracees->live_threads < b->processors) /* a processor is free for the recorder */
        return 0;
    return (double)(own + cpu_ns) > SATURATED * b->processors * (double)wall_ns ? own : 0;
}

/* Returns the events that threads have lost for lack of room since the last call. */
static uint64_t lost_events(struct nsc_budget *b)
{
    const struct nsc_tracees *all = b->tracees;
    uint64_t sum = 0, before = b->lost;
    uint32_t i;

    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            sum += __atomic_load_n(&all->session->threads[i].lost, __ATOMIC_RELAXED);
    b->lost = sum;
    return sum > before ? sum - before : 0; /* a smaller sum: a thread has ended */
}

/* Returns the entry of by_sleds for a function of a file: the index of its function in the policy.
 * NULL if memory runs out. */
static uint32_t *place_of(struct nsc_budget *b, uint32_t file, uint32_t function)
{
    const struct nsc_modules *modules = &b->tracees->modules;
    uint32_t count = nsc_module_sleds(modules->files[file])->function_count, i;
    uint32_t **by_sleds =
        nsc_array_reach(b->by_sleds, &b->file_count, modules->count, sizeof *by_sleds);

    if (by_sleds == NULL)
        return NULL;
    b->by_sleds = by_sleds;
    if (b->by_sleds[file] == NULL) {
        b->by_sleds[file] = malloc((size_t)count * sizeof *b->by_sleds[file]);
        for (i = 0; b->by_sleds[file] != NULL && i < count; i++)
            b->by_sleds[file][i] = NO_INDEX;
    }
    return b->by_sleds[file] != NULL ? &b->by_sleds[file][function] : NULL;
}

/* Adds a function to the policy. */
static int add_function(struct nsc_budget *b, const struct nsc_budget_function *f)
{
    if (b->policy.count == b->function_room) {
        uint32_t room = b->function_room == 0 ? 256 : b->function_room * 2;
        struct nsc_budget_function *grown = realloc(b->functions, room * sizeof *grown);

        if (grown == NULL)
            return -ENOMEM;
        b->functions = grown;
        b->function_room = room;
    }
    if (nsc_policy_add(&b->policy, f->function == NSC_SLEDS_NONE) != 0)
        return -ENOMEM;
    b->functions[b->policy.count - 1] = *f;
    return 0;
}

/* Registers a new function id. Usually its function is already in the policy. */
static int meet_id(struct nsc_budget *b, uint32_t id)
{
    const struct nsc_modules *modules = &b->tracees->modules;
    struct nsc_function_place place = modules->places[id];
    const struct nsc_sleds *sleds =
        place.module == NSC_NO_ID ? NULL : nsc_module_sleds(modules->files[place.module]);
    uint32_t function = sleds != NULL ? nsc_sleds_function(sleds, place.va) : NSC_SLEDS_NONE;
    uint32_t none = NO_INDEX, *known = &none;
    struct nsc_budget_function f = {
        .file = place.module, .function = function, .id = id, .left_out = NSC_NO_ID, .on = true};

    if (function != NSC_SLEDS_NONE)
        known = place_of(b, place.module, function);
    if (known == NULL)
        return -ENOMEM;
    if (*known == NO_INDEX) {
        if (add_function(b, &f) != 0)
            return -ENOMEM;
        *known = b->policy.count - 1;
    }
    b->index[id] = *known;
    return 0;
}

static int make_room(struct nsc_budget *b, uint32_t count)
{
    uint32_t room = b->id_room == 0 ? 256 : b->id_room;
    struct nsc_writer_sum *sums;
    uint32_t *index;

    while (room < count)
        room *= 2;
    if (room == b->id_room)
        return 0;
    sums = realloc(b->before, room * sizeof *sums);
    if (sums == NULL)
        return -ENOMEM;
    b->before = sums;
    sums = realloc(b->now, room * sizeof *sums);
    if (sums == NULL)
        return -ENOMEM;
    b->now = sums;
    index = realloc(b->index, room * sizeof *index);
    if (index == NULL)
        return -ENOMEM;
    b->index = index;
    b->id_room = room;
    return 0;
}

/* Registers the functions that have appeared since the last call. */
static void meet_functions(struct nsc_budget *b)
{
    uint32_t count = b->tracees->modules.place_count;

    if (make_room(b, count) != 0)
        return;
    for (; b->id_count < count; b->id_count++) {
        b->before[b->id_count] = (struct nsc_writer_sum){0};
        if (meet_id(b, b->id_count) != 0)
            return;
    }
}

/* Passes the calls since the last step to the policy. */
static void count_calls(struct nsc_budget *b)
{
    uint32_t i;

    meet_functions(b);
    nsc_writer_sums(b->tracees->writer, b->now, b->id_count);
    for (i = 0; i < b->id_count; i++) {
        const struct nsc_writer_sum *now = &b->now[i];
        struct nsc_writer_sum *before = &b->before[i];

        if (now->calls == before->calls)
            continue;
        nsc_policy_saw(&b->policy, b->index[i], (double)(now->calls - before->calls),
                       (double)(now->total_ticks - before->total_ticks),
                       (double)(now->self_ticks - before->self_ticks));
        *before = *now;
    }
}

/* ---- Switching ------------------------------------------------------------------------------ */

static void note_off(struct nsc_budget *b, struct nsc_budget_function *f, uint64_t ticks)
{
    struct nsc_left_out entry = {.function = f->id,
                                 .process = NSC_NO_ID,
                                 .reason = NSC_LEFT_OUT_BUDGET,
                                 .from_ticks = ticks};

    f->off_ticks = ticks;
    if (f->left_out == NSC_NO_ID) {
        f->from_ticks = ticks;
        if (nsc_writer_add_left_out(b->tracees->writer, &entry, &f->left_out) != 0)
            f->left_out = NSC_NO_ID;
        return;
    }
    f->windows++;
    f->window_ticks += ticks - f->on_ticks;
}

/* Notifies the tracees of the functions that were enabled again. */
static void tell_ons(struct nsc_budget *b)
{
    uint64_t ticks = nsc_clock_reading_ticks();
    uint32_t i;

    for (i = 0; i < b->policy.change_count; i++) {
        const struct nsc_budget_function *f = &b->functions[b->policy.changes[i].function];

        if (f->on)
            nsc_disabled_functions_came_on(&b->tracees->offs, f->id, ticks);
    }
    nsc_switch_notice_enabled(b->tracees, ticks);
}

/* Notifies the threads of the functions that were disabled at @ticks. */
static void tell_offs(struct nsc_budget *b, uint64_t ticks)
{
    struct nsc_off off = {.from_ticks = ticks,
                          .until_ticks = nsc_clock_reading_ticks(),
                          .functions = malloc((size_t)b->id_count * sizeof *off.functions)};
    uint32_t i;

    for (i = 0; off.functions != NULL && i < b->id_count; i++) {
        const struct nsc_budget_function *f = &b->functions[b->index[i]];

        if (!f->on && f->off_ticks == ticks)
            off.functions[off.count++] = i;
    }
    nsc_switch_notice_disabled(b->tracees, &off);
}

/* Applies the policy's decisions; returns whether there were any. */
static bool make_changes(struct nsc_budget *b)
{
    struct nsc_modules *modules = &b->tracees->modules;
    uint64_t ticks = nsc_clock_reading_ticks();
    uint32_t i;
    uint64_t writes, off;
    int error;

    for (i = 0; i < b->policy.change_count; i++) {
        const struct nsc_policy_change *change = &b->policy.changes[i];
        struct nsc_budget_function *f = &b->functions[change->function];

        if (nsc_hook_switch_bar(modules, f->file, f->function, !change->on) != 0 ||
            f->on == change->on)
            continue;
        f->on = change->on;
        if (change->on)
            f->on_ticks = ticks;
        else
            note_off(b, f, ticks);
    }
    if (b->policy.change_count > 0)
        nsc_switch_notice_begin(b->tracees);
    writes = b->flips.writes;
    off = b->flips.off;
    error = nsc_hook_switch_follow_bars(b->tracees, &b->flips, &b->diag);
    if (error != 0)
        b->error = error;
    if (b->flips.off != off)
        tell_offs(b, ticks);
    if (b->flips.writes != writes)
        tell_ons(b);
    return b->policy.change_count > 0;
}

/* ---- Quick estimates ------------------------------------------------------------------------ */

static void saw(void *context, uint32_t id, double rate)
{
    struct nsc_budget *b = context;

    if (id >= b->id_count)
        meet_functions(b);
    if (id < b->id_count)
        nsc_policy_glimpse(&b->policy, b->index[id], rate);
}

/* Decides by a quick estimate, before the recorded events are read: reading may take too long. */
static void take_glance(struct nsc_budget *b)
{
    struct nsc_rate_estimate glance = nsc_rate_estimate_look(b->tracees, b->ticks_a_ns, saw, b);

    nsc_policy_glance(&b->policy, fmax(glance.threads, b->busy));
    if (b->policy.change_count > 0)
        make_changes(b);
}

/* Called between chunks of a long drain. */
static void between(void *context)
{
    struct nsc_budget *b = context;
    uint64_t now_ns = nsc_now_ns();

    if (now_ns < b->glance_ns)
        return;
    take_glance(b);
    b->glance_ns = nsc_now_ns() + HURRY_NS;
}

int nsc_budget_init(struct nsc_budget *b, double share, bool entry_timing,
                    struct nsc_tracees *tracees, struct nsc_drain *drain)
{
    cpu_set_t set;
    double timer;

    *b = (struct nsc_budget){.share = share, .tracees = tracees, .drain = drain};
    if (share <= 0)
        return 0;
    timer = (entry_timing ? 1 : 2) * timer_ns();
    nsc_policy_init(&b->policy, share, timer + 2 * REST_NS);
    b->policy.clock.call_ns = timer + 2 * HOT_REST_NS;
    b->processors = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    drain->between = between;
    drain->context = b;
    b->ticks_a_ns = (double)nsc_clock_reading_rate() / 1e9;
    nsc_drain_ration(drain, ration(b));
    return nsc_cpu_time_init(&b->cputime, tracees);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

/* Measures and decides. The program runs meanwhile: events between reading the clock and reading
 * the calls count on one side only. So the bulk of the events is read before the clock. */
static void take_step(struct nsc_budget *b, bool moving)
{
    struct nsc_policy_step step = {.moving = moving};
    uint64_t now_ns, cpu_ns, late_ns = 0;

    nsc_drain_pass(b->drain, NSC_DRAIN_PARTLY, nsc_now_ns());
    now_ns = nsc_now_ns();
    cpu_ns = nsc_cpu_time_since(&b->cputime);
    nsc_drain_pass(b->drain, NSC_DRAIN_PARTLY, now_ns);
    count_calls(b);
    step.lost_calls = (double)lost_events(b) / 2;
    if (b->policy.window_open) { /* the recorder may have waited for a processor in between */
        late_ns = nsc_cpu_time_since(&b->cputime);
        step.cpu_doubt_ns = (double)late_ns / 2;
    }
    step.cpu_ns = b->owed_ns + (double)cpu_ns + step.cpu_doubt_ns;
    b->owed_ns = (double)late_ns - step.cpu_doubt_ns;
    step.charged_ns = (double)charged_ns(b, now_ns - b->step_ns, cpu_ns);
    if (b->step_ns != 0)
        step.ticks =
            (double)(now_ns - b->step_ns) * b->ticks_a_ns * (double)b->tracees->live_threads;
    b->step_ns = now_ns;
    nsc_policy_step(&b->policy, &step);
    nsc_drain_ration(b->drain, ration(b));
}

/* Returns the wall time, in ns, in which the program uses the time that the policy allows until the
 * next step. */
static uint64_t patience_ns(const struct nsc_budget *b, double busy)
{
    const uint64_t least = STEP_MIN_NS, most = STEP_MAX_NS;
    double ns = nsc_policy_patience_ns(&b->policy) / fmax(busy, BUSY_MIN);

    if (ns < (double)least)
        return least;
    return ns > (double)most ? most : (uint64_t)ns;
}

uint64_t nsc_budget_round(struct nsc_budget *b, uint64_t now_ns)
{
    double cpu_before = b->policy.cpu_ns;
    uint64_t step_ns = b->step_ns, wait_ns, start_ns = now_ns;

    if (b->share <= 0)
        return UINT64_MAX;
    if (now_ns < b->due_ns)
        return b->due_ns - now_ns;
    nsc_hook_switch_prepare(b->tracees);
    take_glance(b);
    take_step(b, false);
    b->busy = (b->policy.cpu_ns - cpu_before) / (double)(b->step_ns - step_ns + 1);
    if (make_changes(b))
        take_step(b, true);
    now_ns = nsc_now_ns();
    wait_ns = patience_ns(b, b->busy);
    /* With thousands of threads, steps must not take all of the recorder's time. */
    b->look_ns += ((double)(now_ns - start_ns) - b->look_ns) / 8;
    if (!b->policy.window_open && b->policy.plain_ns > STEADY_NS)
        wait_ns = (uint64_t)fmax((double)wait_ns, b->look_ns * LOOK_PART);
    b->due_ns = now_ns + wait_ns;
    return wait_ns;
}

/* ---- Results in the trace ------------------------------------------------------------------- */

static struct nsc_estimate rounded(double value, double error)
{
    return (struct nsc_estimate){(uint64_t)fmax(value + 0.5, 0), (uint64_t)fmax(ceil(error), 1)};
}

static void write_left_out(struct nsc_budget *b, uint32_t index)
{
    const struct nsc_budget_function *f = &b->functions[index];
    struct nsc_policy_estimate e = nsc_policy_estimate(&b->policy, index);
    struct nsc_left_out entry = {
        .function = f->id,
        .process = NSC_NO_ID,
        .reason = NSC_LEFT_OUT_BUDGET,
        .from_ticks = f->from_ticks,
        .to_ticks = b->policy.functions[index].off ? 0 : f->on_ticks,
        .windows = f->windows,
        .window_ticks = f->window_ticks,
    };

    if (e.known) {
        entry.known = NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL;
        entry.calls = rounded(e.value[0], e.error[0]);
        entry.total_ticks = rounded(e.value[1], e.error[1]);
    }
    if (e.self_known) {
        entry.known |= NSC_LEFT_OUT_SELF;
        entry.self_ticks = rounded(e.value[2], e.error[2]);
    }
    nsc_writer_set_left_out(b->tracees->writer, f->left_out, &entry);
}

void nsc_budget_end(struct nsc_budget *b, struct nsc_record_result *result)
{
    const struct nsc_policy *p = &b->policy;
    char text[64];
    uint32_t i;

    if (b->share <= 0)
        return;
    for (i = 0; i < p->count; i++) {
        if (b->functions[i].left_out == NSC_NO_ID)
            continue;
        write_left_out(b, i);
        result->left_out_functions += p->functions[i].off;
    }
    result->budget = b->share;
    result->budget_error = b->error;
    result->overhead = p->plain_ns > 0 ? p->spent_ns / p->plain_ns : 0;
    snprintf(text, sizeof text, "%.6g", b->share);
    nsc_writer_meta(b->tracees->writer, NSC_META_BUDGET, text);
    snprintf(text, sizeof text, "%.4f", result->overhead);
    nsc_writer_meta(b->tracees->writer, NSC_META_OVERHEAD, text);
    snprintf(text, sizeof text, "%.0f", p->within_ns);
    nsc_writer_meta(b->tracees->writer, NSC_META_WITHIN, text);
}
