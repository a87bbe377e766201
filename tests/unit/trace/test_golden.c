/*
 * test_golden.c - the golden files: written as ever, read as ever, and printed in
 * docs/format.md byte by byte; and the second decoder (tests/decoder) agrees with src/host/trace on
 * it and on random traces.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/decoder.h"
#include "tap.h"
#include "unit/rigs/note_model.h"

static char folder[] = "/tmp/nsc-test-golden-XXXXXX";
static char path[64];

static uint8_t *read_file(const char *name, size_t *bytes)
{
    FILE *f = fopen(name, "rb");
    uint8_t *data = malloc(1 << 26);

    *bytes = 0;
    if (f == NULL || data == NULL)
        return data;
    *bytes = fread(data, 1, (1 << 26) - 1, f);
    data[*bytes] = 0;
    fclose(f);
    return data;
}

/* The golden trace: one thread that calls, is unwound by a longjmp, loses events and goes on. */
static void write_golden(void)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 4242,
                                  .parent = NSC_NO_ID,
                                  .start_ticks = 1000,
                                  .end_ticks = 9000,
                                  .name = "demo",
                                  .exit_status = 0};
    struct nsc_module module = {
        .path = "/usr/bin/demo", .build_id = {0xca, 0xfe}, .build_id_bytes = 2};
    struct nsc_mapping mapping = {
        .bias = 0x555555554000, .start = 0x555555555000, .end = 0x555555556000, .load_ticks = 1000};
    struct nsc_function f = {
        .name = "main", .symbol = "main", .file = "demo.c", .line = 12, .va = 0x1140};
    struct nsc_function g = {
        .name = "work(int)", .symbol = "_Z4worki", .file = "demo.c", .line = 3, .va = 0x1120};
    struct nsc_thread thread = {.tid = 4242, .name = "demo", .lost = 7};
    struct nsc_clock_point point = {.ticks = 1000, .monotonic_ns = 500000000};
    struct nsc_writer *w;
    struct nsc_lane *lane;
    uint32_t id;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    nsc_writer_meta(w, "command", "./demo");
    nsc_writer_clock(w, &point);
    nsc_writer_add_process(w, &process, &id);
    nsc_writer_add_module(w, &module, &id);
    nsc_writer_add_mapping(w, &mapping, &id);
    nsc_writer_add_function(w, &f, &id);
    nsc_writer_add_function(w, &g, &id);
    nsc_writer_add_thread(w, &thread, &id, &lane);
    nsc_lane_enter(lane, 2000, 0, 0);
    nsc_lane_enter(lane, 2010, 1, 0);
    nsc_lane_exit(lane, 2040);
    nsc_lane_enter(lane, 2050, 1, 0);
    nsc_lane_enter(lane, 2060, 1, 0);
    nsc_lane_unwind(lane, 2400);
    nsc_lane_unwind(lane, 2400);
    nsc_lane_lost(lane, 3000, 7);
    nsc_lane_late_exit(lane, 5000, 1);
    nsc_lane_exit(lane, 8000);
    nsc_lane_close(lane, 8000);
    point = (struct nsc_clock_point){.ticks = 10000, .monotonic_ns = 500003000};
    nsc_writer_clock(w, &point);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
}

