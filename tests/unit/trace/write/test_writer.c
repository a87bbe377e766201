/*
 * test_writer.c - the writer at its limits: paths it refuses, a full disk, deep recursion,
 * many lanes in little memory, strange times; and the heads' totals and summaries against brute
 * force.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/nst/nst_copy.h"
#include "tap.h"
#include "trace/format/block.h"
#include "trace/write/write_behind.h"
#include "unit/rigs/trace_model.h"
#include "util/os/partial_name.h"

static char folder[] = "/tmp/nsc-test-writer-XXXXXX";
static char path[64], other[128];

static struct nsc_writer *create(size_t memory)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = memory, .overwrite = true};
    struct nsc_writer *w = NULL;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    return w;
}

static void show_fault(void *ctx, const struct nsc_diag *d)
{
    (void)ctx;
    printf("# %s at %lld\n", d->message, (long long)d->offset);
}

/* Finish, verify, open. */
static struct nsc_trace *finish(struct nsc_writer *w)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_trace *t = NULL;

    if (!CHECK(nsc_writer_finish(w, &diag) == 0))
        printf("# %s\n", diag.message);
    CHECK(nsc_trace_verify(path, show_fault, NULL, NULL) == 0);
    CHECK(nsc_trace_open(path, 0, &t, &diag) == 0);
    return t;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

static int refusal(const char *where, bool overwrite)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = overwrite};
    struct nsc_diag diag = {.message = ""};
    struct nsc_writer *w;
    int error = nsc_writer_create(where, &options, &w, &diag);

    if (error == 0)
        nsc_writer_abandon(w);
    else if (strstr(diag.message, where) == NULL || strchr(diag.message, '\n') != NULL)
        printf("# message: %s\n", diag.message);
    return -error;
}

static void test_paths(void)
{
    struct nsc_writer *w;
    pid_t writer = 0;
    struct stat st;

    snprintf(other, sizeof other, "%s/link.nst", folder);
    CHECK(symlink("target", other) == 0);
    CHECK(refusal(other, false) == ELOOP);
    CHECK(refusal(other, true) == ELOOP);
    unlink(other);
    CHECK(refusal(folder, true) == EISDIR);
    CHECK(refusal("/tmp/", true) == EISDIR);
    CHECK(refusal("/dev/null", true) == EEXIST);
    snprintf(other, sizeof other, "%s/missing/x.nst", folder);
    CHECK(refusal(other, true) == ENOENT);
    CHECK(refusal("/proc/x.nst", true) != 0);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    CHECK(refusal(path, false) == EEXIST);
    CHECK(refusal(path, true) == 0);
    unlink(path);

    w = create(0);
    snprintf(other, sizeof other, "%s", nsc_writer_partial_path(w));
    CHECK(nsc_partial_length(other, &writer) == strlen(path) && writer == getpid());
    CHECK(stat(other, &st) == 0 && (st.st_mode & 07777) == 0600 && stat(path, &st) != 0);
    CHECK(nsc_writer_finish(w, NULL) == 0);
    CHECK(stat(other, &st) != 0 && stat(path, &st) == 0);
    w = create(0);
    CHECK(strcmp(nsc_writer_partial_path(w), other) != 0);
    snprintf(other, sizeof other, "%s", nsc_writer_partial_path(w));
    nsc_writer_abandon(w);
    CHECK(stat(other, &st) != 0);
}

/* Complete, and still under its temporary name: another file stands at the path. */
static void test_keep_partial(void)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .overwrite = true, .keep_partial = true};
    struct nsc_writer *w;
    struct stat st;

    close(open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600));
    CHECK(nsc_writer_create(path, &options, &w, NULL) == 0);
    snprintf(other, sizeof other, "%s", nsc_writer_partial_path(w));
    CHECK(nsc_writer_finish(w, NULL) == 0);
    CHECK(stat(path, &st) == 0 && st.st_size == 0);
    CHECK(nsc_trace_verify(other, show_fault, NULL, NULL) == 0);
    unlink(other);
    unlink(path);
}

