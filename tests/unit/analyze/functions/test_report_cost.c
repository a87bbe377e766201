/*
 * test_report_cost.c - report --compensate: a program's calls, and the same calls with the hooks'
 * time added, give the same report once it is taken out again.
 */
#include "analyze/functions/report.h"
#include "tap.h"
#include "unit/rigs/formats_fixture.h"

enum { FUNCTIONS = 6, ROUNDS = 200, EVENTS = 400, INNER = 10, OUTER = 25 };

static struct nsc_diag diag;
static uint64_t state;
static uint64_t inner, outer; /* that fill() adds */

static uint32_t random32(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % below;
}

/* Random calls; with the hooks' time added where they take it. */
static void fill_thread(struct nsc_lane *lane)
{
    uint64_t ticks = 100;
    uint32_t depth = 0, i;

    for (i = 0; i < EVENTS; i++) {
        ticks += random32(3) == 0 ? 0 : random32(40);
        if (depth == 0 || random32(100) < 50) {
            nsc_lane_enter(lane, ticks, random32(FUNCTIONS), 0);
            ticks += inner;
            depth++;
        } else if (random32(20) == 0) {
            nsc_lane_unwind(lane, ticks); /* no hook saw that */
            depth--;
        } else {
            nsc_lane_exit(lane, ticks);
            ticks += outer;
            depth--;
        }
    }
    while (depth-- > 0) {
        nsc_lane_exit(lane, ticks);
        ticks += outer;
    }
    nsc_lane_close(lane, ticks);
}

static void fill(struct nsc_writer *w)
{
    uint32_t process = fx_process(w, 1, "p");
    char text[24];

    for (char name[2] = "a"; name[0] < 'a' + FUNCTIONS; name[0]++)
        fx_function(w, name, "", 0);
    snprintf(text, sizeof text, "%u", INNER + OUTER);
    nsc_writer_meta(w, NSC_META_HOOK_TICKS, text);
    snprintf(text, sizeof text, "%u", INNER);
    nsc_writer_meta(w, NSC_META_HOOK_INNER_TICKS, text);
    fill_thread(fx_thread(w, process, 1, 0, "one"));
}

static struct nsc_trace *make(uint64_t seed, uint64_t add_inner, uint64_t add_outer)
{
    state = seed;
    inner = add_inner;
    outer = add_outer;
    return fx_trace(fill);
}

static void report(struct nsc_trace *t, bool compensate, struct nsc_report *out)
{
    struct nsc_selection s;

    nsc_selection_init(&s);
    if (compensate)
        CHECK(nsc_selection_compensate(&s, t) == 0);
    if (nsc_report_make(t, &s, false, out, &diag) != 0)
        t_report(0, __FILE__, __LINE__, diag.message);
    nsc_selection_free(&s);
}

static bool same_row(const struct nsc_report_row *a, const struct nsc_report_row *b)
{
    return a->function == b->function && a->calls == b->calls && a->total_ns == b->total_ns &&
           a->self_ns == b->self_ns && a->min_ns == b->min_ns && a->p50_ns == b->p50_ns &&
           a->p99_ns == b->p99_ns && a->max_ns == b->max_ns;
}

static void check_round(uint64_t seed)
{
    struct nsc_report plain, measured;
    struct nsc_trace *true_trace, *trace;
    size_t bad = 0;

    true_trace = make(seed, 0, 0);
    trace = make(seed, INNER, OUTER);
    report(true_trace, false, &plain);
    report(trace, true, &measured);
    bad = plain.row_count != measured.row_count;
    for (size_t i = 0; bad == 0 && i < plain.row_count; i++)
        bad += !same_row(&plain.rows[i], &measured.rows[i]);
    if (bad != 0)
        CHECK_U64(bad, 0);
    nsc_report_free(&plain);
    nsc_report_free(&measured);
    nsc_trace_close(true_trace);
    nsc_trace_close(trace);
}

/* More is to be taken out than the calls lasted. */
static void check_bounds(void)
{
    struct nsc_report r;
    struct nsc_trace *trace = make(7, 0, 0);

    report(trace, true, &r);
    for (size_t i = 0; i < r.row_count; i++)
        if (r.rows[i].total_ns > 20 * EVENTS || r.rows[i].max_ns > 20 * EVENTS)
            CHECK_U64(r.rows[i].total_ns, 0);
    nsc_report_free(&r);
    nsc_trace_close(trace);
}

int main(void)
{
    fx_begin();
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        check_round(seed);
    check_bounds();
    fx_end();
    CHECK(true);
    return t_done();
}
