/*
 * test_folded.c - folded stacks against `report`, which counts by other means: over random
 * threads with unwinds, late exits, gaps and recursion the numbers of both agree to the nanosecond.
 *
 * In windows and without some functions they do so where every entry was seen. Otherwise an export,
 * which reads a thread twice, knows more: of calls that return behind the window, and that a late
 * call began after a hidden one had ended.
 */
#include "analyze/functions/report.h"
#include "tap.h"
#include "unit/rigs/formats_fixture.h"

#define FUNCTIONS 6
#define ROUNDS    300

static struct nsc_diag diag;
static uint64_t state;
static bool all_seen; /* no late exits and gaps */

static uint32_t random32(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33) % below;
}

static uint64_t fill_thread(struct nsc_lane *lane)
{
    uint64_t ticks = 100 + random32(50);
    uint32_t depth = 0, late_depth = 0; /* late exits are possible at this depth only */

    for (unsigned i = 0; i < 60; i++) {
        uint32_t what = random32(100), function = random32(FUNCTIONS);

        ticks += random32(4) == 0 ? 0 : random32(20);
        if (all_seen)
            what = 12 + what % 88;
        if (what < 8 && depth == late_depth) {
            nsc_lane_late_exit(lane, ticks, function);
        } else if (what < 12) {
            nsc_lane_lost(lane, ticks, 1 + random32(9));
            late_depth = depth;
        } else if (what < 55 || depth == 0) {
            nsc_lane_enter(lane, ticks, function, 0);
            depth++;
        } else {
            if (what < 65)
                nsc_lane_unwind(lane, ticks);
            else
                nsc_lane_exit(lane, ticks);
            depth--;
            late_depth = late_depth > depth ? depth : late_depth;
        }
    }
    nsc_lane_close(lane, ticks);
    return ticks;
}

static void fill(struct nsc_writer *w)
{
    uint32_t process = fx_process(w, 1, "p");

    for (char name[2] = "a"; name[0] < 'a' + FUNCTIONS; name[0]++)
        fx_function(w, name, "", 0);
    fill_thread(fx_thread(w, process, 1, 0, "one"));
    fill_thread(fx_thread(w, process, 2, 0, "two"));
}

/* Add the lines of fx.folded up by innermost function. */
static void add_up(uint64_t sums[FUNCTIONS])
{
    char *text = fx_read("fx.folded", NULL);

    memset(sums, 0, FUNCTIONS * sizeof sums[0]);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *space = strrchr(line, ' ');
        int function = space != NULL && space > line ? space[-1] - 'a' : -1;

        if (function < 0 || function >= FUNCTIONS)
            t_report(0, __FILE__, __LINE__, line);
        else
            sums[function] += strtoull(space, NULL, 10);
    }
    free(text);
}

static unsigned compare(struct nsc_trace *t, const struct nsc_selection *s)
{
    struct nsc_export_options options = {.size = sizeof options,
                                         .from_ticks = s->from_ticks,
                                         .to_ticks = s->to_ticks,
                                         .hidden = s->hidden};
    uint64_t self[FUNCTIONS], calls[FUNCTIONS];
    struct nsc_export_result r;
    struct nsc_report report;
    unsigned wrong = 0;

    if (nsc_formats_export(t, "folded", fx_path("fx.folded"), &options, &r, &diag) != 0)
        return 1000;
    add_up(self);
    options.weight = NSC_WEIGHT_CALLS;
    if (nsc_formats_export(t, "folded", fx_path("fx.folded"), &options, &r, &diag) != 0 ||
        nsc_report_make(t, s, false, &report, &diag) != 0)
        return 1000;
    add_up(calls);
    for (size_t i = 0; i < report.row_count; i++) {
        const struct nsc_report_row *row = &report.rows[i];

        if (row->calls != calls[row->function] || row->self_ns != self[row->function]) {
            printf("# %c: report %d calls %d ns, folded %d calls %d ns\n", 'a' + (int)row->function,
                   (int)row->calls, (int)row->self_ns, (int)calls[row->function],
                   (int)self[row->function]);
            wrong++;
        }
        calls[row->function] = self[row->function] = 0;
    }
    for (unsigned i = 0; i < FUNCTIONS; i++)
        wrong += calls[i] + self[i] != 0;
    nsc_report_free(&report);
    return wrong;
}

static void test_round(unsigned round, unsigned wrong[3])
{
    uint8_t hidden[FUNCTIONS];
    struct nsc_selection s;
    struct nsc_trace *t;

    state = round;
    all_seen = round % 2 == 0;
    t = fx_trace(fill);
    nsc_selection_init(&s);
    wrong[0] += compare(t, &s) != 0;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        hidden[i] = random32(3) == 0;
    if (all_seen) {
        s.hidden = hidden;
        wrong[1] += compare(t, &s) != 0;
        s.from_ticks = 100 + random32(500);
        s.to_ticks = s.from_ticks + 1 + random32(300);
        wrong[2] += compare(t, &s) != 0;
    }
    nsc_trace_close(t);
}

int main(void)
{
    unsigned wrong[3] = {0};

    fx_begin();
    for (unsigned round = 0; round < ROUNDS; round++)
        test_round(round, wrong);
    CHECK_U64(wrong[0], 0); /* whole traces */
    CHECK_U64(wrong[1], 0); /* without some functions */
    CHECK_U64(wrong[2], 0); /* and in a window */
    fx_end();
    return t_done();
}