/* ---- A full disk ----------------------------------------------------------------------------- */

static const char *folder_file(const char *name)
{
    static char buffer[64];

    snprintf(buffer, sizeof buffer, "%s/%s", folder, name);
    return buffer;
}

static void test_full_disk(void)
{
    struct rlimit old, small = {3 << 20, 3 << 20};
    struct nsc_diag diag = {.message = ""};
    struct model_thread m = {0};
    struct model_random r = {1};
    struct nsc_trace_info info;
    struct nsc_writer *w;

    unlink(path);
    w = create(0);
    snprintf(other, sizeof other, "%s", nsc_writer_partial_path(w));

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    model_tables(w, &m, 1, 100);
    for (int i = 0; i < 3000000; i++)
        model_step(&m, &r, 100, 30, 20);
    CHECK(nsc_writer_error(w) == -EFBIG);
    CHECK(nsc_writer_dropped(w) > 0);
    CHECK(nsc_writer_finish(w, &diag) == -EFBIG);
    CHECK(strstr(diag.message, ".partial") != NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    rename(other, folder_file("cut"));
    if (!CHECK(nsc_nst_recover(folder_file("cut"), path, NULL, NULL, &info, &diag) == 0))
        printf("# %s\n", diag.message);
    CHECK(info.events > 500000);
    CHECK(nsc_trace_verify(path, show_fault, NULL, NULL) == 0);
    unlink(folder_file("cut"));
    model_free(&m);
}

/* Counts what comes out of a pipe, once it may. */
static void count_bytes(int fd, int go)
{
    static char buffer[65536];
    uint64_t sum = 0;
    ssize_t n;
    char c;

    if (read(go, &c, 1) != 1)
        _exit(2);
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        sum += (uint64_t)n;
    _exit(sum == (3 << 20) + 100 ? 0 : 1);
}

/* A disk that hangs: a push every second must not wait for it, nor use up the room. */
static void test_hanging_disk(void)
{
    static char data[1 << 20];
    struct nsc_write_behind *spool;
    int ends[2], go[2], status = -1;
    pid_t child;

    if (pipe(ends) != 0 || pipe(go) != 0 || (child = fork()) < 0)
        abort();
    if (child == 0) {
        close(ends[1]);
        close(go[1]);
        count_bytes(ends[0], go[0]);
    }
    close(ends[0]);
    alarm(20); /* instead of a test that hangs, too */
    spool = nsc_write_behind_new(ends[1]);
    CHECK(nsc_write_behind_put(spool, data, sizeof data) == 0);
    for (int i = 0; i < 100; i++) {
        CHECK(nsc_write_behind_put(spool, data, 1) == 0);
        CHECK(nsc_write_behind_push(spool) == 0);
    }
    CHECK(nsc_write_behind_put(spool, data, sizeof data) == 0);
    CHECK(nsc_write_behind_put(spool, data, sizeof data) == 0);
    CHECK(write(go[1], "", 1) == 1);
    CHECK(nsc_write_behind_wait(spool) == 0);
    alarm(0);
    nsc_write_behind_free(spool);
    close(ends[1]);
    waitpid(child, &status, 0);
    CHECK(status == 0);
    close(go[0]);
    close(go[1]);
}

/* ---- Depth, numbers of lanes ----------------------------------------------------------------- */

static void test_deep(void)
{
    struct model_thread m = {0};
    struct nsc_writer *w = create(0);
    struct nsc_trace *t;
    uint32_t depth = 1200000;

    model_tables(w, &m, 1, 3);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < depth; i++)
            nsc_lane_enter(m.lane, m.ticks += 20, i % 3, 0);
        for (uint32_t i = 0; i < depth / 2; i++) /* up and down, high above the ground */
            nsc_lane_exit(m.lane, m.ticks += 20);
        for (uint32_t i = 0; i < 2000000; i++) {
            nsc_lane_enter(m.lane, m.ticks += 20, 1, 0);
            nsc_lane_exit(m.lane, m.ticks += 20);
        }
        while (nsc_lane_depth(m.lane) > 0)
            nsc_lane_exit(m.lane, m.ticks += 20);
    }
    nsc_lane_close(m.lane, m.ticks);
    t = finish(w);
    CHECK_U64(nsc_trace_info(t)->calls, 2 * (depth + 2000000));
    CHECK(nsc_trace_info(t)->file_bytes < 10 * nsc_trace_info(t)->calls);
    printf("# %.2f bytes a call\n",
           (double)nsc_trace_info(t)->file_bytes / (double)nsc_trace_info(t)->calls);
    nsc_trace_close(t);
}

