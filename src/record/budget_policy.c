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
/* The mean that spaces them is over so many. */
#define SPACED_BY    12.0
/* Calls of steady functions before a window from which on they are taken for a clock. */
#define STEADY_MIN   20
/* What has been saved is spent in so many. */
#define SAVED_BY     4
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
#define CAUTION      0.87

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

/* How far the calibrated cost of a call may be from the true one, as a part of it: it depends on
 * what the processor finds to do meanwhile, and on its caches. */
#define COST_DOUBT 1.0
#define FEW        4.0
/* Sleds go on and off while the program runs: no window is sharper than that. */
#define EDGES      0.015

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

        if (!is_on(f))
            continue;
        f->weight = fmin(f->weight + plain, f->off ? OFF_NS : MEAN_NS);
        f->rate += (rate - f->rate) * fmin(plain / f->weight, 1);
        f->recent += (rate - f->recent) * plain / fmin(plain + RECENT_NS, f->weight);
    }
}

/* The window that closes, of @plain ns, as a sample of a quantity of @f. */
static void add_sample(const struct nsc_policy *p, struct nsc_policy_function *f, int quantity,
                       double plain)
{
    struct nsc_policy_samples *s = &f->samples[quantity];
    double weight = s->gap / plain, value = weight * f->in_window[quantity];
    double cpu = weight * p->window_cpu, calls = weight * p->window.calls;

    s->gap = 0;
    s->count++;
    s->sum += value;
    s->sum_squares += value * value;
    s->own_calls += weight * f->in_window[CALLS];
    s->noise += weight * weight * f->in_window[CALLS];
    s->weights += weight * weight;
    s->cpu += cpu;
    s->cpu_squares += cpu * cpu;
    s->cpu_product += cpu * value;
    s->calls += calls;
    s->calls_squares += calls * calls;
    s->calls_product += calls * value;
    s->both += cpu * calls;
    s->beat += weight * p->window_beat;
    s->beat_squares += weight * weight * p->window_beat * p->window_beat;
    s->beat_product += weight * p->window_beat * value;
}

/* The window that closes, as a measurement of what calls cost. */
static void add_cost(struct nsc_policy *p)
{
    const struct nsc_policy_while *w = &p->window, *before = &p->before;
    struct nsc_policy_cost *c = &p->cost;
    double part, cpu, calls, noise;

    p->window_beat = p->window_plain;
    if (before->steady < STEADY_MIN)
        return;
    part = w->steady / before->steady;
    p->window_beat = part * fmax(before->cpu - before->calls * p->call_ns, 0);
    cpu = w->cpu - part * before->cpu;
    calls = w->calls - part * before->calls;
    noise = before->cpu / before->steady;
    c->count++;
    c->cpu += cpu;
    c->calls += calls;
    c->cpu_squares += cpu * cpu;
    c->product += cpu * calls;
    c->calls_squares += calls * calls;
    c->noise += (w->steady + 1) * (1 + part) * noise * noise;
}

