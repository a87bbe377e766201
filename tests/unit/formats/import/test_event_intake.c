/* The sorting of events that come in any order, and the nesting of calls that do not fit together.
 */
#include "formats/export/balanced_walk.h"
#include "formats/import/event_intake.h"
#include "formats/import/external_sort.h"
#include "unit/rigs/formats_fixture.h"

/* ---- Sorting ------------------------------------------------------------------------------ */

static uint32_t random_below(uint32_t below)
{
    static uint32_t state = 12345;

    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/* Whether @b may follow @a; spare counts what was added, so it keeps equal ones in order. */
static int in_order(const struct nsc_external_sort_item *a, const struct nsc_external_sort_item *b)
{
    if (a->track != b->track)
        return a->track < b->track;
    if (a->ns != b->ns)
        return a->ns < b->ns;
    if (a->last != b->last)
        return a->last < b->last;
    if (a->last && a->value != b->value)
        return a->value > b->value;
    return a->name < b->name;
}

static void check_sorted(uint32_t count, uint32_t run_items, bool sorted_input, const char *what)
{
    struct nsc_external_sort *s = nsc_external_sort_new(run_items);
    struct nsc_external_sort_item item, last = {0};
    struct nsc_diag diag;
    uint64_t sum = 0;
    uint32_t got = 0;
    int good = 1, more;

    for (uint32_t i = 0; i < count; i++) {
        item = (struct nsc_external_sort_item){.track = sorted_input ? 1 : random_below(3),
                                               .ns = sorted_input ? i : random_below(40),
                                               .last = (uint8_t)random_below(2),
                                               .value = random_below(5),
                                               .name = i};
        sum += i;
        good &= nsc_external_sort_add(s, &item, &diag) == 0;
    }
    good &= nsc_external_sort_count(s) == count;
    while ((more = nsc_external_sort_next(s, &item, &diag)) > 0) {
        good &= got == 0 || in_order(&last, &item);
        last = item;
        sum -= item.name;
        got++;
    }
    t_report(good && more == 0 && got == count && sum == 0, __FILE__, __LINE__, what);
    nsc_external_sort_free(s);
}

/* ---- Nesting ------------------------------------------------------------------------------ */

static struct nsc_import_options options = {.size = sizeof options};
static struct nsc_notes notes;

static struct nsc_trace *import(void (*fill)(struct nsc_intake *in))
{
    struct nsc_writer_options writer_options = {.size = sizeof writer_options, .overwrite = true};
    struct nsc_import job = {
        .path = "-", .name = "job", .notes = &notes, .progress = &options.progress};
    struct nsc_trace *t = NULL;
    struct nsc_intake *in = NULL;
    struct nsc_diag diag = {0};
    int error = nsc_writer_create(fx_path("in.nst"), &writer_options, &job.writer, &diag);

    notes = (struct nsc_notes){0};
    if (error == 0)
        error = nsc_intake_open(&job, &in, &diag);
    if (error == 0) {
        fill(in);
        error = nsc_intake_finish(in, &diag);
        nsc_intake_close(in);
    }
    if (error == 0 && nsc_writer_finish(job.writer, &diag) == 0)
        error = nsc_trace_open(fx_path("in.nst"), 0, &t, &diag);
    if (error != 0) {
        printf("Bail out! %s\n", diag.message);
        exit(1);
    }
    return t;
}

/* A thread's calls as "10(a 20(b 30) 40)": "!" marks a bound at the end, "?" a late exit. */
static const char *calls_of(struct nsc_trace *t, uint32_t thread)
{
    static char text[1024];
    struct nsc_walk_options walk_options = {.to_ticks = UINT64_MAX, .raw_late = true};
    struct nsc_walk_event e;
    struct nsc_walk *w;
    struct nsc_diag diag;
    size_t n = 0;

    text[0] = '\0';
    if (nsc_walk_open(t, thread, &walk_options, &w, &diag) != 0)
        return "cannot walk";
    while (nsc_walk_next(w, &e, &diag) > 0 && n < sizeof text - 100) {
        const char *name = e.kind == NSC_WALK_LOST ? "" : nsc_trace_function(t, e.function)->name;
        const char *space = n > 0 ? " " : "";
        unsigned long long at = e.ticks;

        if (e.kind == NSC_WALK_BEGIN)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu(%s", space, at, name);
        else if (e.kind == NSC_WALK_END)
            n += (size_t)snprintf(text + n, sizeof text - n, " %llu%s)", at,
                                  (e.bound & NSC_BOUND_END) != 0 ? "!" : "");
        else if (e.kind == NSC_WALK_LATE)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu?%s", space, at, name);
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%llu-%llu", space, at,
                                  (unsigned long long)e.value);
    }
    nsc_walk_close(w);
    return text;
}

static struct nsc_intake *now;
static uint32_t at_track;

static uint32_t fn(const char *name)
{
    return nsc_intake_function_name(now, name, strlen(name));
}

static void use(struct nsc_intake *in)
{
    now = in;
    at_track = nsc_intake_track(in, nsc_intake_process(in, 7), 8, 0);
}

static void begin(uint64_t ns, const char *name)
{
    nsc_intake_begin(now, at_track, ns, fn(name), false);
}

static void end(uint64_t ns)
{
    nsc_intake_end(now, at_track, ns, NSC_NO_ID, false);
}

static void slice(uint64_t ns, uint64_t end_ns, const char *name)
{
    nsc_intake_slice(now, at_track, ns, end_ns - ns, fn(name));
}

static void fill_plain(struct nsc_intake *in)
{
    use(in);
    end(40); /* backwards: the order of the input only counts at the same time */
    end(30);
    begin(10, "a");
    begin(20, "b");
    begin(50, "zero");
    end(50);
    begin(50, "next");
    end(60);
}

static void fill_slices(struct nsc_intake *in)
{
    use(in);
    slice(20, 30, "inner"); /* complete events come when they end */
    slice(10, 40, "outer");
    slice(10, 15, "first");
    slice(40, 40, "zero");
    slice(40, 50, "next");
}

static void fill_overlap(struct nsc_intake *in)
{
    use(in);
    slice(10, 20, "a");
    slice(15, 30, "b");
    slice(16, 40, "c");
    slice(30, 40, "d");
}

/* A begin within a slice, and its end behind it. */
static void fill_ghost(struct nsc_intake *in)
{
    use(in);
    begin(5, "all");
    slice(10, 20, "s");
    begin(15, "b");
    begin(25, "c");
    end(30);
    end(35); /* of b, which ended with s */
    end(40);
    end(50); /* of nothing */
}

static void fill_mixed(struct nsc_intake *in)
{
    use(in);
    slice(10, 30, "s");
    begin(12, "b");
    slice(14, 20, "leaf");
    slice(25, 29, "long");
    end(27);
    begin(30, "open");
    nsc_intake_slice(in, at_track, 31, NSC_NESTING_OPEN, fn("endless"));
    slice(33, 34, "leaf");
    end(35);
    begin(36, "never");
}

static void fill_late(struct nsc_intake *in)
{
    use(in);
    nsc_intake_begin(in, at_track, 10, fn("late"), true);
    begin(10, "in");
    end(12);
    nsc_intake_lost(in, at_track, 13, 5);
    end(14);
    nsc_intake_end(in, at_track, 15, fn("named"), false);
    begin(20, "left");
    nsc_intake_end(in, at_track, 22, NSC_NO_ID, true);
}

static void fill_threads(struct nsc_intake *in)
{
    uint32_t process, stack;

    use(in);
    process = nsc_intake_process(in, 7);
    stack = nsc_intake_further_stack(in, at_track);
    nsc_intake_slice(in, stack, 5, 1, fn("x"));
    nsc_intake_slice(in, nsc_intake_free_track(in, process), 5, 1, fn("x"));
    nsc_intake_mark(in, stack, 3, "m\0k", 3, "data", 4, true);
    nsc_intake_sample(in, at_track, 4, NSC_SAMPLE_CPU_NS, 100);
    nsc_intake_sample(in, at_track, 4, NSC_SAMPLE_SWITCHES, 2);
    nsc_intake_sample(in, at_track, 4, NSC_SAMPLE_CPU_NS, 101);
    nsc_intake_count(in, nsc_intake_process_track(in, process), 9, "users", 5, -3);
    nsc_intake_name_track(in, at_track, "worker", 6);
    slice(1ull << 62, (1ull << 62) + 1, "beyond");
}

static void check_calls(void (*fill)(struct nsc_intake *in), const char *want, const char *note)
{
    struct nsc_trace *t = import(fill);

    CHECK_STR(calls_of(t, 0), want);
    CHECK_STR(notes.count > 0 ? notes.line[0] : "", note);
    nsc_trace_close(t);
}

static void check_tables(void)
{
    struct nsc_trace *t = import(fill_threads);
    const struct nsc_thread *own = nsc_trace_thread(t, 0), *stack = nsc_trace_thread(t, 1);

    CHECK_U64(nsc_trace_info(t)->thread_count, 3);
    CHECK_STR(own->name, "worker");
    CHECK(own->tid == 8 && stack->tid == 8 && stack->stack == 1);
    CHECK(nsc_trace_thread(t, 2)->tid >= NSC_INTAKE_NO_TID);
    CHECK_STR(nsc_trace_process(t, 0)->name, "job");
    CHECK_U64(nsc_trace_note_count(t, NSC_NOTE_SAMPLE, 0, false), 2);
    CHECK_U64(nsc_trace_note_count(t, NSC_NOTE_MARK, 0, false), 1);
    CHECK_U64(nsc_trace_note_count(t, NSC_NOTE_COUNTER, 0, true), 1);
    CHECK_STR(notes.line[0], "1 event has a time beyond 2^62 ns and is left out");
    nsc_trace_close(t);
}

int main(void)
{
    fx_begin();
    check_sorted(0, 0, false, "nothing");
    check_sorted(1000, 0, false, "in memory");
    check_sorted(16, 16, false, "one full run in memory");
    check_sorted(10000, 16, false, "many runs");
    check_sorted(20001, 4096, false, "long runs and a rest");
    check_sorted(5000, 64, true, "sorted as it comes");

    check_calls(fill_plain, "10(a 20(b 30) 40) 50(zero 50) 50(next 60)", "");
    check_calls(fill_slices, "10(outer 10(first 15) 20(inner 30) 40) 40(next 40(zero 40) 50)", "");
    check_calls(fill_overlap, "10(a 15(b 16(c 20!) 20!) 20) 30(d 40)",
                "2 calls run longer than the ones around them: they are cut where those end");
    check_calls(fill_ghost, "5(all 10(s 15(b 20!) 20) 25(c 30) 40) 50?(unknown)",
                "1 call runs longer than the one around it: it is cut where that ends");
    check_calls(
        fill_mixed,
        "10(s 12(b 14(leaf 20) 25(long 27!) 27) 30) 30(open 31(endless 33(leaf 34) 35!) 35) "
        "36(never 36!)",
        "2 calls run longer than the ones around them: they are cut where those end");
    check_calls(fill_late, "10(in 12) 13-5 14?late 15?named 20(left 22!)",
                "1 call ends that nobody saw begin: it is there from the start");
    check_tables();
    fx_end();
    return t_done();
}