/* Short threads one after the other: small on disk. */
static void test_short_threads(void)
{
    struct nsc_process process = {.pid = 1, .parent = NSC_NO_ID, .name = "p"};
    struct nsc_function f = {.name = "f", .module = NSC_NO_ID};
    struct nsc_thread thread = {.name = "worker"};
    struct nsc_writer *w = create(0);
    struct nsc_trace *t;

    nsc_writer_add_process(w, &process, NULL);
    nsc_writer_add_function(w, &f, NULL);
    for (uint32_t i = 0; i < 10000; i++) {
        struct nsc_lane *lane;

        thread.tid = i;
        if (nsc_writer_add_thread(w, &thread, NULL, &lane) != 0)
            abort();
        for (uint64_t k = 0; k < 5; k++) {
            nsc_lane_enter(lane, i * 100 + k * 20, 0, 0);
            nsc_lane_exit(lane, i * 100 + k * 20 + 10);
        }
        nsc_lane_close(lane, i * 100 + 90);
    }
    t = finish(w);
    CHECK_U64(nsc_trace_info(t)->calls, 50000);
    CHECK(nsc_trace_info(t)->file_bytes < 10000 * 230); /* tables included */
    printf("# %.1f bytes a thread\n", (double)nsc_trace_info(t)->file_bytes / 10000);
    nsc_trace_close(t);
}

