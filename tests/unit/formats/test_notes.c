/*
 * test_notes.c - samples, states, marks and counters in other formats: `.timer` and
 * `.state` come out as they went in; what a format cannot hold is said.
 */
#include "unit/rigs/formats_fixture.h"
#include "unit/rigs/proto_reader.h"

static struct nsc_diag diag;
static struct nsc_export_result exported;

/* ---- .timer and .state --------------------------------------------------------------------- */

static const char timer[] = "0, 0, 0, 0, 0, 0, 0, 0, 0\n"
                            "1000000, 900000, 1, 20, 3, 4096000, 120, 65536, 1024\n"
                            "2000000, 1900000, 1, 21, 4, 4095000, 119, 65536, 2048\n"
                            "4611686018427387903, 18446744073709551615, 2, 3, 4, 5, 6, 7, 8\n";
static const char state[] = "5, 88, 67\n10, 67, 69\n10, 69, 67\n2000000, 1, 4\n";
static const char text[] = "10:main\n20:POP\n";

static void put(const char *name, const char *content)
{
    fx_write(name, content, strlen(content));
}

static struct nsc_trace *open_set(const char *name)
{
    struct nsc_trace *t = NULL;

    if (nsc_formats_open(fx_path(name), 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

static void export_text(struct nsc_trace *t, const char *name)
{
    if (nsc_formats_export(t, "nanoscope", fx_path(name), NULL, &exported, &diag) != 0) {
        printf("# %s\n", diag.message);
        t_report(0, __FILE__, __LINE__, name);
    }
}

static void test_round_trip(void)
{
    struct nsc_trace *t;

    put("a.txt", text);
    put("a.txt.timer", timer);
    put("a.txt.state", state);
    put("a.txt.7", text);
    put("a.txt.7.timer", "5, 1, 2, 3, 4, 5, 6, 7, 8\n");
    put("a.txt.7.state", "");
    put("a.txt.9", ""); /* no calls, but states */
    put("a.txt.9.state", "1, 0, 1\n");
    t = open_set("a.txt");
    if (!CHECK(t != NULL))
        return;
    CHECK_STR(diag.message, "");
    CHECK_U64(nsc_trace_info(t)->notes[NSC_NOTE_SAMPLE], 5);
    CHECK_U64(nsc_trace_info(t)->notes[NSC_NOTE_STATE], 5);
    fx_clear();
    export_text(t, "b.txt");
    nsc_trace_close(t);
    CHECK_U64(exported.files, 9);
    CHECK_U64(exported.others[NSC_NOTE_SAMPLE], 5);
    CHECK_U64(exported.notes.count, 0);
    fx_check_file("b.txt", text, "the text");
    fx_check_file("b.txt.timer", timer, "samples");
    fx_check_file("b.txt.state", state, "states");
    fx_check_file("b.txt.7.timer", "5, 1, 2, 3, 4, 5, 6, 7, 8\n", "another thread's samples");
    fx_check_file("b.txt.7.state", "", "that has no states");
    fx_check_file("b.txt.9", "", "a thread without calls");
    fx_check_file("b.txt.9.timer", "", "no samples either");
    fx_check_file("b.txt.9.state", "1, 0, 1\n", "but a state");
    CHECK_U64(fx_clear(), 9);
}

static void test_gzip(void)
{
    struct nsc_trace *t;

    put("a.txt", text);
    put("a.txt.timer", timer);
    put("a.txt.state", state);
    t = open_set("a.txt");
    export_text(t, "b.txt.gz");
    nsc_trace_close(t);
    t = open_set("b.txt.gz");
    export_text(t, "c.txt");
    nsc_trace_close(t);
    fx_check_file("c.txt.timer", timer, "samples through gzip");
    fx_check_file("c.txt.state", state, "states through gzip");
    fx_clear();
}

static void check_remark(const char *suffix, const char *content, uint64_t kept, const char *part)
{
    char name[32];
    struct nsc_trace *t;

    put("a.txt", text);
    snprintf(name, sizeof name, "a.txt%s", suffix);
    put(name, content);
    t = open_set("a.txt");
    if (CHECK(t != NULL)) {
        CHECK_U64(nsc_trace_info(t)->notes[NSC_NOTE_SAMPLE] +
                      nsc_trace_info(t)->notes[NSC_NOTE_STATE],
                  kept);
        if (!t_report(strstr(diag.message, part) != NULL, __FILE__, __LINE__, part))
            printf("#   got \"%s\"\n", diag.message);
        nsc_trace_close(t);
    }
    fx_clear();
}

static void test_damage(void)
{
    check_remark(".state", "1, 2, 3\n4, 5\n6, 7, 8\n", 1, "line 2 is not");
    check_remark(".state", "1, 2, 3\n4, 5, 6, 7\n", 1, "line 2 is not");
    check_remark(".state", "1, 2, 4294967296\n", 0, "line 1 has a state beyond");
    check_remark(".state", "x\n", 0, "kept what comes before it: 0 lines");
    check_remark(".state", "5, 1, 2\n3, 2, 1\n", 2, "line 2 goes back in time");
    check_remark(".timer", "1,2,3,4,5,6,7,8,9\n1, 2, 3, 4, 5, 6, 7, 8, -9\n", 1, "line 2 is not");
    check_remark(".timer", "4611686018427387904, 2, 3, 4, 5, 6, 7, 8, 9\n", 0, "beyond 2^62");
    check_remark(".timer", "1, 18446744073709551616, 3, 4, 5, 6, 7, 8, 9\n", 0, "line 1 is not");
}

/* ---- A trace with everything --------------------------------------------------------------- */

static void fill(struct nsc_writer *w)
{
    static const struct nsc_note notes[] = {
        {.kind = NSC_NOTE_SAMPLE,
         .ticks = 1000,
         .sample = {.known = 1u << NSC_SAMPLE_CPU_NS | 1u << NSC_SAMPLE_PROCESS_BYTES,
                    .values = {[NSC_SAMPLE_CPU_NS] = 777, [NSC_SAMPLE_PROCESS_BYTES] = 4096}}},
        {.kind = NSC_NOTE_STATE, .ticks = 1500, .state = {NSC_STATE_RUNNING, NSC_STATE_BLOCKED_IO}},
        {.kind = NSC_NOTE_STATE, .ticks = 1700, .state = {NSC_STATE_BLOCKED_IO, NSC_STATE_RUNNING}},
        {.kind = NSC_NOTE_MARK, .ticks = 1600, .mark = {"frame", "number=\"7\"", false}},
        {.kind = NSC_NOTE_MARK, .ticks = 1650, .mark = {"plain", "", true}},
        {.kind = NSC_NOTE_COUNTER, .ticks = 1600, .counter = {"queue", false, -3, 0}},
        {.kind = NSC_NOTE_COUNTER, .ticks = 1800, .counter = {"load", true, 0, 0.5}},
        {.kind = NSC_NOTE_COUNTER,
         .ticks = 1900,
         .of_process = true,
         .counter = {"users", false, 12, 0}},
    };
    struct nsc_lane *lane;
    uint32_t p = fx_process(w, 10, "prog");
    uint32_t f = fx_function(w, "main", "", 0);

    lane = fx_thread(w, p, 10, 0, "main");
    nsc_lane_enter(lane, 1000, f, 0);
    nsc_lane_exit(lane, 2000);
    nsc_lane_close(lane, 2000);
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        nsc_writer_note(w, &notes[i]);
}

static bool is_noted(const char *part)
{
    for (uint32_t i = 0; i < exported.notes.count; i++)
        if (strstr(exported.notes.line[i], part) != NULL)
            return true;
    return false;
}

static void test_what_is_left_out(void)
{
    struct nsc_trace *t = fx_trace(fill);

    export_text(t, "o.txt");
    fx_check_file("o.txt.timer", "1000, 777, 0, 0, 0, 4096, 0, 0, 0\n", "a sample");
    fx_check_file("o.txt.state", "1500, 1, 4\n1700, 4, 1\n", "states");
    CHECK(is_noted(" for: marks, counters"));
    CHECK(is_noted("0 stands for them: major faults, minor faults, context switches, process "
                   "objects, bytes allocated, bytes freed"));
    CHECK(nsc_formats_export(t, "folded", fx_path("o.folded"), NULL, &exported, &diag) == 0);
    CHECK(is_noted(" for: samples, thread states, marks, counters"));
    nsc_trace_close(t);
    fx_clear();
}

static void test_window(void)
{
    struct nsc_export_options options = {
        .size = sizeof options, .from_ticks = 1600, .to_ticks = 1700};
    struct nsc_trace *t = fx_trace(fill);

    CHECK(nsc_formats_export(t, "nanoscope", fx_path("o.txt"), &options, &exported, &diag) == 0);
    fx_check_file("o.txt.timer", "", "no sample in the window");
    fx_check_file("o.txt.state", "", "no state in the window");
    CHECK(nsc_formats_export(t, "chrome", fx_path("o.json"), &options, &exported, &diag) == 0);
    CHECK_U64(exported.others[NSC_NOTE_MARK], 2);
    CHECK_U64(exported.others[NSC_NOTE_COUNTER], 1);
    CHECK_U64(exported.others[NSC_NOTE_STATE], 0);
    nsc_trace_close(t);
    fx_clear();
}

/* Lines of the Chrome JSON, as whole events. */
static void test_chrome(void)
{
    static const char *const lines[] = {
        "{\"ph\":\"C\",\"pid\":10,\"id\":\"10\",\"ts\":1.000,\"name\":\"CPU time\",\"args\":{"
        "\"value\":777}}",
        "{\"ph\":\"C\",\"pid\":10,\"id\":\"10\",\"ts\":1.000,\"name\":\"process memory\",\"args\":"
        "{\"value\":4096}}",
        "{\"ph\":\"i\",\"s\":\"t\",\"pid\":10,\"tid\":10,\"ts\":1.500,\"name\":\"state\",\"args\":{"
        "\"from\":\"running\",\"to\":\"blocked on I/O\"}}",
        "{\"ph\":\"i\",\"s\":\"t\",\"pid\":10,\"tid\":10,\"ts\":1.600,\"name\":\"frame\",\"args\":{"
        "\"metadata\":\"number=\\\"7\\\"\"}}",
        "{\"ph\":\"i\",\"s\":\"t\",\"pid\":10,\"tid\":10,\"ts\":1.650,\"name\":\"plain\",\"args\":{"
        "\"cut\":true}}",
        "{\"ph\":\"C\",\"pid\":10,\"id\":\"10\",\"ts\":1.600,\"name\":\"queue\",\"args\":{"
        "\"value\":-3}}",
        "{\"ph\":\"C\",\"pid\":10,\"id\":\"10\",\"ts\":1.800,\"name\":\"load\",\"args\":{"
        "\"value\":0.5}}",
        "{\"ph\":\"C\",\"pid\":10,\"ts\":1.900,\"name\":\"users\",\"args\":{\"value\":12}}",
    };
    struct nsc_trace *t = fx_trace(fill);
    char *got;

    CHECK(nsc_formats_export(t, "chrome", fx_path("o.json"), NULL, &exported, &diag) == 0);
    got = fx_read("o.json", NULL);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!t_report(strstr(got, lines[i]) != NULL, __FILE__, __LINE__, lines[i]))
            printf("# %s\n", got);
    CHECK_U64(exported.others[NSC_NOTE_COUNTER], 3);
    free(got);
    nsc_trace_close(t);
    fx_clear();
}

/* ---- Perfetto: each track event of the notes as a line ------------------------------------- */

struct track {
    uint64_t uuid, parent, unit;
    char name[64];
    bool counter;
};

static struct track tracks[32];
static size_t track_count;

static const struct track *track_at(uint64_t uuid)
{
    static const struct track none = {.name = "?"};

    for (size_t i = 0; i < track_count; i++)
        if (tracks[i].uuid == uuid)
            return &tracks[i];
    return &none;
}

static void read_track(const struct field *descriptor)
{
    struct track *track = &tracks[track_count++ % 32];
    struct field name = get(descriptor, 2), counter = get(descriptor, 8);
    struct field thread = get(descriptor, 4), process = get(descriptor, 3);

    *track = (struct track){.uuid = get(descriptor, 1).value,
                            .parent = get(descriptor, 5).value,
                            .unit = get(&counter, 3).value,
                            .counter = counter.number != 0};
    if (thread.number != 0)
        name = get(&thread, 5);
    else if (process.number != 0)
        name = get(&process, 6);
    copy_text(track->name, sizeof track->name, &name);
}

static void print_event(FILE *out, const struct field *packet, const struct field *event)
{
    const struct track *track = track_at(get(event, 11).value);
    struct field name = get(event, 23), annotation = get(event, 4), real = get(event, 44);
    struct field metadata = get(&annotation, 6);
    char label[64], more[64];
    double value;

    copy_text(label, sizeof label, &name);
    copy_text(more, sizeof more, &metadata);
    memcpy(&value, &real.value, sizeof value);
    fprintf(out, "%llu %s/%s type %llu unit %llu", (unsigned long long)get(packet, 8).value,
            track_at(track->parent)->name, track->name, (unsigned long long)get(event, 9).value,
            (unsigned long long)track->unit);
    if (real.number != 0)
        fprintf(out, " real %g", value);
    else if (track->counter)
        fprintf(out, " value %lld", (long long)get(event, 30).value);
    fprintf(out, " [%s] [%s]\n", label, more);
}

static char *print_notes(const char *name)
{
    size_t bytes, out_bytes;
    uint8_t *data = (uint8_t *)fx_read(name, &bytes);
    const uint8_t *at = data;
    char *text_out = NULL;
    FILE *out = open_memstream(&text_out, &out_bytes);
    struct field packet;

    while (next_field(&at, data + bytes, &packet)) {
        struct field descriptor = get(&packet, 60), event = get(&packet, 11);

        if (descriptor.number != 0)
            read_track(&descriptor);
        else if (event.number != 0 && get(&packet, 10).value == 1)
            print_event(out, &packet, &event);
    }
    fclose(out);
    free(data);
    return text_out;
}

static void test_perfetto(void)
{
    static const char want[] = "1000 main/CPU time type 4 unit 1 value 777 [] []\n"
                               "1000 main/process memory type 4 unit 3 value 4096 [] []\n"
                               "1500 main/state type 1 unit 0 [blocked on I/O] [running]\n"
                               "1700 main/state type 2 unit 0 [] []\n"
                               "1700 main/state type 1 unit 0 [running] []\n"
                               "1600 prog/main type 3 unit 0 [frame] [number=\"7\"]\n"
                               "1650 prog/main type 3 unit 0 [plain] []\n"
                               "1600 main/queue type 4 unit 0 value -3 [] []\n"
                               "1800 main/load type 4 unit 0 real 0.5 [] []\n"
                               "2000 main/state type 2 unit 0 [] []\n"
                               "1900 prog/users type 4 unit 0 value 12 [] []\n";
    struct nsc_trace *t = fx_trace(fill);
    char *got;

    CHECK(nsc_formats_export(t, "perfetto", fx_path("o.pftrace"), NULL, &exported, &diag) == 0);
    got = print_notes("o.pftrace");
    CHECK_STR(got, want);
    free(got);
    nsc_trace_close(t);
    fx_clear();
}

int main(void)
{
    fx_begin();
    test_round_trip();
    test_gzip();
    test_damage();
    test_what_is_left_out();
    test_window();
    test_chrome();
    test_perfetto();
    fx_end();
    return t_done();
}