/* The golden notes: of each kind a few, with repeated names, a cut mark and a process's counter. */
static void write_golden_notes(void)
{
    static const struct nsc_note notes[] = {
        {.kind = NSC_NOTE_SAMPLE,
         .ticks = 1000,
         .sample = {.known = 0x1ff, .values = {5000, 1, 20, 3, 1, 4096000, 120, 65536, 0}}},
        {.kind = NSC_NOTE_SAMPLE,
         .ticks = 2000,
         .sample = {.known = 0x2f, .values = {905000, 1, 21, 4, 0, 4091904}}},
        {.kind = NSC_NOTE_STATE, .ticks = 1000, .state = {NSC_STATE_UNKNOWN, NSC_STATE_RUNNING}},
        {.kind = NSC_NOTE_STATE, .ticks = 1900, .state = {NSC_STATE_RUNNING, NSC_STATE_BLOCKED_IO}},
        {.kind = NSC_NOTE_MARK, .ticks = 1500, .mark = {"frame", "1", false}},
        {.kind = NSC_NOTE_MARK, .ticks = 1600, .mark = {"frame", "2", true}},
        {.kind = NSC_NOTE_COUNTER, .ticks = 1500, .counter = {"queue", false, 10, 0}},
        {.kind = NSC_NOTE_COUNTER, .ticks = 1501, .counter = {"load", true, 0, 0.5}},
        {.kind = NSC_NOTE_COUNTER, .ticks = 1502, .counter = {"queue", false, -3, 0}},
        {.kind = NSC_NOTE_COUNTER,
         .ticks = 1700,
         .of_process = true,
         .counter = {"users", false, 7, 0}},
    };
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 7, .parent = NSC_NO_ID, .name = "p", .exit_status = -1};
    struct nsc_function f = {.name = "small", .symbol = "small", .module = NSC_NO_ID};
    struct nsc_thread thread = {.tid = 7, .name = "p"};
    struct nsc_left_out left_out = {.function = 0,
                                    .process = 0,
                                    .reason = NSC_LEFT_OUT_BUDGET,
                                    .known = NSC_LEFT_OUT_CALLS | NSC_LEFT_OUT_TOTAL,
                                    .from_ticks = 1200,
                                    .windows = 4,
                                    .window_ticks = 40,
                                    .calls = {3000, 25},
                                    .total_ticks = {700, 9}};
    struct nsc_writer *w;
    struct nsc_lane *lane;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    nsc_writer_add_process(w, &process, NULL);
    nsc_writer_add_function(w, &f, NULL);
    nsc_writer_add_thread(w, &thread, NULL, &lane);
    nsc_lane_enter(lane, 1100, 0, 0);
    nsc_lane_exit(lane, 1110);
    nsc_lane_close(lane, 1110);
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        nsc_writer_note(w, &notes[i]);
    nsc_writer_add_left_out(w, &left_out, NULL);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
}

/* A file with one thread, which has called "outer" (0) at @ticks; "inner" is 1. */
static struct nsc_writer *begin_golden(const char *name, uint64_t lost, uint64_t ticks,
                                       struct nsc_lane **lane)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = name};
    struct nsc_thread thread = {.tid = 1, .name = name, .lost = lost};
    struct nsc_function f = {.name = "outer", .module = NSC_NO_ID};
    struct nsc_writer *w;
    uint32_t id;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    nsc_writer_add_process(w, &process, &id);
    nsc_writer_add_function(w, &f, &id);
    f.name = "inner";
    nsc_writer_add_function(w, &f, &id);
    nsc_writer_add_thread(w, &thread, &id, lane);
    nsc_lane_enter(*lane, ticks, 0, 0);
    return w;
}

/*
 * The golden nodes: a function that calls another 150 times, over two chunks, which get a node. Of
 * the callees one takes long and one is left by a longjmp.
 */
static void write_golden_nodes(void)
{
    struct nsc_lane *lane;
    uint64_t ticks = 1000;
    struct nsc_writer *w = begin_golden("nodes", 0, ticks, &lane);

    for (uint32_t i = 0; i < 150; i++) {
        nsc_lane_enter(lane, ticks += 300, 1, 0);
        ticks += i == 95 ? 40000 : i % 3 == 0 ? 10 : 100 + i % 7 * 10;
        if (i == 20)
            nsc_lane_unwind(lane, ticks);
        else
            nsc_lane_exit(lane, ticks);
        if (i == 29)
            nsc_writer_flush(w);
    }
    nsc_lane_exit(lane, ticks + 5);
    nsc_lane_close(lane, ticks + 5);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
}

/*
 * The golden least: calls whose events come 25 ticks apart or more, so that the second chunk leaves
 * out 25. There two events come sooner, a call is unwound, and events are lost.
 */
static void write_golden_least(void)
{
    struct nsc_lane *lane;
    uint64_t ticks = 1000;
    struct nsc_writer *w = begin_golden("least", 3, ticks, &lane);

    for (uint32_t i = 0; i < 200; i++) {
        nsc_lane_enter(lane, ticks += 25 + i % 40, 1, 0);
        nsc_lane_exit(lane, ticks += 25 + i * 7 % 40);
    }
    nsc_writer_flush(w);
    nsc_lane_enter(lane, ticks += 60, 1, 0);
    nsc_lane_exit(lane, ticks += 25);
    nsc_lane_enter(lane, ticks += 56, 1, 0);
    nsc_lane_enter(lane, ticks += 57, 1, 0);
    nsc_lane_enter(lane, ticks += 24, 1, 0);
    nsc_lane_exit(lane, ticks += 5000);
    nsc_lane_unwind(lane, ticks += 30);
    nsc_lane_exit(lane, ticks);
    nsc_lane_lost(lane, ticks += 10, 3);
    nsc_lane_enter(lane, ticks += 40, 1, 0);
    nsc_lane_exit(lane, ticks += 40);
    nsc_lane_exit(lane, ticks);
    nsc_lane_close(lane, ticks);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
}