/* All threads alive, with many functions: the memory bound holds and nothing is lost. */
static void test_many_lanes(void)
{
    enum { LANES = 10000, FUNCTIONS = 3000, BOUND = 16 << 20 };
    struct model_thread *m = calloc(LANES, sizeof *m);
    struct model_random r = {3};
    struct nsc_writer *w = create(BOUND);
    struct rusage before, after;
    struct nsc_trace *t;
    uint64_t events = 0;

    model_tables(w, m, LANES, FUNCTIONS);
    getrusage(RUSAGE_SELF, &before);
    for (uint32_t i = 0; i < 20000; i++) {
        struct model_thread *thread = &m[model_random(&r) % LANES];

        for (int k = 0; k < 40; k++, events++) {
            uint64_t ticks = thread->ticks += 30;

            if (thread->depth == 0 || (thread->depth < 20 && model_random(&r) % 2 == 0)) {
                nsc_lane_enter(thread->lane, ticks, model_random(&r) % FUNCTIONS, 0);
                thread->depth++;
            } else {
                nsc_lane_exit(thread->lane, ticks);
                thread->depth--;
            }
        }
    }
    getrusage(RUSAGE_SELF, &after);
    for (uint32_t i = 0; i < LANES; i++)
        events += m[i].depth;
    t = finish(w);
    CHECK_U64(nsc_trace_info(t)->events, events);
    printf("# %ld KiB more\n", after.ru_maxrss - before.ru_maxrss);
    if (!T_SANITIZED) /* the index has a quarter more; frames beside */
        CHECK(after.ru_maxrss - before.ru_maxrss < (BOUND >> 10) * 5 / 4 + (16 << 10));
    nsc_trace_close(t);
    free(m);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

enum { RUN_FUNCTIONS = 700 };

struct made_event {
    uint64_t ticks;
    uint32_t function; /* NSC_NO_ID: an exit */
};

/* Calls of all kinds: leaves, deep ones, pauses that take one to seven bytes. Nearly all events are
 * at least @hook ticks apart. */
static uint32_t make_events(struct made_event *events, uint32_t count, uint32_t hook)
{
    struct model_random r = {11};
    uint64_t ticks = 5000;
    uint32_t depth = 0, i;

    for (i = 0; i < count || depth > 0; i++) {
        uint32_t kind = model_random(&r) % 1000;

        ticks += kind == 0 ? model_random(&r) : model_random(&r) % (kind < 20 ? 100000 : 90);
        ticks += kind == 2 ? 0 : hook;
        if (kind == 1)
            ticks += 1ull << 41;
        if (i < count && (depth == 0 || (depth < 700 && model_random(&r) % 9 < 5))) {
            events[i] =
                (struct made_event){ticks, model_random(&r) % (i < count / 2 ? 60 : RUN_FUNCTIONS)};
            depth++;
        } else {
            events[i] = (struct made_event){ticks, NSC_NO_ID};
            depth--;
        }
    }
    return i;
}

static void give_one(struct nsc_lane *lane, const struct made_event *e)
{
    if (e->function != NSC_NO_ID)
        nsc_lane_enter(lane, e->ticks, e->function, 0);
    else
        nsc_lane_exit(lane, e->ticks);
}

/* As many as a run takes; returns the first that it refused. */
static uint32_t give_run(struct nsc_lane *lane, const struct made_event *events, uint32_t i,
                         uint32_t count)
{
    struct nsc_lane_run run;
    size_t room = nsc_lane_run_begin(lane, &run);

    for (; i < count && room > 0; i++, room--) {
        const struct made_event *e = &events[i];
        uint64_t coded = nsc_lane_code_function(e->function);

        if (e->function == NSC_NO_ID) {
            if (!nsc_lane_run_exit(lane, &run, e->ticks))
                break;
        } else if (i + 1 < count && room > 1 && e[1].function == NSC_NO_ID) {
            if (!nsc_lane_run_leaf(lane, &run, e->ticks, e[1].ticks, e->function, coded))
                break;
            i++;
            room--;
        } else if (!nsc_lane_run_enter(lane, &run, e->ticks, e->function, coded, 0)) {
            break;
        }
    }
    nsc_lane_run_end(lane, &run);
    return i;
}

static char *written_file(const struct made_event *events, uint32_t count, bool runs, long *bytes)
{
    struct model_thread m = {0};
    struct nsc_writer *w = create(0);
    uint32_t i = 0, alone = 0;
    char *data;
    FILE *f;

    model_tables(w, &m, 1, RUN_FUNCTIONS);
    while (i < count) {
        if (runs)
            i = give_run(m.lane, events, i, count);
        if (i < count)
            give_one(m.lane, &events[i++]);
        alone++;
    }
    printf("# %u of %u events one by one\n", alone, count);
    CHECK(!runs || alone < count / 8);
    nsc_trace_close(finish(w));
    f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (*bytes = ftell(f)) < 0)
        abort();
    rewind(f);
    data = malloc((size_t)*bytes);
    if (data == NULL || fread(data, 1, (size_t)*bytes, f) != (size_t)*bytes)
        abort();
    fclose(f);
    return data;
}

