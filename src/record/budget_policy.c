/* budget_policy.c - see budget_policy.h. */
#include "record/budget_policy.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS 1e6

/* Rates are means over this much plain time... */
#define MEAN_NS      (200 * MS)
/* ...of which a function that is switched keeps so much: what it does now soon counts for more. */
#define KEPT_NS      (1 * MS)
/* The same while it is off, and seen in windows only. */
#define OFF_NS       (3 * MS)
#define RECENT_NS    (2 * MS)
/* Debts are paid and savings spent over this time. */
#define HORIZON_NS   (150 * MS)
/* Time whose share may be saved up, and that is given at first: it pays for finding out. */
#define SAVED_NS     (50 * MS)
#define FIRST_NS     (15 * MS)
/* Deeper in debt than the share of this time, the last few ms decide instead of the mean. */
#define PATIENCE_NS  (8 * MS)
#define DEBT_MAX_NS  (1000 * MS)
/* A function that was switched off is left alone for so long, and twice as long each time that it
 * comes back and has to go again soon. */
#define HOLD_NS      (15 * MS)
#define HOLD_MAX_NS  (4000 * MS)
/* Of the budget, what windows may take. */
#define WINDOW_SHARE 0.12
#define WINDOW_NS    (1 * MS)
#define WHOLE_NS     (0.2 * MS)
#define WINDOW_SLACK 2.0
/* Time whose share of the share is there at first, and may be saved up. */
#define WINDOW_FIRST (60 * MS)
#define WINDOW_SAVED (800 * MS)
/* Functions are in a window from the coolest up, as long as they cost no more than so many times
 * the budget; every so often all are. */
#define WINDOW_COST  4.0
#define WHOLE_EVERY  3
/* Between taking functions out and letting them in again. */
#define TOO_MUCH     1.05
#define ENOUGH       0.93
/* What can go wrong in other ways (the trampolines' cache misses, page copies) must fit as well. */
#define CAUTION      0.74

/* From this share of plain time on, the cost that was calibrated tells how much that is; below,
 * calls do, with what the calibration says as good as so many of them. */
#define CLEAR_SHARE 0.5
#define CLOCK_PRIOR 0.5
#define BLOCK_NS    (100 * MS)
#define BLOCK_SLACK 1.1

/* A call that finds no room, entry and exit. */
#define LOST_NS    5
/* Between two steps, recording may cost what this much time earns beyond what is saved or owed, and
 * never less than what the shorter one does. */
#define RATION_NS  (100 * MS)
#define RATION_MIN (25 * MS)

/* What costs more than so many times the budget may go at a glance. */
#define ALARM 3.0

/* See few(). */
#define FEW 4.0

enum { CALLS, TOTAL, SELF };

void nsc_policy_init(struct nsc_policy *p, double share, double call_ns)
{
    *p = (struct nsc_policy){.share = share * CAUTION, .call_ns = call_ns};
    p->credit_ns = p->share * FIRST_NS;
    p->window_credit_ns = WINDOW_SHARE * p->share * WINDOW_FIRST;
}

void nsc_policy_free(struct nsc_policy *p)
{
    free(p->functions);
    free(p->touched);
    free(p->changes);
    free(p->scratch);
    *p = (struct nsc_policy){0};
}

static int grow(struct nsc_policy *p)
{
    uint32_t room = p->room == 0 ? 64 : p->room * 2;
    struct nsc_policy_function *functions = realloc(p->functions, room * sizeof *functions);
    uint32_t *touched, *scratch;
    struct nsc_policy_change *changes;

    if (functions == NULL)
        return -ENOMEM;
    p->functions = functions;
    touched = realloc(p->touched, room * sizeof *touched);
    if (touched == NULL)
        return -ENOMEM;
    p->touched = touched;
    scratch = realloc(p->scratch, room * sizeof *scratch);
    if (scratch == NULL)
        return -ENOMEM;
    p->scratch = scratch;
    changes = realloc(p->changes, room * sizeof *changes);
    if (changes == NULL)
        return -ENOMEM;
    p->changes = changes;
    p->room = room;
    return 0;
}

int nsc_policy_add(struct nsc_policy *p, bool fixed)
{
    if (p->count == p->room && grow(p) != 0)
        return -ENOMEM;
    /* It may not have run before: its mean is over all of the time. */
    p->functions[p->count++] = (struct nsc_policy_function){
        .fixed = fixed, .weight = fmin(p->plain_ns, MEAN_NS), .hold = HOLD_NS};
    return 0;
}