/* Today's writer gives the golden bytes; only the file's random id and its checksum differ. */
static void test_same_bytes(const uint8_t *golden, size_t bytes, void (*write_file)(void))
{
    size_t made_bytes;
    uint8_t *made;

    write_file();
    made = read_file(path, &made_bytes);
    CHECK_U64(made_bytes, bytes);
    if (made_bytes == bytes) {
        CHECK(memcmp(made, golden, 32) == 0);
        CHECK(memcmp(made + 64, golden + 64, bytes - 64) == 0);
    }
    free(made);
}

static unsigned digit(char c)
{
    return (unsigned)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
}

/* The dump of a file in docs/format.md, behind its name: lines "    0123: 00 11 22  what it is".
 * @part: it leaves out blocks. */
static void test_dump(const char *name, const uint8_t *golden, size_t bytes, bool part)
{
    FILE *f = fopen("docs/format.md", "r");
    char line[256];
    size_t at = 0, shown = 0;
    bool same = true, inside = false;

    if (!CHECK(f != NULL))
        return;
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned offset;
        const char *c = line + 9;

        if (line[0] == '`' && strstr(line, ".nst`:") != NULL)
            inside = strstr(line, name) != NULL;
        if (!inside || sscanf(line, "    %4x:", &offset) != 1 || line[8] != ':' ||
            strlen(line) < 12)
            continue;
        same = same && (offset == at || (part && offset > at));
        at = offset;
        for (; c[0] == ' ' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2]) &&
               (c[3] == ' ' || c[3] == '\n');
             c += 3, at++, shown++)
            same = same && at < bytes && golden[at] == (digit(c[1]) << 4 | digit(c[2]));
    }
    fclose(f);
    CHECK(same);
    CHECK(part ? shown > 0 : at == bytes);
}

/* What src/host/trace reads, in the form of decoder_print()'s event lines. */
static void print_events(struct nsc_trace *t, uint32_t thread, FILE *out)
{
    static const char *const kinds[] = {"enter", "exit", "unwind", "late", "lost"};
    const struct nsc_event *events;
    struct nsc_cursor *c;
    size_t count;

    if (nsc_cursor_open(t, thread, 0, &c, NULL) != 0)
        return;
    while (nsc_cursor_next(c, &events, &count, NULL) == 1)
        for (size_t i = 0; i < count; i++) {
            const struct nsc_event *e = &events[i];

            fprintf(out, "%u %" PRIu64 " %u %s ", thread, e->ticks, e->depth,
                    nsc_model_gap_left_out(e->value) > 0 ? "left out" : kinds[e->kind]);
            if (e->kind == NSC_EVENT_LOST)
                fprintf(out, "%llu\n",
                        (unsigned long long)(nsc_model_gap_lost(e->value) +
                                             nsc_model_gap_left_out(e->value)));
            else
                fprintf(out, "%s\n", nsc_trace_function(t, e->function)->name);
        }
    nsc_cursor_close(c);
}

