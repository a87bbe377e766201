/*
 * test_requests.c - every request of the viewer on all kinds of traces: answers are valid
 * JSON and say what the analyses say; wrong requests are refused with one line.
 */
#include "analyze/functions/report.h"
#include "base/span.h"
#include "tap.h"
#include "unit/rigs/engine_rig.h"
#include "unit/rigs/json_check.h"
#include "viewer/engine/context.h"

static const char *const requests[] = {
    "/api/trace",
    "/api/functions",
    "/api/functions?first=3&limit=2",
    "/api/overview?width=100",
    "/api/report",
    "/api/report?sort=name&limit=3",
    "/api/report?only=function_1*&except=/_2/",
    "/api/tree",
    "/api/tree?limit=3",
    "/api/tree?invert=1",
    "/api/shares?from=1",
    "/api/marks",
    "/api/left-out",
    "/api/search?q=function",
    "/api/search?q=*1&limit=2",
    "/api/search?q=/[12]$/",
};

/* Those that need a function or thread to be there. */
static const char *const more_requests[] = {
    "/api/report?from=500&to=100000&threads=0",
    "/api/functions?ids=0,0",
    "/api/sandwich?function=0",
    "/api/histogram?function=0&limit=5",
    "/api/tree?root=0",
    "/api/tree?root=0&invert=1&from=5",
    "/api/step?function=0&go=longest",
    "/api/states?thread=0&width=3",
    "/api/samples?thread=0&width=3",
    "/api/counters?thread=0&name=queue&width=3",
    "/api/counters?process=0&name=queue&width=3",
    "/api/call?thread=0&at=1000&depth=0",
};

static bool answers_well(struct rig *rig, const char *request)
{
    unsigned status = rig_ask(rig, "%s", request);
    bool fits = (status == 200 || status == 404) && json_is_valid(rig_text(rig)) &&
                strcmp(rig->reply.type, "application/json") == 0;

    if (!fits)
        printf("# %s: %u %s\n", request, status, rig_text(rig));
    return fits;
}

static bool all_answer_well(struct rig *rig)
{
    const struct nsc_trace_info *info = nsc_trace_info(rig->trace);
    bool fits = true;

    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        fits = answers_well(rig, requests[i]) && fits;
    for (size_t i = 0; i < sizeof more_requests / sizeof more_requests[0]; i++)
        if (info->function_count > 0 && info->thread_count > 0)
            fits = answers_well(rig, more_requests[i]) && fits;
    for (uint32_t zoom = 0; zoom <= 62 && info->thread_count > 0; zoom++)
        if (rig_ask(rig, "/api/tiles?zoom=%u&first=0&count=2&threads=0", zoom) != 200) {
            printf("# zoom %u: %s\n", zoom, rig_text(rig));
            fits = false;
        }
    return fits;
}

/* ---- Kinds of traces ------------------------------------------------------------------------- */

static void test_random(void)
{
    struct rig rig;

    CHECK(rig_make(&rig,
                   &(struct rig_options){.threads = 3,
                                         .functions = 20,
                                         .max_depth = 9,
                                         .events = 2000,
                                         .step = 90,
                                         .gaps = true},
                   1));
    CHECK(all_answer_well(&rig));
    rig_free(&rig);
}