void nsc_policy_saw(struct nsc_policy *p, uint32_t function, double calls, double total_ticks,
                    double self_ticks)
{
    struct nsc_policy_function *f = &p->functions[function];

    f->calls += calls;
    f->total_ticks += total_ticks;
    f->self_ticks += self_ticks;
    if (!f->touched)
        p->touched[p->touched_count++] = function;
    f->touched = true;
}

static bool is_on(const struct nsc_policy_function *f)
{
    return !f->off || f->sampled;
}

static double cost_of(const struct nsc_policy *p, double rate)
{
    return rate * p->call_ns;
}

/* ---- What was seen --------------------------------------------------------------------------- */

/* Calls of the step whose function is known, and by how much there were more. */
static double touched_calls(const struct nsc_policy *p)
{
    double calls = 0;
    uint32_t i;

    for (i = 0; i < p->touched_count; i++)
        calls += p->functions[p->touched[i]].calls;
    return calls;
}

/* Calls that were lost are taken for calls of the same functions as those that were not. */
static void learn(struct nsc_policy *p, const struct nsc_policy_step *step, double plain)
{
    double more = 1 + step->lost_calls / fmax(touched_calls(p), 1);
    uint32_t i;

    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];
        double rate = f->calls * more / plain;

        if (!is_on(f) && !f->leaving)
            continue;
        f->weight = fmin(f->weight + plain, f->off ? OFF_NS : MEAN_NS);
        f->rate += (rate - f->rate) * fmin(plain / f->weight, 1);
        f->recent += (rate - f->recent) * plain / fmin(plain + RECENT_NS, f->weight);
    }
}

static void add_sample(struct nsc_policy_samples *s, double value, double time)
{
    s->count++;
    s->sum += value;
    s->sum_squares += value * value;
    s->time += time;
    s->time_squares += time * time;
    s->product += value * time;
}

/* Adds what the step saw to the window, and to the time that the others are off. */
static void sample(struct nsc_policy *p, const struct nsc_policy_step *step, double plain)
{
    uint32_t i;

    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];

        if (!f->off)
            continue;
        if (!f->sampled) {
            f->off_plain += plain;
            f->off_cpu += step->cpu_ns;
        } else if (!step->moving) {
            f->in_window[CALLS] += f->calls;
            f->in_window[TOTAL] += f->total_ticks;
            f->in_window[SELF] += f->self_ticks;
        }
    }
}