/* Adds what the step saw to the window, and to the time that the others are off. */
static void sample(struct nsc_policy *p, const struct nsc_policy_step *step, double plain)
{
    double calls = touched_calls(p);
    uint32_t i;
    int k;

    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];

        if (!f->off)
            continue;
        if (!f->sampled) {
            for (k = CALLS; k <= SELF; k++)
                f->samples[k].gap += plain;
            f->off_cpu += step->cpu_ns;
            f->off_calls += calls;
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

static void control(struct nsc_policy *p)
{
    double target = p->share + p->credit_ns / HORIZON_NS;
    bool in_debt = p->credit_ns < -p->share * PATIENCE_NS;
    double cost = present_cost(p, in_debt);

    target = fmax(target, p->share / 4);
    if (cost > target * TOO_MUCH)
        take_out(p, cost, target, in_debt);
    else if (p->off_count > 0 && cost < target * ENOUGH)
        let_in(p, cost, target * ENOUGH);
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

    if (p->off_count == 0 || p->plain_ns < p->window_at)
        return;
    n = plan_window(p, &whole, &cost);
    length = cost > WINDOW_COST * p->share ? WHOLE_NS : WINDOW_NS;
    /* Never more than can be saved. */
    length = fmin(length, WINDOW_SHARE * p->share * WINDOW_SAVED / 2 / fmax(cost, DBL_MIN));
    if (p->window_credit_ns < -WINDOW_SHARE * p->share * WINDOW_SAVED)
        return;
    p->window_open = true;
    p->window_whole = whole;
    p->window_length = length;
    p->window_cost = cost;
    p->window_plain = p->window_cpu = p->window_spent = 0;
    p->window = (struct nsc_policy_while){0};
    p->window_lost = false;
    p->windows++;
    for (i = 0; i < n; i++) {
        struct nsc_policy_function *f = &p->functions[p->scratch[i]];

        f->sampled = true;
        memset(f->in_window, 0, sizeof f->in_window);
        change(p, p->scratch[i], true);
    }
}

/*
 * When the next window may come, after one that has just closed: where the mean of them leads to
 * the budget's share, as likely sooner as later. Were it the last one that decides, fewer windows
 * would follow those with many calls, and a regular program might always be met in the same phase.
 */
static void space_windows(struct nsc_policy *p)
{
    double earns = WINDOW_SHARE * p->share, space;

    p->window_mean += (p->window_spent - p->window_mean) / fmin(p->windows, SPACED_BY);
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    space = p->window_mean / earns * (0.5 + (double)(p->random >> 32) / 0x1p32);
    p->window_at = p->plain_ns + fmax(space - fmax(p->window_credit_ns, 0) / earns / SAVED_BY, 0);
}

/* An estimate and its standard error. */
struct guess {
    double value, error;
};

/* Where few windows have most of a sum, they may well be alike, or all low, by chance: so much more
 * is the error squared, roughly as Student has it. */
static double few(double sum, double squares)
{
    return 1 + FEW * squares / (sum * sum);
}

/* The cost of a call in windows: what was calibrated, and what the windows say, each for as much as
 * it is sure. */
static struct guess guess_cost(const struct nsc_policy *p)
{
    const struct nsc_policy_cost *c = &p->cost;
    double doubt = COST_DOUBT * p->call_ns, seen, residue, part;

    if (c->count < 2 || c->calls <= 0)
        return (struct guess){p->call_ns, doubt};
    seen = c->cpu / c->calls;
    residue = c->cpu_squares - 2 * seen * c->product + seen * seen * c->calls_squares;
    residue *= c->count / (c->count - 1) * few(c->calls, c->calls_squares);
    residue = fmax(residue, c->noise) / (c->calls * c->calls);
    part = doubt * doubt / (doubt * doubt + residue);
    return (struct guess){fmax(p->call_ns + part * (seen - p->call_ns), 0),
                          sqrt(doubt * doubt * (1 - part))};
}

/* Plain time of the window that closes. Where that is not clear, what was seen in the window had
 * better not decide: one with few calls of others would count for much. */
static double plain_length(const struct nsc_policy *p)
{
    double plain = p->window_cpu - p->window.calls * guess_cost(p).value;

    return plain > p->window_cpu * CLEAR_SHARE ? plain : p->window_cpu / (1 + p->window_cost);
}

static void close_window(struct nsc_policy *p)
{
    double plain;
    uint32_t i;

    p->window_open = false;
    space_windows(p);
    if (p->window_plain > 0 && !p->window_lost)
        add_cost(p);
    plain = plain_length(p);
    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];

        if (!f->sampled)
            continue;
        f->sampled = false;
        if (p->window_plain > 0 && !p->window_lost) {
            f->recent = (f->recent + f->in_window[CALLS] / p->window_plain) / 2;
            add_sample(p, f, CALLS, plain);
            add_sample(p, f, TOTAL, plain);
            if (p->window_whole)
                add_sample(p, f, SELF, plain);
        }
        change(p, i, false);
    }
}