/* The row of /api/report for each function is that of nsc_report_make(). */
static bool report_agrees(struct rig *rig)
{
    struct nsc_selection everything;
    struct nsc_report report;
    struct nsc_diag diag;
    bool fits = true;

    nsc_selection_init(&everything);
    if (nsc_report_make(rig->trace, &everything, false, &report, &diag) != 0 ||
        rig_ask(rig, "/api/report?limit=10000") != 200)
        return false;
    fits = strstr(rig_text(rig), report.coarse ? "\"rough\":true" : "\"rough\":false") != NULL;
    for (size_t i = 0; i < report.row_count && fits; i++) {
        const struct nsc_report_row *r = &report.rows[i];
        char want[512];

        snprintf(want, sizeof want,
                 "{\"function\":%u,\"calls\":%llu,\"total\":%llu,\"self\":%llu,\"min\":%llu,"
                 "\"p50\":%llu,\"p90\":%llu,\"p99\":%llu,\"max\":%llu,\"bounds\":%llu,",
                 r->function, (unsigned long long)r->calls, (unsigned long long)r->total_ns,
                 (unsigned long long)r->self_ns, (unsigned long long)r->min_ns,
                 (unsigned long long)r->p50_ns, (unsigned long long)r->p90_ns,
                 (unsigned long long)r->p99_ns, (unsigned long long)r->max_ns,
                 (unsigned long long)r->bounds);
        fits = strstr(rig_text(rig), want) != NULL;
        if (!fits)
            printf("# missing: %s\n", want);
    }
    /* The whole trace's calls by function, from the heads. */
    for (size_t i = 0; i < report.row_count && fits; i++) {
        char want[64];

        if (rig_ask(rig, "/api/search?q=function_%u&limit=10000", report.rows[i].function) != 200)
            return false;
        snprintf(want, sizeof want, "{\"function\":%u,\"calls\":%llu}", report.rows[i].function,
                 (unsigned long long)report.rows[i].calls);
        fits = strstr(rig_text(rig), want) != NULL;
        if (!fits)
            printf("# missing: %s in %s\n", want, rig_text(rig));
    }
    nsc_report_free(&report);
    return fits;
}

static void test_report(void)
{
    for (int gaps = 0; gaps < 2; gaps++) {
        struct rig rig;

        CHECK(rig_make(&rig,
                       &(struct rig_options){.threads = 2,
                                             .functions = 30,
                                             .max_depth = 9,
                                             .events = 40000,
                                             .step = 90,
                                             .gaps = gaps != 0,
                                             .memory_bytes = 1 << 17},
                       2));
        CHECK(report_agrees(&rig));
        rig_free(&rig);
    }
}

/* ---- By hand --------------------------------------------------------------------------------- */

static struct nsc_writer *begin(void)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_writer *w = NULL;
    struct nsc_diag diag = {0};

    if (nsc_writer_create(rig_path, &options, &w, &diag) != 0) {
        printf("# %s\n", diag.message);
        exit(1);
    }
    return w;
}

static bool end(struct nsc_writer *w, struct rig *rig)
{
    struct nsc_diag diag = {0};
    bool made;

    memset(rig, 0, sizeof *rig);
    made = nsc_writer_finish(w, &diag) == 0 &&
           nsc_trace_open(rig_path, 0, &rig->trace, &diag) == 0 &&
           nsc_engine_open(&rig->trace, 1, NULL, &rig->engine) == 0;
    unlink(rig_path);
    if (!made)
        printf("# %s\n", diag.message);
    return made;
}

static void test_empty(void)
{
    struct rig rig;

    CHECK(end(begin(), &rig));
    CHECK(all_answer_well(&rig));
    CHECK_U64(rig_ask(&rig, "/api/tiles?zoom=3&first=0&threads=0"), 400);
    rig_free(&rig);
}

/* One thread with what @what does in it. */
static bool make_thread(struct rig *rig, void (*what)(struct nsc_lane *))
{
    struct nsc_writer *w = begin();
    struct model_thread t = {0};

    model_tables(w, &t, 1, 3);
    what(t.lane);
    return end(w, rig);
}

static void nothing(struct nsc_lane *lane)
{
    (void)lane;
}

static void one_event(struct nsc_lane *lane)
{
    nsc_lane_late_exit(lane, 7, 1);
    nsc_lane_close(lane, 7);
}

#define DAY 86400000000000u

static void a_day(struct nsc_lane *lane)
{
    nsc_lane_enter(lane, 5, 0, 1);
    nsc_lane_enter(lane, 10, 1, 2);
    nsc_lane_exit(lane, 11);
    nsc_lane_enter(lane, DAY - 1, 2, 2);
    nsc_lane_exit(lane, DAY);
    nsc_lane_exit(lane, DAY + 5);
    nsc_lane_close(lane, DAY + 5);
}

#define DEEP 100000u