static void forget_step(struct nsc_policy *p)
{
    uint32_t i;

    for (i = 0; i < p->touched_count; i++) {
        struct nsc_policy_function *f = &p->functions[p->touched[i]];

        f->calls = f->total_ticks = f->self_ticks = 0;
        f->touched = false;
    }
    p->touched_count = 0;
    for (i = 0; i < p->count; i++)
        p->functions[i].leaving = false;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static void change(struct nsc_policy *p, uint32_t function, bool on)
{
    p->changes[p->change_count++] = (struct nsc_policy_change){function, on};
}

static void switch_off(struct nsc_policy *p, uint32_t function)
{
    struct nsc_policy_function *f = &p->functions[function];

    /* Back for a short time only: it is not worth another try so soon. */
    if (f->on_since > 0 && p->plain_ns - f->on_since < f->hold)
        f->hold = fmin(f->hold * 2, HOLD_MAX_NS);
    f->retry_at = p->plain_ns + f->hold;
    f->off = true;
    f->weight = fmin(f->weight, KEPT_NS);
    p->off_count++;
    change(p, function, false);
}

static void switch_on(struct nsc_policy *p, uint32_t function)
{
    struct nsc_policy_function *f = &p->functions[function];

    f->off = false;
    f->on_since = p->plain_ns;
    f->recent = f->rate;
    f->weight = fmin(f->weight, KEPT_NS);
    p->off_count--;
    change(p, function, true);
}

/* What recording costs now, as a share of plain time; by the recent rates or the means. */
static double present_cost(const struct nsc_policy *p, bool recent)
{
    double cost = 0;
    uint32_t i;

    for (i = 0; i < p->count; i++)
        if (!p->functions[i].off)
            cost += cost_of(p, recent ? p->functions[i].recent : p->functions[i].rate);
    return cost;
}

struct order {
    const struct nsc_policy_function *functions;
    bool recent, falling;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct nsc_policy_function *x = &order->functions[*(const uint32_t *)a];
    const struct nsc_policy_function *y = &order->functions[*(const uint32_t *)b];
    double left = order->recent ? x->recent : x->rate, right = order->recent ? y->recent : y->rate;

    if (left != right)
        return (left < right) == order->falling ? 1 : -1;
    return *(const uint32_t *)a > *(const uint32_t *)b ? 1 : -1;
}

/* Takes out the functions called most often, until @cost is no more than @target: so the fewest go.
 */
static void take_out(struct nsc_policy *p, double cost, double target, bool recent)
{
    struct order order = {p->functions, recent, true};
    uint32_t i, n = 0;

    for (i = 0; i < p->count; i++) {
        const struct nsc_policy_function *f = &p->functions[i];

        if (!f->off && !f->fixed && (recent ? f->recent : f->rate) > 0)
            p->scratch[n++] = i;
    }
    qsort_r(p->scratch, n, sizeof *p->scratch, compare, &order);
    for (i = 0; i < n && cost > target; i++) {
        const struct nsc_policy_function *f = &p->functions[p->scratch[i]];

        cost -= cost_of(p, recent ? f->recent : f->rate);
        switch_off(p, p->scratch[i]);
    }
}

/* The functions that are off, coolest first, in p->scratch; returns how many. */
static uint32_t sort_off(struct nsc_policy *p, bool recent)
{
    struct order order = {p->functions, recent, false};
    uint32_t i, n = 0;

    for (i = 0; i < p->count; i++)
        if (p->functions[i].off)
            p->scratch[n++] = i;
    qsort_r(p->scratch, n, sizeof *p->scratch, compare, &order);
    return n;
}

static void let_in(struct nsc_policy *p, double cost, double target)
{
    uint32_t n = sort_off(p, false), i;

    for (i = 0; i < n; i++) {
        const struct nsc_policy_function *f = &p->functions[p->scratch[i]];

        if (cost + cost_of(p, f->rate) > target)
            break;
        if (f->retry_at > p->plain_ns)
            continue;
        cost += cost_of(p, f->rate);
        switch_on(p, p->scratch[i]);
    }
}

static double present_target(const struct nsc_policy *p)
{
    return fmax(p->share + p->credit_ns / HORIZON_NS, p->share / 4);
}

static void control(struct nsc_policy *p)
{
    double target = present_target(p), cost;
    bool in_debt = p->credit_ns < -p->share * PATIENCE_NS;

    cost = present_cost(p, in_debt);
    if (cost > target * TOO_MUCH)
        take_out(p, cost, target, in_debt);
    else if (p->off_count > 0 && (cost = present_cost(p, false)) < target * ENOUGH)
        let_in(p, cost, target * ENOUGH);
}

/* ---- At a glance ----------------------------------------------------------------------------- */

void nsc_policy_glimpse(struct nsc_policy *p, uint32_t function, double rate)
{
    p->functions[function].glimpse += rate;
}

void nsc_policy_glance(struct nsc_policy *p, double threads)
{
    double calls = 0, on = 0, plain, cost, target = present_target(p);
    uint32_t i;

    p->change_count = 0;
    for (i = 0; i < p->count; i++) {
        calls += p->functions[i].glimpse;
        on += p->functions[i].off ? 0 : p->functions[i].glimpse; /* others have just gone */
    }
    plain = fmax(threads - calls * p->call_ns, threads / 50);
    cost = cost_of(p, on) / plain;
    if (!p->window_open && cost > p->share * ALARM &&
        p->credit_ns - (cost - p->share) * nsc_policy_patience_ns(p) < -p->share * PATIENCE_NS) {
        for (i = 0; i < p->count; i++)
            if (!p->functions[i].off)
                p->functions[i].recent = p->functions[i].glimpse / plain;
        take_out(p, cost, target, true);
        for (i = 0; i < p->change_count; i++)
            p->functions[p->changes[i].function].leaving = true;
    }
    for (i = 0; i < p->count; i++)
        p->functions[i].glimpse = 0;
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* The functions of the next window, from the front of p->scratch; what they cost is returned in
 * @cost, a share of plain time. */
static uint32_t plan_window(struct nsc_policy *p, bool *whole, double *cost)
{
    uint32_t n = sort_off(p, true), i;
    double sum = 0;

    *whole = p->windows % WHOLE_EVERY == WHOLE_EVERY - 1;
    for (i = 0; i < n; i++) {
        double more = cost_of(p, p->functions[p->scratch[i]].recent);

        if (!*whole && i > 0 && sum + more > WINDOW_COST * p->share)
            break;
        sum += more;
    }
    if (i == n)
        *whole = true;
    *cost = sum;
    return i;
}

static void open_window(struct nsc_policy *p)
{
    bool whole;
    double cost, length;
    uint32_t n, i;

    if (p->off_count == 0 || p->window_credit_ns <= 0)
        return;
    n = plan_window(p, &whole, &cost);
    length = cost > WINDOW_COST * p->share ? WHOLE_NS : WINDOW_NS;
    /* Never more than can be saved. */
    length = fmin(length, WINDOW_SHARE * p->share * WINDOW_SAVED / 2 / fmax(cost, DBL_MIN));
    if (p->window_credit_ns < cost * length * (1 + p->window_wait))
        return;
    p->window_open = true;
    p->window_whole = whole;
    p->window_length = length;
    p->window_cost = cost;
    p->window_plain = p->window_cpu = p->window_spent = 0;
    p->window_lost = false;
    p->windows++;
    for (i = 0; i < n; i++) {
        struct nsc_policy_function *f = &p->functions[p->scratch[i]];

        f->sampled = true;
        memset(f->in_window, 0, sizeof f->in_window);
        change(p, p->scratch[i], true);
    }
}

/* A regular program might meet every window in the same phase: from none to as much again. */
static double random_wait(struct nsc_policy *p)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->random >> 32) / 0x1p32;
}

