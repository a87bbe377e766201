/*
 * test_left_out.c - what is known of calls that were left out: added up by function and
 * process, in proportion to the window, beside what was recorded.
 */
#include "analyze/functions/report.h"
#include "unit/rigs/formats_fixture.h"

static struct nsc_diag diag;

enum { WORK, LEAF, FAR, FUNCTIONS };

/* Two processes that call work and leaf; the budget took leaf out twice in the first one and once
 * in the second, and far, which was never recorded, in all of them. */
static void fill(struct nsc_writer *w)
{
    struct nsc_left_out l = {.function = LEAF,
                             .reason = NSC_LEFT_OUT_BUDGET,
                             .known = NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL,
                             .from_ticks = 1000,
                             .to_ticks = 2000,
                             .windows = 2,
                             .calls = {100, 3},
                             .total_ticks = {400, 30}};

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t p = fx_process(w, 10 + i, "prog");
        struct nsc_lane *lane = fx_thread(w, p, 10 + i, 0, "");

        if (i == 0) {
            fx_function(w, "work", "", 0);
            fx_function(w, "leaf", "", 0);
            fx_function(w, "far", "", 0);
        }
        nsc_lane_enter(lane, 1000, WORK, 0);
        nsc_lane_enter(lane, 1010, LEAF, 0);
        nsc_lane_exit(lane, 1020);
        nsc_lane_exit(lane, 3000);
        nsc_lane_close(lane, 3000);
    }
    nsc_lane_close(fx_thread(w, 0, 12, 0, "idle"), 1000);
    nsc_writer_add_left_out(w, &l, NULL);
    l.from_ticks = 2000;
    l.to_ticks = 3000;
    l.calls = (struct nsc_estimate){200, 4};
    nsc_writer_add_left_out(w, &l, NULL);
    l.process = 1;
    nsc_writer_add_left_out(w, &l, NULL);
    l = (struct nsc_left_out){.function = FAR,
                              .process = NSC_NO_ID,
                              .reason = NSC_LEFT_OUT_SHORT,
                              .known = NSC_LEFT_OUT_CALLS,
                              .from_ticks = 1000,
                              .calls = {7, 0}};
    nsc_writer_add_left_out(w, &l, NULL);
    l = (struct nsc_left_out){.function = NSC_NO_ID,
                              .process = 0,
                              .reason = NSC_LEFT_OUT_TRIGGER,
                              .from_ticks = 100,
                              .to_ticks = 900};
    nsc_writer_add_left_out(w, &l, NULL);
}

static const struct nsc_report_row *row_of(const struct nsc_report *r, uint32_t function,
                                           uint32_t process)
{
    static const struct nsc_report_row none;

    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].function == function && r->rows[i].process == process)
            return &r->rows[i];
    printf("# no row of function %u in process %u\n", function, process);
    return &none;
}

static struct nsc_report make(struct nsc_trace *t, const struct nsc_selection *s, bool per_process,
                              struct nsc_left_out_list *list)
{
    struct nsc_report r = {0};

    CHECK(nsc_left_out_find(t, s, list, &diag) == 0);
    CHECK(nsc_report_make(t, s, per_process, &r, &diag) == 0);
    CHECK(nsc_report_add_left_out(&r, list, &diag) == 0);
    nsc_report_sort(&r, t, NSC_REPORT_BY_CALLS);
    return r;
}

static void test_all(struct nsc_trace *t)
{
    struct nsc_left_out_list list;
    struct nsc_selection s;
    struct nsc_report r;
    const struct nsc_report_row *leaf, *far;

    nsc_selection_init(&s);
    r = make(t, &s, false, &list);
    CHECK_U64(list.all_functions, 2);
    CHECK_U64(list.functions[NSC_LEFT_OUT_BUDGET], 1);
    CHECK_U64(list.functions[NSC_LEFT_OUT_SHORT], 1);
    CHECK_U64(list.nothing_ns[NSC_LEFT_OUT_TRIGGER], 800);
    CHECK(!list.unplaced);
    CHECK_U64(r.row_count, 3);
    CHECK_U64(r.rows[0].function, LEAF); /* by recorded and estimated calls */
    leaf = row_of(&r, LEAF, NSC_NO_ID);
    CHECK_U64(leaf->calls, 2);
    CHECK_U64(leaf->more_calls.value, 500);
    CHECK_U64(leaf->more_calls.error, 6); /* 3, 4 and 4 */
    CHECK_U64(leaf->more_total_ns.value, 1200);
    CHECK_U64(leaf->more_known, NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL);
    CHECK_U64(leaf->more_estimated, NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL);
    CHECK_U64(leaf->left_out, 1u << NSC_LEFT_OUT_BUDGET);
    far = row_of(&r, FAR, NSC_NO_ID);
    CHECK_U64(far->calls, 0);
    CHECK_U64(far->more_calls.value, 7);
    CHECK_U64(far->more_estimated, 0); /* they were counted */
    CHECK_U64(r.calls, 4);
    nsc_report_free(&r);
    nsc_left_out_free(&list);
}

