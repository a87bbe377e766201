/*
 * test_trace_golden.c - the golden file: written as ever, read as ever, and printed in
 * docs/format.md byte by byte; and the second decoder (tests/decoder) agrees with src/trace on it
 * and on random traces.
 */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decoder/decoder.h"
#include "tap.h"
#include "unit/trace_model.h"

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

/* Today's writer gives the golden bytes; only the file's random id and its checksum differ. */
static void test_same_bytes(const uint8_t *golden, size_t bytes)
{
    size_t made_bytes;
    uint8_t *made;

    write_golden();
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

/* The dump in docs/format.md: lines "    0123: 00 11 22  what it is". */
static void test_dump(const uint8_t *golden, size_t bytes)
{
    FILE *f = fopen("docs/format.md", "r");
    char line[256];
    size_t at = 0;
    bool same = true;

    if (!CHECK(f != NULL))
        return;
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned offset;
        const char *c = line + 9;

        if (sscanf(line, "    %4x:", &offset) != 1 || line[8] != ':' || strlen(line) < 12)
            continue;
        same = same && offset == at;
        for (; c[0] == ' ' && isxdigit((unsigned char)c[1]) && isxdigit((unsigned char)c[2]) &&
               (c[3] == ' ' || c[3] == '\n');
             c += 3, at++)
            same = same && at < bytes && golden[at] == (digit(c[1]) << 4 | digit(c[2]));
    }
    fclose(f);
    CHECK(same);
    CHECK_U64(at, bytes);
}

/* What src/trace reads, in the form of decoder_print()'s event lines. */
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

            fprintf(out, "%u %" PRIu64 " %u %s ", thread, e->ticks, e->depth, kinds[e->kind]);
            if (e->kind == NSC_EVENT_LOST)
                fprintf(out, "%llu\n", (unsigned long long)e->value);
            else
                fprintf(out, "%s\n", nsc_trace_function(t, e->function)->name);
        }
    nsc_cursor_close(c);
}

static void test_golden_text(const uint8_t *golden, size_t bytes)
{
    size_t wanted_bytes, got_bytes = 0;
    char *got = NULL, *wanted = (char *)read_file("tests/golden/small.txt", &wanted_bytes);
    FILE *out = open_memstream(&got, &got_bytes);
    const char *wrong = decoder_print(golden, bytes, out);

    fclose(out);
    CHECK_STR(wrong == NULL ? "" : wrong, "");
    CHECK_STR(got, wanted);
    free(got);
    free(wanted);
}

/* The decoder's event lines of one thread, in order. */
static char *only_events(const char *listing, uint32_t thread)
{
    char *out = NULL, prefix[16];
    size_t bytes = 0;
    FILE *f = open_memstream(&out, &bytes);
    int n = snprintf(prefix, sizeof prefix, "%u ", thread);

    while (*listing != '\0') {
        const char *end = strchr(listing, '\n') + 1;

        if (strncmp(listing, prefix, (size_t)n) == 0)
            fwrite(listing, 1, (size_t)(end - listing), f);
        listing = end;
    }
    fclose(f);
    return out;
}

/* Both readers on a random trace. @memory: small, so that there are many chunks. */
static void test_agree(bool compress, uint32_t max_depth)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = 20000, .compress = compress, .overwrite = true};
    struct model_thread m[2] = {{0}};
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
    for (int i = 0; i < 30000; i++)
        model_step(&m[i / 4000 % 2], &r, 50, max_depth, 30);
    model_close(&m[0]);
    model_close(&m[1]);
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(path, 0, &t, NULL) != 0)
        abort();
    file = read_file(path, &bytes);
    out = open_memstream(&listing, &listing_bytes);
    wrong = decoder_print(file, bytes, out);
    fclose(out);
    CHECK_STR(wrong == NULL ? "" : wrong, "");
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

int main(void)
{
    size_t bytes;
    uint8_t *golden = read_file("tests/golden/small.nst", &bytes);

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    CHECK(bytes > 0);
    test_same_bytes(golden, bytes);
    test_dump(golden, bytes);
    test_golden_text(golden, bytes);
    test_agree(false, 30);
    test_agree(true, 30);
    test_agree(false, 900);
    free(golden);
    unlink(path);
    rmdir(folder);
    return t_done();
}
