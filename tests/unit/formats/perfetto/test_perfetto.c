/*
 * test_perfetto.c - read exported Perfetto traces back with a decoder of its own and
 * compare every slice with the calls that were written: names, times, nesting, tracks, clocks.
 */
#include <zlib.h>

#include "tap.h"
#include "unit/rigs/formats_fixture.h"
#include "unit/rigs/proto_reader.h"

#define THREADS   4
#define FUNCTIONS 300
#define CALLS     20000

static struct nsc_diag diag;

/* ---- What is read ------------------------------------------------------------------------- */

struct slice {
    uint64_t start, end;
    uint32_t depth, name;
    char bound[16], clipped[16];
};

struct sequence {
    uint64_t track, clock;
    int cleared, depth;
    char names[FUNCTIONS + 2][64];
    char files[FUNCTIONS + 2][64];
    uint32_t open[64];
    struct slice *slices;
    uint32_t count;
    uint64_t lost;
    size_t name_bytes; /* of the longest name */
};

static struct sequence sequences[THREADS + 3];

struct track {
    uint64_t uuid, parent;
    uint32_t pid, tid;
    char name[64];
};

static struct track tracks[32];
static uint32_t track_count;
static uint64_t boot_ns, real_ns;

static void read_track(const struct field *d)
{
    struct track *t = &tracks[track_count++];
    struct field process = get(d, 3), thread = get(d, 4), name = get(d, 2);

    t->uuid = get(d, 1).value;
    t->parent = get(d, 5).value;
    t->pid = (uint32_t)(get(&process, 1).value + get(&thread, 1).value);
    t->tid = (uint32_t)get(&thread, 2).value;
    if (process.number != 0)
        name = get(&process, 6);
    else if (thread.number != 0)
        name = get(&thread, 5);
    copy_text(t->name, sizeof t->name, &name);
}

static void read_clocks(struct sequence *s, const struct field *snapshot)
{
    const uint8_t *at = snapshot->data;
    struct field f;

    while (next_field(&at, snapshot->data + snapshot->bytes, &f)) {
        uint64_t id = get(&f, 1).value;

        if (f.number != 1)
            continue;
        if (id == 64 && get(&f, 3).value == 1)
            s->clock = get(&f, 2).value;
        else if (id == 6)
            boot_ns = get(&f, 2).value;
        else if (id == 1)
            real_ns = get(&f, 2).value;
    }
}

static void read_interned(struct sequence *s, const struct field *data)
{
    const uint8_t *at = data->data;
    struct field f;

    while (next_field(&at, data->data + data->bytes, &f)) {
        uint64_t iid = get(&f, 1).value;
        struct field text = get(&f, 2);

        if (iid == 0 || iid > FUNCTIONS)
            t_report(0, __FILE__, __LINE__, "an iid out of range");
        else if (f.number == 2)
            copy_text(s->names[iid], sizeof s->names[iid], &text);
        else if (f.number == 4)
            snprintf(s->files[iid], sizeof s->files[iid], "%.*s:%u", (int)text.bytes,
                     (const char *)text.data, (unsigned)get(&f, 4).value);
        if (text.bytes > s->name_bytes)
            s->name_bytes = text.bytes;
    }
}

static void read_annotations(struct sequence *s, const struct field *event, struct slice *slice)
{
    const uint8_t *at = event->data;
    struct field f;

    while (next_field(&at, event->data + event->bytes, &f)) {
        struct field name, text;
        char key[16];

        if (f.number != 4)
            continue;
        name = get(&f, 10);
        text = get(&f, 6);
        copy_text(key, sizeof key, &name);
        if (strcmp(key, "count") == 0)
            s->lost += get(&f, 3).value;
        else if (slice != NULL)
            copy_text(key[0] == 'b' ? slice->bound : slice->clipped, sizeof slice->bound, &text);
    }
}

