/* budget_policy.c - see budget_policy.h. */
#include "record/budget/budget_policy.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS 1e6

/* Rates are means over this plain time. */
#define MEAN_NS        (200 * MS)
/* Weight of its mean that a function keeps when it is switched: its new behaviour soon counts for
 * more. */
#define KEPT_NS        (1 * MS)
/* The time of the mean while a function is off, and seen in windows only. */
#define OFF_NS         (3 * MS)
#define RECENT_NS      (2 * MS)
/* Debt is paid back and savings are spent over this time. */
#define HORIZON_NS     (150 * MS)
/* Limits of the account, as the share of a time: maximum savings, and initial credit, which pays
 * for the first measurements. */
#define SAVED_NS       (50 * MS)
#define FIRST_NS       (15 * MS)
/* With a debt above the share of this time, the recent rates decide instead of the means. */
#define PATIENCE_NS    (8 * MS)
#define DEBT_MAX_NS    (1000 * MS)
/* A disabled function stays off for this time. The time doubles whenever the function is enabled
 * again and soon has to be disabled. */
#define HOLD_NS        (15 * MS)
#define HOLD_MAX_NS    (4000 * MS)
/* Part of the budget for windows; plain time of a window, and of an expensive one. */
#define WINDOW_SHARE   0.12
#define WINDOW_NS      (1 * MS)
#define WHOLE_NS       (0.2 * MS)
/* Maximum processor time of an expensive window, where calls cost many times the program's own
 * time: such windows are shorter, but more frequent. */
#define WHOLE_CPU_NS   (1 * MS)
#define WINDOW_SLACK   2.0
/* Windows also get this part of the unspent budget. Where little else can be recorded, as in a
 * program that is one hot loop, estimates are all there is. */
#define WINDOW_UNSPENT 0.5
/* Limits of the windows' accounts, as their part of the share of a time: initial credit, and
 * maximum. */
#define WINDOW_FIRST   (60 * MS)
#define WINDOW_SAVED   (800 * MS)
/* A window enables functions from the lowest rate up while they cost no more than this many times
 * the budget. Half of the windows' part is for whole windows, which enable all. */
#define WINDOW_COST    4.0
/* Hysteresis between disabling and enabling functions. */
#define TOO_MUCH       1.05
#define ENOUGH         0.93
/* A function is exchanged for another one if it has been on for this time, and its rate is this
 * many times the other's. */
#define TRIED_NS       (30 * MS)
#define BETTER         1.5
/* Part of the share that is used; the rest is for other costs (cache misses of trampolines, page
 * copies). */
#define CAUTION        0.74

#define BLOCK_NS    (100 * MS)
#define BLOCK_SLACK 1.1

/* Cost of a lost call, entry and exit, in ns. */
#define LOST_NS    5
/* The quota between two steps: the share of RATION_NS, reduced by debt, but at least the share of
 * RATION_MIN. */
#define RATION_NS  (100 * MS)
#define RATION_MIN (25 * MS)

/* A cost of this many times the budget is an alarm: functions may be disabled by a quick estimate.
 */
#define ALARM 3.0

/* A function is usually disabled when its rate is above average. So this part of its rate is
 * assumed for the time after that, with this relative error. */
#define OFF_PART    0.5
#define OFF_DOUBT   0.5
/* If plain time is at least this part of processor time, it is accurate. */
#define CLEAR_SHARE 0.5
/* Relative error of the assumption that lost calls are of the same functions as the others. */
#define LOST_DOUBT  0.3
/* With this many lost calls per recorded call, the recorded ones do not represent the lost ones. */
#define LOST_BLIND  50
/* Relative error of the part of recording in times measured in windows. */
#define TIME_DOUBT  0.5

enum { CALLS, TOTAL, SELF };