/* What src/host/trace reads of one owner's notes, in the form of decoder_print()'s lines. */
static void print_notes(struct nsc_trace *t, enum nsc_note_kind kind, uint32_t owner,
                        bool of_process, FILE *out)
{
    struct nsc_note note;
    struct nsc_note_cursor *n;

    if (nsc_note_cursor_open(t, kind, owner, of_process, 0, &n, NULL) != 0)
        return;
    while (nsc_note_cursor_next(n, &note, NULL) == 1) {
        fprintf(out, "note %s %u %" PRIu64 " ", of_process ? "process" : "thread", owner,
                note.ticks);
        if (kind == NSC_NOTE_SAMPLE) {
            fprintf(out, "sample");
            for (int i = 0; i < NSC_SAMPLE_FIELDS; i++)
                if ((note.sample.known >> i & 1) != 0)
                    fprintf(out, " %d=%" PRIu64, i, note.sample.values[i]);
        } else if (kind == NSC_NOTE_STATE) {
            fprintf(out, "state %u %u", note.state.old_state, note.state.new_state);
        } else if (kind == NSC_NOTE_MARK) {
            fprintf(out, "mark %s [%s]%s", note.mark.name, note.mark.metadata,
                    note.mark.cut ? " cut" : "");
        } else if (note.counter.is_real) {
            fprintf(out, "counter %s %a", note.counter.name, note.counter.real);
        } else {
            fprintf(out, "counter %s %" PRId64, note.counter.name, note.counter.integer);
        }
        fputc('\n', out);
    }
    nsc_note_cursor_close(n);
}

static void test_golden_text(const uint8_t *golden, size_t bytes, const char *text)
{
    size_t wanted_bytes, got_bytes = 0;
    char *got = NULL, *wanted = (char *)read_file(text, &wanted_bytes);
    FILE *out = open_memstream(&got, &got_bytes);
    const char *wrong = decoder_print(golden, bytes, out);

    fclose(out);
    CHECK_STR(wrong == NULL ? "" : wrong, "");
    CHECK_STR(got, wanted);
    free(got);
    free(wanted);
}

/* The decoder's event lines of one thread, in order; not the FULL records, which are no events. */
static char *only_events(const char *listing, uint32_t thread)
{
    static const char full[] = " other 10\n";
    char *out = NULL, prefix[16];
    size_t bytes = 0;
    FILE *f = open_memstream(&out, &bytes);
    int n = snprintf(prefix, sizeof prefix, "%u ", thread);

    while (*listing != '\0') {
        const char *end = strchr(listing, '\n') + 1;

        if (strncmp(listing, prefix, (size_t)n) == 0 &&
            strncmp(end - strlen(full), full, strlen(full)) != 0)
            fwrite(listing, 1, (size_t)(end - listing), f);
        listing = end;
    }
    fclose(f);
    return out;
}

/* Both readers on a random trace. Either in little memory, so that chunks are many and small, or in
 * enough for @nodes above them. @hook: ticks that an event takes, which most chunks leave out. */
static void test_agree(bool compress, uint32_t max_depth, bool nodes, uint32_t hook)
{
    struct nsc_writer_options options = {.size = sizeof options,
                                         .memory_bytes = nodes ? 0 : 20000,
                                         .compress = compress,
                                         .overwrite = true};
    struct model_thread m[2] = {{.hook = hook}, {.hook = hook}};
    struct model_random r = {max_depth};
    char *listing = NULL, *ours = NULL, *theirs;
    size_t bytes, listing_bytes;
    const char *wrong;
    struct nsc_writer *w;
    struct nsc_trace *t;
    uint8_t *file;
    FILE *out;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, m, 2, 50);
    for (int i = 0; i < 30000; i++) {
        model_step(&m[i / 4000 % 2], &r, nodes ? 9 : 50, max_depth, 30);
        if (nodes && i % 1500 == 0)
            nsc_writer_flush(w);
    }
    model_close(&m[0]);
    model_close(&m[1]);
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(path, 0, &t, NULL) != 0)
        abort();
    file = read_file(path, &bytes);
    out = open_memstream(&listing, &listing_bytes);
    wrong = decoder_print(file, bytes, out);
    fclose(out);
    CHECK_STR(wrong == NULL ? "" : wrong, "");
    CHECK(!nodes || strstr(listing, "level 1") != NULL);
    for (uint32_t i = 0; i < 2; i++) {
        out = open_memstream(&ours, &bytes);
        print_events(t, i, out);
        fclose(out);
        theirs = only_events(listing, i);
        CHECK(strlen(ours) > 1000 && strcmp(ours, theirs) == 0);
        free(ours);
        free(theirs);
    }
    free(listing);
    free(file);
    nsc_trace_close(t);
    model_free(&m[0]);
    model_free(&m[1]);
}