static void deep(struct nsc_lane *lane)
{
    for (uint32_t i = 0; i < DEEP; i++)
        nsc_lane_enter(lane, 10 * (uint64_t)i, i % 3, i + 1);
    for (uint32_t i = 0; i < DEEP; i++)
        nsc_lane_exit(lane, 10 * (uint64_t)(DEEP + i));
    nsc_lane_close(lane, 20 * (uint64_t)DEEP);
}

static void test_odd_threads(void)
{
    struct rig rig;

    CHECK(make_thread(&rig, nothing));
    CHECK(all_answer_well(&rig));
    rig_free(&rig);
    CHECK(make_thread(&rig, one_event));
    CHECK(all_answer_well(&rig));
    rig_free(&rig);
    CHECK(make_thread(&rig, a_day));
    CHECK(all_answer_well(&rig));
    CHECK_U64(rig_ask(&rig, "/api/call?thread=0&at=%llu&depth=1", (unsigned long long)DAY - 1),
              200);
    CHECK(strstr(rig_text(&rig), "\"start\":86399999999999,\"end\":86400000000000") != NULL);
    CHECK_U64(rig_ask(&rig, "/api/tiles?zoom=47&first=0&threads=0"), 200);
    CHECK_U64(rig.reply.count, 24 + 3 * 12); /* the day, and both calls of an instant */
    rig_free(&rig);
}

static void test_deep(void)
{
    struct rig rig;

    CHECK(make_thread(&rig, deep));
    CHECK(all_answer_well(&rig));
    CHECK_U64(rig_ask(&rig, "/api/tiles?zoom=21&first=0&threads=0&depth=99000&rows=512"), 200);
    CHECK_U64(nsc_span_get32(rig.reply.bytes + 12), DEEP);
    CHECK_U64(rig.reply.count, 24 + 512 * 12);
    CHECK_U64(rig_ask(&rig, "/api/call?thread=0&at=%u&depth=99999", 10 * DEEP - 10), 200);
    CHECK(strstr(rig_text(&rig), "\"more\":98999") != NULL);
    rig_free(&rig);
}

static void test_many_threads(void)
{
    enum { THREADS = 5000 };
    struct nsc_writer *w = begin();
    struct model_thread *threads = calloc(THREADS, sizeof *threads);
    struct rig rig;

    model_tables(w, threads, THREADS, 3);
    for (uint32_t i = 0; i < THREADS; i++) {
        nsc_lane_enter(threads[i].lane, 100 + i, i % 3, 1);
        nsc_lane_exit(threads[i].lane, 200 + i);
        nsc_lane_close(threads[i].lane, 200 + i);
    }
    free(threads);
    CHECK(end(w, &rig));
    CHECK(all_answer_well(&rig));
    CHECK_U64(rig_ask(&rig, "/api/tiles?zoom=12&first=1&threads=4000"), 200);
    CHECK_U64(rig.reply.count, 24 + 12);
    rig_free(&rig);
}

/* Names that are no text, and notes. */
static void test_hostile_names(void)
{
    struct nsc_writer *w = begin();
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "</script>\n\x1b[2J"};
    struct nsc_thread thread = {.tid = 1, .name = "\xff\xfe\"\\"};
    struct nsc_function f = {.name = "a\x01\xc3(\"</script><!--\xe2\x80\xae",
                             .symbol = "\x80",
                             .file = "\xf5",
                             .module = NSC_NO_ID};
    struct nsc_note mark = {
        .ticks = 5, .kind = NSC_NOTE_MARK, .mark = {.name = "\x02\xed\xa0\x80", .metadata = "\""}};
    struct nsc_note counter = {.ticks = 6, .kind = NSC_NOTE_COUNTER, .owner = 0};
    struct nsc_note state = {.ticks = 7, .kind = NSC_NOTE_STATE, .state = {1, 900}};
    struct nsc_note sample = {.ticks = 8, .kind = NSC_NOTE_SAMPLE, .sample = {.known = 5}};
    struct nsc_lane *lane;
    struct rig rig;
    uint32_t id;

    counter.counter = (struct nsc_counter){.name = "queue", .is_real = true, .real = 1e300 * 1e300};
    nsc_writer_add_process(w, &process, &id);
    nsc_writer_add_thread(w, &thread, &id, &lane);
    nsc_writer_add_function(w, &f, &id);
    nsc_writer_meta(w, "a\nb", "\x7f");
    nsc_lane_enter(lane, 5, 0, 1);
    nsc_lane_close(lane, 9);
    nsc_writer_note(w, &mark);
    nsc_writer_note(w, &counter);
    nsc_writer_note(w, &state);
    nsc_writer_note(w, &sample);
    CHECK(end(w, &rig));
    CHECK(all_answer_well(&rig));
    CHECK_U64(rig_ask(&rig, "/api/functions"), 200);
    CHECK(strstr(rig_text(&rig), "</script>") == NULL);
    CHECK_U64(rig_ask(&rig, "/api/states?thread=0"), 200);
    CHECK_STR(rig_text(&rig), "{\"segments\":[[5,7,1],[7,9,0]],\"merged\":false}");
    CHECK_U64(rig_ask(&rig, "/api/counters?thread=0&name=queue"), 200);
    CHECK_STR(rig_text(&rig), "{\"rows\":[[6,null,null,null]]}");
    CHECK_U64(rig_ask(&rig, "/api/samples?thread=0"), 200);
    CHECK(strstr(rig_text(&rig), "\"rows\":[[8,0,null,0,null,") != NULL);
    rig_free(&rig);
}