/* Runs write, but for the file's id, the very bytes that single events do. */
static void test_runs(uint32_t hook)
{
    enum { EVENTS = 1000000 };
    struct made_event *events = malloc((EVENTS + 1000) * sizeof *events);
    uint32_t count = make_events(events, EVENTS, hook);
    long bytes[2];
    char *files[2];

    for (int runs = 0; runs < 2; runs++)
        files[runs] = written_file(events, count, runs != 0, &bytes[runs]);
    CHECK(bytes[0] == bytes[1] &&
          memcmp(files[0] + NSC_FORMAT_HEADER_BYTES, files[1] + NSC_FORMAT_HEADER_BYTES,
                 (size_t)bytes[0] - NSC_FORMAT_HEADER_BYTES) == 0);
    free(files[0]);
    free(files[1]);
    free(events);
}

/* ---- A slow disk ----------------------------------------------------------------------------- */

struct slow_disk {
    int from; /* a pipe */
    pthread_mutex_t lock;
    char *data;
    size_t used, room;
};

static void *read_slowly(void *context)
{
    struct slow_disk *disk = context;
    ssize_t n = 1;

    pthread_mutex_lock(&disk->lock); /* until the writer is through */
    while (n > 0) {
        if (disk->room - disk->used < 1 << 20)
            disk->data = realloc(disk->data, disk->room = 2 * disk->room + (1 << 20));
        n = read(disk->from, disk->data + disk->used, disk->room - disk->used);
        disk->used += n > 0 ? (size_t)n : 0;
    }
    return NULL;
}

static uint32_t count_packed(const struct slow_disk *disk, uint32_t *blocks)
{
    size_t at = NSC_FORMAT_HEADER_BYTES;
    struct nsc_block block;
    uint32_t packed = 0;

    for (*blocks = 0; at + NSC_FORMAT_BLOCK_BYTES <= disk->used; ++*blocks) {
        if (nsc_block_unpack((const uint8_t *)disk->data + at, &block) != 0)
            break;
        packed += (block.flags & NSC_FORMAT_BLOCK_ZSTD) != 0;
        at += NSC_FORMAT_BLOCK_BYTES + block.stored_bytes;
    }
    return packed;
}

/* The disk takes nothing for a while: the writer does not wait, and packs what it holds back. */
static void test_slow_disk(void)
{
    struct slow_disk disk = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct model_thread m = {0};
    struct nsc_writer *w = NULL;
    pthread_t reader;
    int ends[2], fd;
    uint32_t blocks, packed;

    pthread_mutex_lock(&disk.lock);
    if (pipe(ends) != 0 || nsc_writer_create_fd(ends[1], "pipe", NULL, &w, NULL) != 0)
        abort();
    disk.from = ends[0];
    if (pthread_create(&reader, NULL, read_slowly, &disk) != 0)
        abort();
    model_tables(w, &m, 1, 300);
    for (uint32_t i = 0; i < 9000000; i++) {
        nsc_lane_enter(m.lane, m.ticks += 20 + i % 7, i % 300, 0);
        nsc_lane_exit(m.lane, m.ticks += 20);
    }
    pthread_mutex_unlock(&disk.lock);
    CHECK(nsc_writer_finish(w, NULL) == 0);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    packed = count_packed(&disk, &blocks);
    printf("# %u of %u blocks packed, %zu bytes\n", packed, blocks, disk.used);
    CHECK(packed > blocks / 4 && packed < blocks);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, disk.data, disk.used) != (ssize_t)disk.used)
        abort();
    close(fd);
    CHECK(nsc_trace_verify(path, show_fault, NULL, NULL) == 0);
    free(disk.data);
}

/* ---- Times ----------------------------------------------------------------------------------- */