/* What a window may cost beyond what was planned, before it ends early. */
static bool window_over(const struct nsc_policy *p)
{
    return p->window_plain >= p->window_length ||
           p->window_spent > 2 * p->share * HORIZON_NS * WINDOW_SHARE;
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

/* Calls in the step of the functions that are always on. */
static double steady_calls(const struct nsc_policy *p)
{
    double calls = 0;
    uint32_t i;

    for (i = 0; i < p->touched_count; i++)
        if (!p->functions[p->touched[i]].off)
            calls += p->functions[p->touched[i]].calls;
    return calls;
}

/* Their rate, as it was of late. */
static double steady_rate(const struct nsc_policy *p)
{
    double rate = 0;
    uint32_t i;

    for (i = 0; i < p->count; i++)
        if (!p->functions[i].off)
            rate += p->functions[i].rate;
    return rate;
}

/*
 * What of the step's time was the program's own. Where recording takes most of it, the difference
 * of two large numbers says little; then the functions that are always on are the better clock.
 */
static double plain_time(const struct nsc_policy *p, const struct nsc_policy_step *step)
{
    double calls = touched_calls(p), steady, plain;

    plain = step->cpu_ns - calls * p->call_ns - step->lost_calls * LOST_NS;
    plain = fmax(plain, step->cpu_ns / 50);
    if (!p->window_open || plain > step->cpu_ns * CLEAR_SHARE)
        return plain;
    steady = steady_calls(p) * (1 + step->lost_calls / fmax(calls, 1));
    plain = (steady + CLOCK_PRIOR) / (steady_rate(p) + CLOCK_PRIOR / plain);
    return fmin(fmax(plain, step->cpu_ns / 200), step->cpu_ns);
}

/* Adds the step to the window that is open, or to the time before the next. */
static void lengthen(struct nsc_policy *p, const struct nsc_policy_step *step, double plain)
{
    struct nsc_policy_while *w = p->window_open ? &p->window : &p->before;

    w->cpu += step->cpu_ns;
    w->calls += touched_calls(p);
    w->steady += steady_calls(p);
    if (!p->window_open)
        return;
    p->window_plain += plain;
    p->window_cpu += step->cpu_ns;
    p->window_lost |= step->lost_calls > 0;
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
        if (!step->moving && p->off_count > 0)
            lengthen(p, step, plain);
        if (!step->moving)
            learn(p, step, plain);
    }
    /* Calls in no time: the clock has yet to move on. */
    if (plain > 0 || step->moving)
        forget_step(p);
    if (step->moving)
        return;
    if (p->window_open) {
        if (window_over(p)) {
            close_window(p);
            p->before = (struct nsc_policy_while){0};
        }
        return;
    }
    control(p);
    if (p->change_count > 0)
        p->before = (struct nsc_policy_while){0};
    else if (plain > 0)
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

/* A time in windows: its sum, its squares, its products with the quantity. */
struct times {
    double sum, squares, product;
};

/* Processor time without @call_ns for each call. */
static struct times times_by_cost(const struct nsc_policy_samples *s, double call_ns)
{
    return (struct times){
        .sum = fmax(s->cpu - call_ns * s->calls, s->cpu / 100),
        .squares = s->cpu_squares - 2 * call_ns * s->both + call_ns * call_ns * s->calls_squares,
        .product = s->cpu_product - call_ns * s->calls_product,
    };
}

/*
 * The quantity in the windows against a time, times @time; its standard error is that of the
 * windows, or of a count if that is more. @least: what one call more would have added.
 */
static struct guess guess_ratio(const struct nsc_policy_samples *s, struct times t, double time,
                                double least)
{
    double ratio = s->sum / t.sum, residue, counted;

    residue = s->sum_squares - 2 * ratio * t.product + ratio * ratio * t.squares;
    if (s->count > 1 && s->sum > 0)
        residue = fmax(residue, 0) * s->count / (s->count - 1) * few(s->sum, s->sum_squares);
    else
        residue = s->sum * s->sum;
    counted = fmax(s->noise, s->weights) * least * least;
    residue = sqrt(fmax(residue, counted));
    return (struct guess){ratio * time, residue / t.sum * time};
}

/* By processor time, as long as that is clear; else by the steady calls in the windows. */
static struct guess guess_calls(const struct nsc_policy_function *f, struct guess cost)
{
    const struct nsc_policy_samples *s = &f->samples[CALLS];
    double off_plain = fmax(f->off_cpu - cost.value * f->off_calls, 0), doubt;
    struct times t = times_by_cost(s, cost.value);
    struct guess g;

    doubt = cost.error * s->calls / t.sum;
    if (t.sum < s->cpu * CLEAR_SHARE && s->beat > 0) {
        t = (struct times){s->beat, s->beat_squares, s->beat_product};
        doubt = 0;
    }
    g = guess_ratio(s, t, off_plain, 1);
    g.error = hypot(g.error, g.value * hypot(doubt, EDGES));
    return g;
}

/*
 * The share of processor time in the windows, times the time without. That is right when recording
 * lengthens the calls of this function as it does all; were all that its calls cost within them, it
 * would be less.
 */
static struct guess guess_time(const struct nsc_policy_function *f, int quantity, struct guess cost)
{
    const struct nsc_policy_samples *s = &f->samples[quantity];
    double one = s->own_calls > 0 ? s->sum / s->own_calls : 0;
    double plain = fmax(s->cpu - cost.value * s->calls, s->cpu / 100);
    struct guess g = guess_ratio(s, times_by_cost(s, 0), f->off_cpu, one);
    double least = fmax(s->sum - cost.value * s->own_calls, 0) / plain * f->off_cpu;

    g.error = hypot(g.error, g.value - least);
    return g;
}

struct nsc_policy_estimate nsc_policy_estimate(const struct nsc_policy *p, uint32_t function)
{
    const struct nsc_policy_function *f = &p->functions[function];
    struct nsc_policy_estimate e = {0};
    struct guess guesses[3] = {{0}}, cost = guess_cost(p);
    int i;

    if (f->samples[CALLS].weights <= 0)
        return e;
    e.known = true;
    e.self_known = f->samples[SELF].weights > 0;
    guesses[CALLS] = guess_calls(f, cost);
    guesses[TOTAL] = guess_time(f, TOTAL, cost);
    if (e.self_known)
        guesses[SELF] = guess_time(f, SELF, cost);
    for (i = CALLS; i <= SELF; i++) {
        e.value[i] = guesses[i].value;
        e.error[i] = guesses[i].error;
    }
    return e;
}