/* ---- What stands beside the calls ------------------------------------------------------------ */

static void put_counter(struct nsc_writer *w, uint64_t ticks, const char *name, int64_t value)
{
    struct nsc_note note = {.ticks = ticks, .kind = NSC_NOTE_COUNTER, .owner = 0};

    note.counter = (struct nsc_counter){.name = name, .integer = value};
    nsc_writer_note(w, &note);
}

static void put_sample(struct nsc_writer *w, uint64_t ticks, uint64_t cpu_ns)
{
    struct nsc_note note = {.ticks = ticks, .kind = NSC_NOTE_SAMPLE, .owner = 0};

    note.sample.known = 1;
    note.sample.values[0] = cpu_ns;
    nsc_writer_note(w, &note);
}

/* In a window in which nothing changes, what changed before it still holds. */
static void test_notes_around_a_window(void)
{
    struct nsc_writer *w = begin();
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "p"};
    struct nsc_thread thread = {.tid = 1, .name = "main"};
    struct nsc_function f = {.name = "f", .symbol = "f", .file = "", .module = NSC_NO_ID};
    struct nsc_lane *lane;
    struct rig rig;
    uint32_t id;

    nsc_writer_add_process(w, &process, &id);
    nsc_writer_add_function(w, &f, &id);
    nsc_writer_add_thread(w, &thread, &id, &lane);
    put_counter(w, 5, "queue", 7);
    put_sample(w, 10, 3);
    for (uint64_t i = 0; i < 28000; i++)
        put_counter(w, 1000 + i * 1000000, "other", (int64_t)i);
    put_counter(w, 29000000000, "queue", 8);
    put_sample(w, 29000000500, 900);
    put_sample(w, 29500000000, 1000);
    nsc_lane_enter(lane, 30000000000, 0, 1);
    nsc_lane_close(lane, 31000000000);
    CHECK(end(w, &rig));

    rig_ask(&rig, "/api/counters?thread=0&name=queue&from=20000000000&to=20000000100");
    CHECK_STR(rig_text(&rig), "{\"rows\":[[5,7,7,7]]}");
    rig_ask(&rig, "/api/counters?thread=0&name=queue&from=20000000000&to=29000000001&width=5");
    CHECK_STR(rig_text(&rig), "{\"rows\":[[5,7,7,7],[29000000000,8,8,8]]}");
    rig_ask(&rig, "/api/counters?thread=0&name=queue&from=0&to=5");
    CHECK_STR(rig_text(&rig), "{\"rows\":[]}");
    rig_ask(&rig, "/api/counters?thread=0&name=none&from=20000000000&to=20000000100");
    CHECK_STR(rig_text(&rig), "{\"rows\":[]}");
    rig_ask(&rig, "/api/samples?thread=0&from=20000000000&to=20000000100");
    CHECK(strstr(rig_text(&rig), "\"rows\":[[10,3,") != NULL);
    CHECK(strstr(rig_text(&rig), "],[29000000500,900,") != NULL);
    CHECK(strstr(rig_text(&rig), "29500000000") == NULL);
    rig_free(&rig);
}