static void read_event(struct sequence *s, const struct field *event, uint64_t ns)
{
    uint64_t type = get(event, 9).value;
    struct slice *slice;

    if (type == 1) {
        slice = &s->slices[s->count];
        *slice = (struct slice){
            .start = ns, .depth = (uint32_t)s->depth, .name = (uint32_t)get(event, 10).value};
        s->open[s->depth++] = s->count++;
    } else if (type == 2) {
        if (s->depth == 0) {
            t_report(0, __FILE__, __LINE__, "an end without begin");
            return;
        }
        slice = &s->slices[s->open[--s->depth]];
        slice->end = ns;
        read_annotations(s, event, slice);
    } else {
        read_annotations(s, event, NULL);
    }
}

static void read_packet(const struct field *packet)
{
    uint64_t id = get(packet, 10).value, flags = get(packet, 13).value;
    struct field f, defaults;
    struct sequence *s;

    if (id == 0 || id >= THREADS + 3) {
        t_report(0, __FILE__, __LINE__, "a sequence id out of range");
        return;
    }
    s = &sequences[id];
    if (flags & 1)
        s->cleared = 1;
    if ((flags & 2) && !s->cleared)
        t_report(0, __FILE__, __LINE__, "state needed before it was set");
    f = get(packet, 59);
    if (f.number != 0) {
        defaults = get(&f, 11);
        s->track = get(&defaults, 11).value;
        if (get(&f, 58).value != 64)
            t_report(0, __FILE__, __LINE__, "another default clock");
    }
    f = get(packet, 6);
    if (f.number != 0)
        read_clocks(s, &f);
    f = get(packet, 60);
    if (f.number != 0)
        read_track(&f);
    f = get(packet, 12);
    if (f.number != 0)
        read_interned(s, &f);
    f = get(packet, 11);
    if (f.number != 0) {
        if (!(flags & 2) || get(packet, 8).number == 0)
            t_report(0, __FILE__, __LINE__, "an event without state or time");
        s->clock += get(packet, 8).value;
        read_event(s, &f, s->clock);
    }
}

static void forget(void)
{
    for (unsigned i = 0; i < THREADS + 3; i++)
        free(sequences[i].slices);
    memset(sequences, 0, sizeof sequences);
    memset(tracks, 0, sizeof tracks);
    track_count = 0;
    boot_ns = real_ns = 0;
    for (unsigned i = 0; i < THREADS + 3; i++)
        sequences[i].slices = calloc(CALLS + 8, sizeof(struct slice));
}

static void read_trace(const char *name)
{
    size_t bytes = 0;
    char *data = fx_read(name, &bytes);
    const uint8_t *at = (const uint8_t *)data;
    struct field f;

    forget();
    while (next_field(&at, (const uint8_t *)data + bytes, &f)) {
        if (f.number != 1)
            t_report(0, __FILE__, __LINE__, "something that is no packet");
        read_packet(&f);
    }
    free(data);
}

/* ---- Random calls ------------------------------------------------------------------------- */

static struct slice *expected[THREADS];
static uint32_t expected_count[THREADS];

static uint32_t random32(void)
{
    static uint64_t state = 20;

    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

static void fill_thread(struct nsc_lane *lane, unsigned thread)
{
    uint64_t ticks = 5000000000ull + thread * 1000;
    uint32_t open[60], depth = 0, calls = 0;
    struct slice *all = calloc(CALLS, sizeof *all);

    while (calls < CALLS || depth > 0) {
        ticks += random32() % 16 == 0 ? random32() : random32() % 300;
        if (calls < CALLS && depth < 60 && (depth == 0 || random32() % 2 == 0)) {
            /* a few functions make most calls */
            uint32_t function = random32() % (1 + random32() % FUNCTIONS);

            all[calls] = (struct slice){.start = ticks, .depth = depth, .name = function};
            nsc_lane_enter(lane, ticks, function, 0);
            open[depth++] = calls++;
        } else {
            all[open[--depth]].end = ticks;
            nsc_lane_exit(lane, ticks);
        }
    }
    nsc_lane_close(lane, ticks);
    expected[thread] = all;
    expected_count[thread] = calls;
}

static void fill_random(struct nsc_writer *w)
{
    uint32_t process[2] = {fx_process(w, 100, "one"), fx_process(w, 200, "two")};
    char name[64], file[64];

    for (unsigned i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "ns::function%u(int)", i);
        snprintf(file, sizeof file, "/src/file%u.cc", i % 7);
        fx_function(w, name, i % 3 ? file : "", i % 3 ? i + 1 : 0);
    }
    fill_thread(fx_thread(w, process[0], 100, 0, "main"), 0);
    fill_thread(fx_thread(w, process[0], 101, 0, "worker"), 1);
    fill_thread(fx_thread(w, process[0], 101, 1, "worker"), 2);
    fill_thread(fx_thread(w, process[1], 200, 0, "main"), 3);
}