/* The decoder's lines of one owner's notes of one kind. */
static char *only_notes(const char *listing, uint32_t owner, bool of_process, const char *kind)
{
    char *out = NULL, prefix[32];
    size_t bytes = 0;
    FILE *f = open_memstream(&out, &bytes);
    int n =
        snprintf(prefix, sizeof prefix, "note %s %u ", of_process ? "process" : "thread", owner);

    while (*listing != '\0') {
        const char *end = strchr(listing, '\n') + 1;

        if (strncmp(listing, prefix, (size_t)n) == 0) {
            const char *what = strchr(listing + n, ' ') + 1;

            if (strncmp(what, kind, strlen(kind)) == 0)
                fwrite(listing, 1, (size_t)(end - listing), f);
        }
        listing = end;
    }
    fclose(f);
    return out;
}

/* Both readers on random notes. */
static void test_notes_agree(bool compress)
{
    static const char *const kinds[] = {"sample", "state", "mark", "counter"};
    struct nsc_writer_options options = {
        .size = sizeof options, .compress = compress, .overwrite = true};
    struct model_thread m[2] = {{0}};
    struct model_notes notes = {.items = NULL};
    struct model_random r = {compress};
    char *listing = NULL, *ours = NULL, *theirs;
    size_t bytes, listing_bytes;
    const char *wrong;
    struct nsc_writer *w;
    struct nsc_trace *t;
    uint8_t *file;
    FILE *out;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, m, 2, 3);
    for (int i = 0; i < 8000; i++)
        note_step(&notes, w, &r, 2);
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(path, 0, &t, NULL) != 0)
        abort();
    file = read_file(path, &bytes);
    out = open_memstream(&listing, &listing_bytes);
    wrong = decoder_print(file, bytes, out);
    fclose(out);
    CHECK_STR(wrong == NULL ? "" : wrong, "");
    for (int i = 0; i < 5; i++) {
        int kind = i < 4 ? i : NSC_NOTE_COUNTER;

        out = open_memstream(&ours, &bytes);
        print_notes(t, (enum nsc_note_kind)kind, i < 4 ? 1 : 0, i == 4, out);
        fclose(out);
        theirs = only_notes(listing, i < 4 ? 1 : 0, i == 4, kinds[kind]);
        CHECK(strlen(ours) > 1000 && strcmp(ours, theirs) == 0);
        free(ours);
        free(theirs);
    }
    free(listing);
    free(file);
    free(notes.items);
    nsc_trace_close(t);
}

/* The golden files, in tests/golden; @part: docs/format.md shows some of its blocks. */
static const struct golden {
    const char *name;
    void (*write)(void);
    bool part;
} golden_files[] = {
    {"small", write_golden, false},
    {"notes", write_golden_notes, true},
    {"nodes", write_golden_nodes, true},
    {"least", write_golden_least, true},
};

static void test_golden(const struct golden *g)
{
    char name[64], file[64];
    uint8_t *golden;
    size_t bytes;

    snprintf(name, sizeof name, "%s.nst", g->name);
    snprintf(file, sizeof file, "tests/golden/%s.nst", g->name);
    golden = read_file(file, &bytes);
    CHECK(bytes > 0);
    test_same_bytes(golden, bytes, g->write);
    test_dump(name, golden, bytes, g->part);
    snprintf(file, sizeof file, "tests/golden/%s.txt", g->name);
    test_golden_text(golden, bytes, file);
    free(golden);
}

int main(int argc, char **argv)
{
    const size_t files = sizeof golden_files / sizeof golden_files[0];

    /* NAME PATH: make a golden file anew, and print what the decoder says of it; only while no
     * release has it. */
    for (size_t i = 0; argc == 3 && i < files; i++)
        if (strcmp(argv[1], golden_files[i].name) == 0) {
            size_t bytes;
            uint8_t *made;
            const char *wrong;

            snprintf(path, sizeof path, "%s", argv[2]);
            golden_files[i].write();
            made = read_file(path, &bytes);
            wrong = decoder_print(made, bytes, stdout);
            free(made);
            return wrong == NULL ? 0 : 1;
        }

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    for (size_t i = 0; i < files; i++)
        test_golden(&golden_files[i]);
    test_agree(false, 30, false, 0);
    test_agree(true, 30, false, 0);
    test_agree(false, 900, false, 0);
    test_agree(false, 8, true, 0);
    test_agree(false, 8, true, 25);
    test_agree(true, 8, true, 25);
    test_notes_agree(false);
    test_notes_agree(true);
    unlink(path);
    rmdir(folder);
    return t_done();
}