static void close_window(struct nsc_policy *p)
{
    uint32_t i;

    p->window_open = false;
    p->window_wait = random_wait(p);
    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];

        if (!f->sampled)
            continue;
        f->sampled = false;
        if (p->window_plain > 0 && !p->window_lost) {
            f->recent = (f->recent + f->in_window[CALLS] / p->window_plain) / 2;
            add_sample(&f->samples[CALLS], f->in_window[CALLS], p->window_plain);
            add_sample(&f->samples[TOTAL], f->in_window[TOTAL], p->window_cpu);
            if (p->window_whole)
                add_sample(&f->samples[SELF], f->in_window[SELF], p->window_cpu);
        }
        change(p, i, false);
    }
}

/* Processor time that a window takes, as planned. */
static double window_cpu_ns(const struct nsc_policy *p)
{
    return p->window_length * (1 + p->share + p->window_cost);
}

/* Plain time may be told wrong where most is cost: then what was planned in all decides. */
static bool window_over(const struct nsc_policy *p)
{
    return p->window_plain >= p->window_length || p->window_cpu >= WINDOW_SLACK * window_cpu_ns(p);
}

/* For people: since when has the budget been kept, windows aside? */
static void watch_blocks(struct nsc_policy *p, double plain, double spent)
{
    p->block_plain += plain;
    p->block_spent += spent;
    if (p->block_plain < BLOCK_NS)
        return;
    if (p->block_spent > p->share / CAUTION * BLOCK_SLACK * p->block_plain)
        p->within_ns = p->plain_ns;
    p->block_plain = p->block_spent = 0;
}

/*
 * What of the step's time was the program's own. Where recording takes most of it, the difference
 * of two large numbers says little; then the functions that are always on are the better clock.
 */
static double plain_time(const struct nsc_policy *p, const struct nsc_policy_step *step)
{
    double calls = 0, steady_calls = 0, steady_rate = 0, plain;
    uint32_t i;

    for (i = 0; i < p->touched_count; i++) {
        const struct nsc_policy_function *f = &p->functions[p->touched[i]];

        calls += f->calls;
        steady_calls += f->off ? 0 : f->calls;
    }
    steady_calls *= 1 + step->lost_calls / fmax(calls, 1);
    plain = step->cpu_ns - calls * p->call_ns - step->lost_calls * LOST_NS;
    plain = fmax(plain, step->cpu_ns / 50);
    if (!p->window_open || plain > step->cpu_ns * CLEAR_SHARE)
        return plain;
    for (i = 0; i < p->count; i++)
        if (!p->functions[i].off)
            steady_rate += p->functions[i].rate;
    plain = (steady_calls + CLOCK_PRIOR) / (steady_rate + CLOCK_PRIOR / plain);
    return fmin(fmax(plain, step->cpu_ns / 200), step->cpu_ns);
}