static const struct track *find_track(uint64_t uuid)
{
    for (uint32_t i = 0; i < track_count; i++)
        if (tracks[i].uuid == uuid)
            return &tracks[i];
    return &tracks[31];
}

static void compare_random(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        struct sequence *s = &sequences[i + 2];
        unsigned wrong = 0;
        char name[64], file[64];

        CHECK_U64(s->count, expected_count[i]);
        CHECK_U64((unsigned)s->depth, 0);
        for (uint32_t j = 0; j < s->count && j < expected_count[i]; j++) {
            const struct slice *got = &s->slices[j], *want = &expected[i][j];

            snprintf(name, sizeof name, "ns::function%u(int)", want->name);
            snprintf(file, sizeof file, "/src/file%u.cc:%u", want->name % 7, want->name + 1);
            wrong += got->start != want->start || got->end != want->end ||
                     got->depth != want->depth || strcmp(s->names[got->name], name) != 0 ||
                     strcmp(s->files[got->name], want->name % 3 ? file : "") != 0 ||
                     got->bound[0] != '\0';
        }
        CHECK_U64(wrong, 0);
    }
}

static void test_random(void)
{
    struct nsc_trace *t = fx_trace(fill_random);
    struct nsc_export_result r;
    const struct track *track;
    gzFile gz;
    uint64_t plain, unpacked = 0;
    char buffer[4096];
    int n;

    CHECK(nsc_formats_export(t, "perfetto", fx_path("x.pftrace"), NULL, &r, &diag) == 0);
    CHECK_U64(r.calls, THREADS * CALLS);
    CHECK_U64(r.notes.count, 0);
    plain = r.bytes;
    read_trace("x.pftrace");
    compare_random();
    track = find_track(sequences[3].track);
    CHECK_U64(track->tid, 101);
    CHECK_U64(track->pid, 100);
    CHECK_STR(track->name, "worker");
    CHECK_STR(find_track(track->parent)->name, "one");
    track = find_track(sequences[4].track);
    CHECK_STR(track->name, "stack 1");
    CHECK_U64(track->parent, sequences[3].track);
    CHECK_U64(find_track(sequences[5].track)->pid, 200);

    CHECK(nsc_formats_export(t, "perfetto", fx_path("x.pftrace.gz"), NULL, &r, &diag) == 0);
    gz = gzopen(fx_path("x.pftrace.gz"), "rb");
    while ((n = gzread(gz, buffer, sizeof buffer)) > 0)
        unpacked += (unsigned)n;
    gzclose(gz);
    CHECK_U64(unpacked, plain);
    CHECK(r.bytes < plain / 2);
    nsc_trace_close(t);
    for (unsigned i = 0; i < THREADS; i++)
        free(expected[i]);
}

/* ---- Foreign text ------------------------------------------------------------------------- */

static char *long_name;

static void fill_text(struct nsc_writer *w)
{
    struct nsc_lane *lane = fx_thread(w, fx_process(w, 1, "p\xe4"), 1, 0, "\xc3\xa4 \xed\xa0\x80");

    fx_function(w, long_name, "dir\xff/file.c", 7);
    fx_function(w, "\xf0\x9f\x98\x80 \xc0\x80 \xe2\x82", "", 0);
    nsc_lane_enter(lane, 10, 0, 0);
    nsc_lane_enter(lane, 20, 1, 0);
    nsc_lane_close(lane, 30);
}