void nsc_policy_init(struct nsc_policy *p, double share, double call_ns)
{
    *p =
        (struct nsc_policy){.share = share * CAUTION, .call_ns = call_ns, .clock.call_ns = call_ns};
    p->credit_ns = p->share * FIRST_NS;
    p->window_credit_ns = p->whole_credit_ns = WINDOW_SHARE / 2 * p->share * WINDOW_FIRST;
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
    /* The function may not have run before: its mean is over all of the time so far. */
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

/* ---- Measurements --------------------------------------------------------------------------- */

/* Returns the recorded calls of the step. */
static double touched_calls(const struct nsc_policy *p)
{
    double calls = 0;
    uint32_t i;

    for (i = 0; i < p->touched_count; i++)
        calls += p->functions[p->touched[i]].calls;
    return calls;
}

/* Updates the rates. Lost calls are taken to be of the same functions as the recorded ones. */
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
        f->recent += (rate - f->recent) * fmin(plain / fmin(plain + RECENT_NS, f->weight), 1);
    }
}

/* Corrects implausible times. A total above the time of all threads comes from calls that were open
 * when their function was disabled, and ended when that was detected. Then the mean of earlier
 * calls is the better estimate. */
static void make_sense(struct nsc_policy_function *f, const struct nsc_policy_step *step)
{
    double by = f->calls / fmax(f->seen[CALLS], 1);

    if (step->ticks > 0 && f->total_ticks > step->ticks) {
        f->total_ticks = f->seen[CALLS] > 0 ? fmin(f->seen[TOTAL] * by, step->ticks) : 0;
        f->self_ticks = f->seen[CALLS] > 0 ? fmin(f->seen[SELF] * by, f->total_ticks) : 0;
        return;
    }
    f->seen[CALLS] += f->calls;
    f->seen[TOTAL] += f->total_ticks;
    f->seen[SELF] += f->self_ticks;
}

/* Returns the mean of a quantity per call. */
static double one_of(const struct nsc_policy_function *f, int which)
{
    return which == CALLS ? 1 : f->seen[which] / fmax(f->seen[CALLS], 1);
}

static void add_times(double to[3], const struct nsc_policy_function *f, double by)
{
    to[CALLS] += f->calls * by;
    to[TOTAL] += f->total_ticks * by;
    to[SELF] += f->self_ticks * by;
}

/* Adds the step to the time in which the function was not recorded. */
static void leave_out(struct nsc_policy_function *f, const struct nsc_policy_step *step,
                      double plain)
{
    nsc_strata_pass(&f->strata[CALLS], plain);
    nsc_strata_pass(&f->strata[TOTAL], step->cpu_ns);
    nsc_strata_pass(&f->strata[SELF], step->cpu_ns);
    f->off_ticks += step->ticks;
}

/* True if too few calls of a step were recorded to represent the lost ones. */
static bool is_blind(const struct nsc_budget_tally *t)
{
    return t->lost > LOST_BLIND * t->calls;
}

/*
 * Adds the step to the open window, and to the left-out time of the other functions. If calls were
 * lost, the recorded calls represent them, also for functions that are on. If too few were
 * recorded, the time counts as left out.
 */
static void sample(struct nsc_policy *p, const struct nsc_policy_step *step, double plain)
{
    double more = 1 + step->lost_calls / fmax(p->step.calls, 1);
    bool blind = is_blind(&p->step);
    uint32_t i;

    for (i = 0; i < p->touched_count; i++)
        make_sense(&p->functions[p->touched[i]], step);
    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];
        bool on = is_on(f) || f->leaving;

        if (on && more > 1 && !blind && f->calls > 0) {
            add_times(f->missed, f, more - 1);
            f->off_ticks += step->ticks * (1 - 1 / more);
        }
        if (!on || (f->sampled && !step->moving && blind))
            leave_out(f, step, plain);
        else if (f->sampled && !step->moving)
            add_times(f->in_window, f, more);
    }
}

/* ---- The program's own time ------------------------------------------------------------------ */