static void test_per_process(struct nsc_trace *t)
{
    struct nsc_left_out_list list;
    struct nsc_selection s;
    struct nsc_report r;

    nsc_selection_init(&s);
    r = make(t, &s, true, &list);
    CHECK_U64(row_of(&r, LEAF, 0)->more_calls.value, 300);
    CHECK_U64(row_of(&r, LEAF, 0)->more_calls.error, 5);
    CHECK_U64(row_of(&r, LEAF, 1)->more_calls.value, 200);
    CHECK_U64(row_of(&r, LEAF, 1)->calls, 1);
    CHECK_U64(row_of(&r, FAR, NSC_NO_ID)->more_calls.value, 7);
    CHECK_U64(r.row_count, 5);
    nsc_report_free(&r);
    nsc_left_out_free(&list);
}

/* Half of the first span, none of the others. */
static void test_window(struct nsc_trace *t)
{
    struct nsc_left_out_list list;
    struct nsc_selection s;
    struct nsc_report r;

    nsc_selection_init(&s);
    s.from_ticks = 500;
    s.to_ticks = 1500;
    r = make(t, &s, false, &list);
    CHECK_U64(row_of(&r, LEAF, NSC_NO_ID)->more_calls.value, 50);
    CHECK_U64(row_of(&r, LEAF, NSC_NO_ID)->more_total_ns.value, 200);
    CHECK_U64(list.nothing_ns[NSC_LEFT_OUT_TRIGGER], 400);
    CHECK_U64(row_of(&r, FAR, NSC_NO_ID)->more_calls.value, 2); /* a quarter of 7 */
    CHECK(row_of(&r, FAR, NSC_NO_ID)->more_estimated != 0);
    nsc_report_free(&r);
    nsc_left_out_free(&list);
}

/* One process of the two: what is of it alone is known. */
static void test_process(struct nsc_trace *t)
{
    uint8_t threads[3] = {1, 0, 1};
    struct nsc_left_out_list list;
    struct nsc_selection s;
    struct nsc_report r;

    nsc_selection_init(&s);
    s.threads = threads;
    r = make(t, &s, false, &list);
    CHECK_U64(row_of(&r, LEAF, 0)->more_calls.value, 300);
    CHECK_U64(list.all_functions, 2);
    CHECK(list.unplaced); /* far, of all processes */
    nsc_report_free(&r);
    nsc_left_out_free(&list);
}

/* One thread of a process, and hidden functions. */
static void test_threads(struct nsc_trace *t)
{
    uint8_t threads[3] = {1, 1, 0}, hidden[FUNCTIONS] = {0, 1, 0};
    struct nsc_left_out_list list;
    struct nsc_selection s;
    struct nsc_report r;

    nsc_selection_init(&s);
    s.threads = threads;
    r = make(t, &s, false, &list);
    CHECK_U64(row_of(&r, LEAF, NSC_NO_ID)->more_calls.value, 200);
    CHECK(list.unplaced);
    nsc_report_free(&r);
    nsc_left_out_free(&list);

    s.threads = NULL;
    s.hidden = hidden;
    r = make(t, &s, false, &list);
    CHECK_U64(list.all_functions, 1);
    nsc_report_free(&r);
    nsc_left_out_free(&list);
}

/* No format has a place for it, so each export says it. */
static void test_exports(struct nsc_trace *t)
{
    static const char *const formats[] = {"nanoscope", "perfetto", "chrome", "folded"};
    struct nsc_export_result result;

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        bool told = false;

        CHECK(nsc_formats_export(t, formats[i], fx_path("exported"), NULL, &result, &diag) == 0);
        for (uint32_t k = 0; k < result.notes.count; k++)
            told = told || strstr(result.notes.line[k], "calls of 2 functions were left out");
        t_report(told, __FILE__, __LINE__, formats[i]);
    }
}

int main(void)
{
    struct nsc_trace *t;

    fx_begin();
    t = fx_trace(fill);
    test_all(t);
    test_per_process(t);
    test_window(t);
    test_process(t);
    test_threads(t);
    test_exports(t);
    nsc_trace_close(t);
    fx_end();
    return t_done();
}