static void test_text(void)
{
    struct sequence *s = &sequences[2];
    struct nsc_export_result r;
    struct nsc_trace *t;

    /* the cut would fall into the middle of a character */
    long_name = malloc(70001);
    for (unsigned i = 0; i < 70000; i += 2)
        memcpy(long_name + i, i == 0 ? "ab" : "\xc3\xa4", 2);
    memmove(long_name + 1, long_name + 2, 69998);
    long_name[69999] = '\0';
    t = fx_trace(fill_text);
    free(long_name);
    CHECK(nsc_formats_export(t, "perfetto", fx_path("x.pftrace"), NULL, &r, &diag) == 0);
    nsc_trace_close(t);
    CHECK(r.bytes > 61000);
    CHECK(r.bytes < 62000);
    read_trace("x.pftrace");
    CHECK_U64(s->count, 2);
    CHECK_U64(s->name_bytes % 2, 1); /* "a" and whole characters */
    CHECK_STR(s->files[s->slices[0].name], "dir\xef\xbf\xbd/file.c:7");
    CHECK_STR(s->names[s->slices[1].name],
              "\xf0\x9f\x98\x80 \xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd");
    CHECK_STR(tracks[0].name, "p\xef\xbf\xbd");
    CHECK_STR(tracks[1].name, "\xc3\xa4 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

/* ---- What is not exact -------------------------------------------------------------------- */

static void fill_bounds(struct nsc_writer *w)
{
    struct nsc_clock_point first = {1000, 50000, 70000, 1700000000000000000ull};
    struct nsc_clock_point last = {101000000, 50050000, 70050000, 1700000000000050000ull};
    uint32_t process = fx_process(w, 1, "p");
    struct nsc_lane *lane = fx_thread(w, process, 1, 0, "t");
    uint32_t a = fx_function(w, "a", "", 0), b = fx_function(w, "b\xff", "", 0);

    /* two ticks are a nanosecond; the boot clock was 70000 at tick 1000 */
    last.ticks = 1000 + 2 * 20000000;
    last.monotonic_ns = 50000 + 20000000;
    nsc_writer_clock(w, &first);
    nsc_writer_clock(w, &last);
    nsc_lane_enter(lane, 2000, a, 0);
    nsc_lane_enter(lane, 3000, b, 0);
    nsc_lane_lost(lane, 3500, 42);
    nsc_lane_unwind(lane, 4000);
    nsc_lane_exit(lane, 5000);
    nsc_lane_late_exit(lane, 6000, b);
    nsc_lane_close(lane, 6000);
}

static void test_bounds(void)
{
    struct nsc_export_options options = {.size = sizeof options, .from_ticks = 2500};
    struct nsc_trace *t = fx_trace(fill_bounds);
    struct nsc_export_result r;
    struct sequence *s = &sequences[2];

    CHECK(nsc_formats_export(t, "perfetto", fx_path("x.pftrace"), NULL, &r, &diag) == 0);
    CHECK_U64(r.calls, 3);
    CHECK_U64(r.bounds, 2);
    CHECK_U64(r.lost, 42);
    read_trace("x.pftrace");
    CHECK_U64(s->count, 3);
    CHECK_U64(s->lost, 42);
    CHECK_U64(real_ns, 1700000000000000000ull);
    CHECK_U64(s->slices[0].start, 70500);
    CHECK_U64(s->slices[0].end, 72000);
    CHECK_STR(s->slices[0].bound, "");
    CHECK_U64(s->slices[1].start, 71000);
    CHECK_STR(s->slices[1].bound, "end");
    CHECK_STR(s->names[s->slices[1].name], "b\xef\xbf\xbd");
    /* the gap came while `a` was open: the late call can have begun when `a` ended */
    CHECK_U64(s->slices[2].start, 72000);
    CHECK_U64(s->slices[2].end, 72500);
    CHECK_STR(s->slices[2].bound, "start");

    CHECK(nsc_formats_export(t, "perfetto", fx_path("x.pftrace"), &options, &r, &diag) == 0);
    CHECK_U64(r.clipped, 1);
    CHECK(strstr(r.notes.line[0], "1 call reaches beyond the window and is clipped") != NULL);
    read_trace("x.pftrace");
    CHECK_U64(s->slices[0].start, 70750);
    CHECK_STR(s->slices[0].clipped, "start");
    nsc_trace_close(t);
}

int main(void)
{
    fx_begin();
    test_random();
    test_text();
    test_bounds();
    forget();
    for (unsigned i = 0; i < THREADS + 3; i++)
        free(sequences[i].slices);
    fx_end();
    return t_done();
}