/* Returns the calls per plain ns of the functions that are always on. */
static double steady_rate(const struct nsc_policy *p)
{
    double rate = 0;
    uint32_t i;

    for (i = 0; i < p->count; i++)
        if (!p->functions[i].off)
            rate += p->functions[i].recent;
    return rate;
}

static struct nsc_budget_tally tally(const struct nsc_policy *p, const struct nsc_policy_step *step)
{
    struct nsc_budget_tally t = {
        .cpu_ns = step->cpu_ns, .doubt_ns = step->cpu_doubt_ns, .lost = step->lost_calls};
    uint32_t i;

    for (i = 0; i < p->touched_count; i++) {
        const struct nsc_policy_function *f = &p->functions[p->touched[i]];

        t.calls += f->calls;
        t.steady += f->off ? 0 : f->calls;
    }
    return t;
}

/* Returns the step's plain time. */
static double plain_time(const struct nsc_policy *p)
{
    const struct nsc_budget_tally *t = &p->step;
    double plain = t->cpu_ns - t->calls * p->call_ns - t->lost * LOST_NS;

    if (p->window_open)
        return nsc_budget_clock_read(&p->clock, t, p->window_rate).ns;
    return plain > t->cpu_ns * CLEAR_SHARE ? plain : nsc_budget_clock_read(&p->clock, t, 0).ns;
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

/* Begins a span in which the function is off. @rate: its rate until now. */
static void start_span(struct nsc_policy_function *f, double rate)
{
    f->peak = rate;
    for (int i = CALLS; i <= SELF; i++)
        nsc_strata_start(&f->strata[i], OFF_PART * rate * one_of(f, i), OFF_DOUBT);
}

static void switch_off(struct nsc_policy *p, uint32_t function)
{
    struct nsc_policy_function *f = &p->functions[function];

    /* It was on for a short time only: wait longer before the next try. */
    if (f->on_since > 0 && p->plain_ns - f->on_since < f->hold)
        f->hold = fmin(f->hold * 2, HOLD_MAX_NS);
    f->retry_at = p->plain_ns + f->hold;
    f->off = true;
    f->weight = fmin(f->weight, KEPT_NS);
    start_span(f, nsc_budget_clock_least_rate(&p->clock, f->recent, p->call_ns));
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
    for (int i = CALLS; i <= SELF; i++)
        nsc_strata_end(&f->strata[i]);
    change(p, function, true);
}

/* Returns the present cost of recording, as a share of plain time; by recent rates or by means. */
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

/* Disables the functions with the highest rates until @cost is at most @target, so that the fewest
 * are disabled. */
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

/* Lists the functions that are off in p->scratch; returns their number. */
static uint32_t list_off(struct nsc_policy *p)
{
    uint32_t i, n = 0;

    for (i = 0; i < p->count; i++)
        if (p->functions[i].off)
            p->scratch[n++] = i;
    return n;
}

/* As list_off(), ordered by ascending rate. */
static uint32_t sort_off(struct nsc_policy *p, bool recent)
{
    struct order order = {p->functions, recent, false};
    uint32_t n = list_off(p);

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

/*
 * Exchanges two functions, as the first choice may be wrong. Called if the account is in order and
 * nothing else changes. The function with the highest rate is disabled for the one with the lowest
 * rate among those that are off, if that is much lower. So the same number of recorded calls covers
 * more functions.
 */
static void exchange(struct nsc_policy *p)
{
    uint32_t none = p->count, in = none, out = none, i;

    for (i = 0; i < p->count; i++) {
        const struct nsc_policy_function *f = &p->functions[i];

        if (f->off && f->retry_at <= p->plain_ns) {
            if (in == none || f->rate < p->functions[in].rate)
                in = i;
        } else if (!f->off && !f->fixed && f->weight >= TRIED_NS) {
            if (out == none || f->rate > p->functions[out].rate)
                out = i;
        }
    }
    if (in == none || out == none || p->functions[out].rate < BETTER * p->functions[in].rate)
        return;
    switch_off(p, out);
    switch_on(p, in);
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
    if (p->change_count == 0 && p->off_count > 0 && !in_debt)
        exchange(p);
}

/* ---- Quick estimates ------------------------------------------------------------------------ */

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
        on += p->functions[i].off ? 0 : p->functions[i].glimpse; /* others are disabled */
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

static double window_credit_most(const struct nsc_policy *p)
{
    return WINDOW_SHARE * p->share * WINDOW_SAVED;
}

/* Chooses the functions of the next window, which start p->scratch; returns their number. @cost:
 * receives their cost, as a share of plain time. */
static uint32_t plan_window(struct nsc_policy *p, bool *whole, double *cost)
{
    uint32_t n = *whole ? list_off(p) : sort_off(p, true), i;
    double sum = 0;

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

static bool open_window(struct nsc_policy *p, bool whole)
{
    double cost, length, *credit = whole ? &p->whole_credit_ns : &p->window_credit_ns;
    uint32_t n, i;

    if (p->off_count == 0 || *credit <= 0)
        return false;
    n = plan_window(p, &whole, &cost);
    length = cost > WINDOW_COST * p->share ? fmin(WHOLE_NS, WHOLE_CPU_NS / (1 + cost)) : WINDOW_NS;
    /* At most what can be saved up. */
    length = fmin(length, window_credit_most(p) / 4 / fmax(cost, DBL_MIN));
    if (*credit < cost * length * (1 + p->window_wait))
        return false;
    p->window_open = true;
    p->window_whole = whole;
    p->window_account = credit;
    p->window_length = length;
    p->window_cost = cost;
    p->window_plain = p->window_cpu = p->window_spent = 0;
    p->window = (struct nsc_budget_tally){0};
    p->window_rate = steady_rate(p);
    p->windows++;
    for (i = 0; i < n; i++) {
        struct nsc_policy_function *f = &p->functions[p->scratch[i]];

        f->sampled = true;
        memset(f->in_window, 0, sizeof f->in_window);
        change(p, p->scratch[i], true);
    }
    return true;
}

/* Returns a random factor in [0, 1) for the wait before the next window: windows at regular
 * intervals might always meet a regular program in the same phase. */
static double random_wait(struct nsc_policy *p)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->random >> 32) / 0x1p32;
}

/* Adds the open window to a function's estimates. */
static void end_sample(const struct nsc_policy *p, struct nsc_policy_function *f,
                       struct nsc_budget_time plain)
{
    const struct nsc_budget_tally *w = &p->window;
    double middle = (plain.least + plain.most) / 2;
    double clock = (middle / plain.least - middle / plain.most) / 2;
    double lost = LOST_DOUBT * w->lost / fmax(w->calls + w->lost, 1);
    double times = TIME_DOUBT * fmax(1 - plain.ns / w->cpu_ns, 0) + w->doubt_ns / w->cpu_ns;

    f->recent = (f->recent + f->in_window[CALLS] / middle) / 2;
    nsc_strata_window(&f->strata[CALLS], f->in_window[CALLS], middle, hypot(clock, lost));
    nsc_strata_window(&f->strata[TOTAL], f->in_window[TOTAL], w->cpu_ns, hypot(times, lost));
    if (p->window_whole)
        nsc_strata_window(&f->strata[SELF], f->in_window[SELF], w->cpu_ns, hypot(times, lost));
}

static void close_window(struct nsc_policy *p)
{
    struct nsc_budget_time plain;
    uint32_t i;

    p->window.doubt_ns = hypot(p->window.doubt_ns, p->step.doubt_ns);
    plain = nsc_budget_clock_read(&p->clock, &p->window, p->window_rate);
    p->window_open = false;
    p->window_wait = random_wait(p);
    for (i = 0; i < p->count; i++) {
        struct nsc_policy_function *f = &p->functions[i];

        if (!f->sampled)
            continue;
        f->sampled = false;
        if (p->window.cpu_ns > 0)
            end_sample(p, f, plain);
        change(p, i, false);
    }
}

/* Returns the planned processor time of the window. */
static double window_cpu_ns(const struct nsc_policy *p)
{
    return p->window_length * (1 + p->share + p->window_cost);
}

/* True if the window is over. Where most time is recording cost, plain time may be wrong: then the
 * planned processor time decides. */
static bool window_over(const struct nsc_policy *p)
{
    return p->window_plain >= p->window_length || p->window_cpu >= WINDOW_SLACK * window_cpu_ns(p);
}

/* For the summary: finds since when the budget has been kept, excluding windows. */
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

void nsc_policy_step(struct nsc_policy *p, const struct nsc_policy_step *step)
{
    double plain, spent, unspent, earned, most = window_credit_most(p) / 2;

    p->change_count = 0;
    p->step = tally(p, step);
    plain = step->cpu_ns > 0 ? plain_time(p) : 0;
    spent = step->cpu_ns - plain + step->charged_ns;
    p->cpu_ns += step->cpu_ns;
    p->plain_ns += plain;
    p->spent_ns += spent;
    if (!p->window_open)
        watch_blocks(p, plain, spent);
    p->credit_ns += p->share * plain - spent;
    unspent = fmax(p->credit_ns - p->share * SAVED_NS, 0);
    p->credit_ns = fmax(p->credit_ns - unspent, -p->share * DEBT_MAX_NS);
    earned = WINDOW_SHARE * p->share * plain + WINDOW_UNSPENT * unspent;
    p->window_credit_ns = fmin(p->window_credit_ns + earned / 2, most);
    p->whole_credit_ns = fmin(p->whole_credit_ns + earned / 2, most);
    if (p->window_open) {
        p->window_spent += spent;
        *p->window_account -= spent;
    }
    if (plain > 0) {
        sample(p, step, plain);
        if (!step->moving) {
            if (!p->window_open)
                nsc_budget_clock_watch(&p->clock, p->step.steady, steady_rate(p) * plain, plain);
            learn(p, step, plain);
            p->window_plain += plain;
            p->window_cpu += step->cpu_ns;
            if (!is_blind(&p->step))
                nsc_budget_clock_add(&p->window, &p->step);
        } else if (p->window_open) { /* the window begins here */
            p->window.doubt_ns = p->step.doubt_ns;
        }
    }
    /* Keep calls without any time for the next step: the clock has not advanced yet. */
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
    if (p->change_count == 0 && !open_window(p, true))
        open_window(p, false);
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

/* Estimates one quantity: the left-out part and the lost part. */
static void estimate(const struct nsc_policy_function *f, int which, struct nsc_policy_estimate *e)
{
    double one = one_of(f, which);
    double value, error;

    nsc_strata_estimate(&f->strata[which], f->peak * one, one, &value, &error);
    e->value[which] = value + f->missed[which];
    e->error[which] = hypot(error, LOST_DOUBT * f->missed[which]);
}

struct nsc_policy_estimate nsc_policy_estimate(const struct nsc_policy *p, uint32_t function)
{
    const struct nsc_policy_function *f = &p->functions[function];
    struct nsc_policy_estimate e = {0};

    if (f->strata[CALLS].windows == 0)
        return e;
    e.known = true;
    estimate(f, CALLS, &e);
    estimate(f, TOTAL, &e);
    /* At most the time available. */
    if (f->off_ticks > 0) {
        e.value[TOTAL] = fmin(e.value[TOTAL], f->off_ticks);
        e.error[TOTAL] = fmin(e.error[TOTAL], f->off_ticks);
    }
    if (f->strata[SELF].windows == 0)
        return e;
    e.self_known = true;
    estimate(f, SELF, &e);
    e.value[SELF] = fmin(e.value[SELF], e.value[TOTAL]);
    if (f->off_ticks > 0)
        e.error[SELF] = fmin(e.error[SELF], f->off_ticks);
    return e;
}