static void test_times(void)
{
    static const uint64_t wanted[] = {1000, 1000, 1ull << 62, 1ull << 62, INT64_MAX, INT64_MAX};
    const struct nsc_event *events;
    struct model_thread m = {0};
    struct nsc_writer *w = create(0);
    struct nsc_cursor *c;
    struct nsc_trace *t;
    size_t count, at = 0;

    model_tables(w, &m, 1, 3);
    nsc_lane_enter(m.lane, 1000, 0, 0);
    nsc_lane_enter(m.lane, 900, 1, 0);     /* backwards: raised */
    nsc_lane_exit(m.lane, 1ull << 62);     /* too far for one delta: a new chunk */
    nsc_lane_enter(m.lane, 5, 1, 0);       /* far backwards */
    nsc_lane_exit(m.lane, UINT64_MAX - 5); /* beyond the limit */
    nsc_lane_exit(m.lane, 7);
    nsc_lane_close(m.lane, 8);
    t = finish(w);
    CHECK_U64(nsc_trace_info(t)->chunks, 3);
    CHECK(nsc_cursor_open(t, 0, 0, &c, NULL) == 0);
    while (nsc_cursor_next(c, &events, &count, NULL) == 1)
        for (size_t i = 0; i < count && at < 6; i++, at++)
            CHECK_U64(events[i].ticks, wanted[at]);
    CHECK_U64(at, 6);
    nsc_cursor_close(c);
    nsc_trace_close(t);
}

/* A full buffer loses more than 2^32 events in a minute or two: the number is told as it is. */
static void test_large_loss(void)
{
    const uint64_t lost = 3ull << 33;
    const struct nsc_event *events;
    struct model_thread m = {0};
    struct nsc_writer *w = create(0);
    struct nsc_cursor *c;
    struct nsc_trace *t;
    size_t count;

    model_tables(w, &m, 1, 1);
    nsc_lane_enter(m.lane, 10, 0, 0);
    nsc_lane_lost(m.lane, 20, lost);
    nsc_lane_exit(m.lane, 30);
    nsc_lane_close(m.lane, 30);
    t = finish(w);
    CHECK(nsc_cursor_open(t, 0, 0, &c, NULL) == 0);
    CHECK(nsc_cursor_next(c, &events, &count, NULL) == 1 && count == 3);
    CHECK_U64(events[1].kind, NSC_EVENT_LOST);
    CHECK_U64(events[1].value, lost);
    nsc_cursor_close(c);
    nsc_trace_close(t);
}

/* Misuse latches an error and harms nothing. */
static void test_misuse(void)
{
    struct nsc_writer *w = create(0);
    struct nsc_thread thread = {.process = 7, .name = "x"};
    struct nsc_lane *lane;
    struct model_thread m = {0};

    CHECK(nsc_writer_add_thread(w, &thread, NULL, &lane) == -EINVAL);
    model_tables(w, &m, 1, 3);
    nsc_lane_enter(m.lane, 10, 3, 0); /* no such function */
    CHECK_U64(nsc_lane_depth(m.lane), 0);
    CHECK(nsc_writer_error(w) == -EINVAL);
    CHECK(nsc_writer_alias_function(w, 1, 9) == -EINVAL);
    CHECK(nsc_writer_set_function(w, 9, NULL) == -EINVAL);
    nsc_writer_abandon(w);
}

/* ---- Heads against brute force --------------------------------------------------------------- */

struct brute {
    uint64_t calls, total, self, max;
};

/* Calls of one chunk worked out from the model's events [from, to); @open: their start and child
 * ticks and functions. */
struct open_call {
    uint64_t start, child;
    uint32_t function;
};

static bool totals_good(const struct nsc_chunk_head *head, const struct brute *sums,
                        uint32_t functions)
{
    uint32_t wanted = 0;

    for (uint32_t i = 0; i < functions; i++)
        wanted += sums[i].calls > 0;
    for (uint32_t i = 0; i < head->total_count; i++) {
        const struct nsc_chunk_total *got = &head->totals[i];
        const struct brute *want = &sums[got->function];

        if (got->calls != want->calls || got->total_ticks != want->total ||
            got->self_ticks != want->self || got->max_ticks != want->max)
            return false;
    }
    return head->total_count == wanted;
}

struct ended {
    uint64_t start, end;
    uint32_t depth;
};