void nsc_policy_step(struct nsc_policy *p, const struct nsc_policy_step *step)
{
    double plain = step->cpu_ns > 0 ? plain_time(p, step) : 0, spent;

    p->change_count = 0;
    spent = step->cpu_ns - plain + step->charged_ns;
    p->cpu_ns += step->cpu_ns;
    p->plain_ns += plain;
    p->spent_ns += spent;
    if (!p->window_open)
        watch_blocks(p, plain, spent);
    p->credit_ns = fmin(p->credit_ns + p->share * plain - spent, p->share * SAVED_NS);
    p->credit_ns = fmax(p->credit_ns, -p->share * DEBT_MAX_NS);
    p->window_credit_ns = fmin(p->window_credit_ns + WINDOW_SHARE * p->share * plain,
                               WINDOW_SHARE * p->share * WINDOW_SAVED);
    if (p->window_open) {
        p->window_spent += spent;
        p->window_credit_ns -= spent;
    }
    if (plain > 0) {
        sample(p, step, plain);
        if (!step->moving) {
            learn(p, step, plain);
            p->window_plain += plain;
            p->window_cpu += step->cpu_ns;
            p->window_lost |= step->lost_calls > 0;
        }
    }
    /* Calls in no time: the clock has yet to move on. */
    if (plain > 0 || step->moving)
        forget_step(p);
    if (step->moving)
        return;
    if (p->window_open) {
        if (window_over(p))
            close_window(p);
        return;
    }
    control(p);
    if (p->change_count == 0)
        open_window(p);
}

double nsc_policy_patience_ns(const struct nsc_policy *p)
{
    double young = p->plain_ns < 5 * MS ? MS / 4 : p->plain_ns < 300 * MS ? MS : 3 * MS;

    if (p->window_open)
        return fmax(p->window_length - p->window_plain, 0) * (1 + p->share + p->window_cost);
    return p->credit_ns < 0 ? fmin(young, MS) : young;
}

double nsc_policy_ration_ns(const struct nsc_policy *p)
{
    double least = p->share * RATION_MIN;

    if (p->window_open)
        return least + 2 * p->window_cost * p->window_length;
    return fmax(p->share * RATION_NS + fmin(p->credit_ns, 0), least);
}

/* ---- Estimates ------------------------------------------------------------------------------- */

/* Where few windows have most of a sum, they may well be alike, or all low, by chance: so much more
 * is the error squared, roughly as Student has it. */
static double few(double sum, double squares)
{
    return sum > 0 ? 1 + FEW * squares / (sum * sum) : 1;
}

/* A ratio of sums, times @time; its standard error is that of the windows, or of a count if that is
 * more. */
static void estimate(const struct nsc_policy_samples *s, double time, double least, double *value,
                     double *error)
{
    double ratio = s->sum / s->time, mean = s->time / s->count, residue, counted;

    residue = s->sum_squares - 2 * ratio * s->product + ratio * ratio * s->time_squares;
    if (s->count > 1)
        residue = fmax(residue, 0) / (s->count * (s->count - 1)) / (mean * mean) *
                  few(s->sum, s->sum_squares);
    else
        residue = ratio * ratio;
    counted = fmax(s->sum, least) * least / (s->time * s->time);
    *value = ratio * time;
    *error = sqrt(fmax(residue, counted)) * time;
}

struct nsc_policy_estimate nsc_policy_estimate(const struct nsc_policy *p, uint32_t function)
{
    const struct nsc_policy_function *f = &p->functions[function];
    const struct nsc_policy_samples *s = f->samples;
    struct nsc_policy_estimate e = {0};
    double one_total, one_self;

    if (s[CALLS].time <= 0)
        return e;
    e.known = true;
    /* What one call more would have added. */
    one_total = s[CALLS].sum > 0 ? s[TOTAL].sum / s[CALLS].sum : 0;
    estimate(&s[CALLS], f->off_plain, 1, &e.value[CALLS], &e.error[CALLS]);
    estimate(&s[TOTAL], f->off_cpu, one_total, &e.value[TOTAL], &e.error[TOTAL]);
    if (s[SELF].time <= 0)
        return e;
    e.self_known = true;
    one_self = s[CALLS].sum > 0 ? fmin(one_total, s[SELF].sum / s[CALLS].sum) : 0;
    estimate(&s[SELF], f->off_cpu, one_self, &e.value[SELF], &e.error[SELF]);
    return e;
}