/* ---- Wrong requests -------------------------------------------------------------------------- */

static const struct {
    const char *request;
    unsigned status;
} wrong[] = {
    {"", 404},
    {"/", 404},
    {"/api/", 404},
    {"/api/trace/", 404},
    {"/api/trac%65", 400},
    {"/api/trace?x=1", 400},
    {"/api/trace?trace=1", 400},
    {"/api/trace?trace=0&trace=0", 400},
    {"/api/trace?%zz=1", 400},
    {"/api/trace?a=%00", 400},
    {"/api/trace?a=%4", 400},
    {"/api/functions?ids=", 400},
    {"/api/functions?ids=1,", 400},
    {"/api/functions?ids=1,,2", 400},
    {"/api/functions?ids=-1", 400},
    {"/api/functions?ids=99999", 400},
    {"/api/functions?limit=20001", 400},
    {"/api/functions?first=0x1", 400},
    {"/api/functions?first=99999999999999999999", 400},
    {"/api/tiles", 400},
    {"/api/tiles?zoom=63&first=0&threads=0", 400},
    {"/api/tiles?zoom=5&first=0", 400},
    {"/api/tiles?zoom=5&first=0&threads=0&count=65", 400},
    {"/api/tiles?zoom=5&first=0&threads=0,1&count=33", 400},
    {"/api/tiles?zoom=5&first=0&threads=0&rows=513", 400},
    {"/api/tiles?zoom=5&first=288230376151711744&threads=0", 400},
    {"/api/tiles?zoom=5&first=18446744073709551615&threads=0", 400},
    {"/api/tiles?zoom=5&first=0&threads=2", 400},
    {"/api/call?thread=0&at=1", 400},
    {"/api/call?thread=9&at=1&depth=0", 400},
    {"/api/call?thread=0&at=1&depth=4000000000", 404},
    {"/api/call?thread=0&at=18446744073709551615&depth=0", 404},
    {"/api/step?function=0&go=sideways", 400},
    {"/api/step?function=0&go=next", 400},
    {"/api/step?function=0", 400},
    {"/api/step?function=0&go=longest&nth=0", 400},
    {"/api/step?function=99&go=longest", 400},
    {"/api/report?sort=size", 400},
    {"/api/report?from=5&to=4", 400},
    {"/api/report?only=[a", 400},
    {"/api/report?only=/(/", 400},
    {"/api/tree?root=77", 400},
    {"/api/tree?invert=2", 400},
    {"/api/sandwich", 400},
    {"/api/histogram?function=", 400},
    {"/api/states", 400},
    {"/api/states?thread=0&width=0", 400},
    {"/api/overview?width=4097", 400},
    {"/api/overview?width=0", 400},
    {"/api/counters?name=x", 400},
    {"/api/counters?process=0&thread=0&name=x", 400},
    {"/api/counters?process=5&name=x", 400},
    {"/api/search", 400},
    {"/api/search?q=/(/", 400},
};

static void test_wrong(void)
{
    struct rig rig;
    bool fits = true;
    char *longest = malloc(NSC_ENGINE_REQUEST_MAX + 2);

    CHECK(rig_make(&rig,
                   &(struct rig_options){
                       .threads = 2, .functions = 5, .max_depth = 4, .events = 100, .step = 9},
                   1));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        unsigned status = rig_ask(&rig, "%s", wrong[i].request);

        if (status != wrong[i].status || !json_is_valid(rig_text(&rig)) ||
            strncmp(rig_text(&rig), "{\"error\":\"", 10) != 0 || strlen(rig_text(&rig)) < 20) {
            printf("# %s: %u %s\n", wrong[i].request, status, rig_text(&rig));
            fits = false;
        }
    }
    t_report(fits, __FILE__, __LINE__, "wrong requests are refused");
    memset(longest, 'a', NSC_ENGINE_REQUEST_MAX + 1);
    nsc_engine_answer(rig.engine, longest, NSC_ENGINE_REQUEST_MAX + 1, &rig.reply);
    CHECK(rig.reply.status == 400);
    memcpy(longest, "/api/functions?ids=0", 20);
    for (size_t i = 20; i < NSC_ENGINE_REQUEST_MAX; i++)
        longest[i] = i % 2 == 0 ? ',' : '1';
    nsc_engine_answer(rig.engine, longest, NSC_ENGINE_REQUEST_MAX, &rig.reply);
    CHECK(rig.reply.status == 400); /* too many */
    nsc_engine_answer(rig.engine, longest, 2000, &rig.reply);
    CHECK(rig.reply.status == 200);
    free(longest);
    rig_free(&rig);
}