/* Each row is the longest of its depth and span, and each call has a row of its depth and span. */
static bool summary_good(const struct nsc_chunk_head *head, const struct ended *calls, size_t count)
{
    uint32_t shift = head->summary_shift;

    for (size_t i = 0; i < count; i++) {
        const struct ended *call = &calls[i];
        uint32_t rows = 0;

        for (uint32_t k = 0; k < head->row_count; k++) {
            const struct nsc_chunk_row *row = &head->rows[k];

            if (row->depth != call->depth ||
                (row->end_ticks - row->duration_ticks) >> shift != call->start >> shift)
                continue;
            rows++;
            if (row->duration_ticks < call->end - call->start)
                return false;
        }
        if (rows != 1)
            return false;
    }
    return true;
}

static void test_heads(void)
{
    enum { FUNCTIONS = 12, STEPS = 300000 };
    struct model_thread m = {0};
    struct model_random r = {11};
    struct nsc_writer *w = create(0);
    struct ended *ended = calloc(STEPS, sizeof *ended);
    struct open_call open[64];
    uint32_t count, depth = 0, with_totals = 0, with_summary = 0, bad = 0;
    const struct nsc_chunk *chunks;
    struct nsc_chunk_head head;
    struct nsc_trace *t;
    size_t at = 0;

    model_tables(w, &m, 1, FUNCTIONS);
    for (int i = 0; i < STEPS; i++)
        model_step(&m, &r, FUNCTIONS, 40, 16);
    model_close(&m);
    t = finish(w);
    chunks = nsc_trace_chunks(t, 0, &count);
    CHECK(count >= 3);
    for (uint32_t i = 0; i < count; i++) {
        struct brute sums[FUNCTIONS] = {{0}};
        size_t ended_count = 0;
        uint64_t left = chunks[i].events;

        for (; at < m.count && (left > 0 || m.events[at].kind == NSC_EVENT_LOST); at++) {
            const struct model_event *e = &m.events[at];
            struct open_call *call = &open[e->depth];
            bool outermost = true;

            left -= e->kind != NSC_EVENT_LOST;
            if (e->kind == NSC_EVENT_ENTER) {
                open[depth++] = (struct open_call){e->ticks, 0, e->function};
                continue;
            }
            if (e->kind != NSC_EVENT_EXIT && e->kind != NSC_EVENT_UNWIND)
                continue;
            depth--;
            for (uint32_t k = 0; k < depth; k++)
                outermost = outermost && open[k].function != e->function;
            sums[e->function].calls++;
            sums[e->function].total += outermost ? e->ticks - call->start : 0;
            sums[e->function].self += e->ticks - call->start - call->child;
            if (e->ticks - call->start > sums[e->function].max)
                sums[e->function].max = e->ticks - call->start;
            if (depth > 0)
                open[depth - 1].child += e->ticks - call->start;
            ended[ended_count++] = (struct ended){call->start, e->ticks, depth};
        }
        if (nsc_trace_chunk_head(t, &chunks[i], &head, NULL) != 0)
            abort();
        with_totals += head.has_totals;
        with_summary += head.has_summary;
        bad += head.has_totals && !totals_good(&head, sums, FUNCTIONS);
        bad += head.has_summary && !summary_good(&head, ended, ended_count);
        if (head.has_summary)
            printf("# chunk %u: %u rows, 2^%u ticks\n", i, head.row_count, head.summary_shift);
    }
    CHECK_U64(bad, 0);
    CHECK(with_totals >= count - 1);
    CHECK(with_summary > 0);
    nsc_trace_close(t);
    free(ended);
    model_free(&m);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    test_many_lanes(); /* first: it looks at the peak of memory */
    test_paths();
    test_keep_partial();
    test_full_disk();
    test_hanging_disk();
    test_deep();
    test_short_threads();
    test_runs(0);
    test_runs(23);
    test_slow_disk();
    test_times();
    test_large_loss();
    test_misuse();
    test_heads();
    unlink(path);
    rmdir(folder);
    return t_done();
}