/* ---- What others add ------------------------------------------------------------------------- */

static int answer_echo(struct nsc_engine_context *ask)
{
    const char *text = nsc_context_text(ask, "text");
    struct nsc_json *j = nsc_context_check(ask) == 0 ? nsc_context_json(ask) : NULL;

    if (j == NULL)
        return -EINVAL;
    nsc_json_text(j, NULL, text);
    return text[0] == 'x' ? nsc_context_absent(ask, "x") : 0;
}

static void test_added(void)
{
    static const struct nsc_engine_handler echo = {"/api/echo", "echo", answer_echo};
    struct rig rig;

    CHECK(end(begin(), &rig));
    CHECK(nsc_engine_add(rig.engine, &echo, 1) == 0);
    CHECK_U64(rig_ask(&rig, "/api/echo?text=a+%%2B%%c3%%a4&trace=0"), 200);
    CHECK_STR(rig_text(&rig), "\"a +\xc3\xa4\"");
    CHECK_U64(rig_ask(&rig, "/api/echo?text=x"), 404);
    CHECK_STR(rig_text(&rig), "{\"error\":\"x\"}");
    CHECK_U64(rig_ask(&rig, "/api/trace"), 200);
    CHECK(strstr(rig_text(&rig), "\"can\":[\"echo\"]") != NULL);
    rig_free(&rig);
}

/* ---- Nobody waits any more ------------------------------------------------------------------- */

static unsigned asked, leaves_after;

static bool is_gone(void *context)
{
    (void)context;
    return ++asked > leaves_after;
}

/* A request that reads many chunks ends at the next one when its client has gone; the engine goes
 * on to answer others. */
static void test_gone(void)
{
    static const struct nsc_engine_options options = {.size = sizeof options, .is_gone = is_gone};
    static const char *const reading[] = {"/api/tree", "/api/sandwich?function=1",
                                          "/api/histogram?function=1", "/api/report?only=*1"};
    struct rig rig;
    uint64_t chunks;

    CHECK(rig_make(&rig,
                   &(struct rig_options){.threads = 2,
                                         .functions = 9,
                                         .max_depth = 12,
                                         .events = 40000,
                                         .memory_bytes = 20000,
                                         .step = 50},
                   77));
    nsc_engine_close(rig.engine);
    CHECK(nsc_engine_open(&rig.trace, 1, &options, &rig.engine) == 0);
    chunks = nsc_trace_info(rig.trace)->chunks;
    CHECK(chunks > 10);
    for (size_t i = 0; i < sizeof reading / sizeof reading[0]; i++) {
        asked = 0;
        leaves_after = UINT32_MAX;
        CHECK_U64(rig_ask(&rig, "%s", reading[i]), 200);
        CHECK(asked >= chunks);
        asked = 0;
        leaves_after = 5;
        CHECK_U64(rig_ask(&rig, "%s", reading[i]), 500);
        CHECK_U64(asked, 6);
        CHECK_STR(rig_text(&rig), "{\"error\":\"nobody waits for it any more\"}");
    }
    leaves_after = UINT32_MAX;
    CHECK_U64(rig_ask(&rig, "/api/tree"), 200);
    rig_free(&rig);
}

int main(void)
{
    close(mkstemp(rig_path));
    test_random();
    test_report();
    test_empty();
    test_odd_threads();
    test_deep();
    test_many_threads();
    test_hostile_names();
    test_notes_around_a_window();
    test_wrong();
    test_added();
    test_gone();
    return t_done();
}
