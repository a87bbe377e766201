/*
 * test_damage.c - cut and flipped .nst files: never a crash, always an error with its offset
 * or the intact part, and never an event that was not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "analyze/calls/gaps.h"
#include "analyze/replay/replay.h"
#include "base/crc32c.h"
#include "base/span.h"
#include "formats/nst/nst_copy.h"
#include "tap.h"
#include "trace/format/format.h"
#include "unit/rigs/trace_model.h"

#define THREADS   3
#define FUNCTIONS 20

static char folder[] = "/tmp/nsc-test-damage-XXXXXX";
static char whole_path[64], damaged_path[64], recovered_path[64];
static int damaged_fd;
static uint8_t *whole;
static size_t whole_bytes;
static struct model_thread model[THREADS];

/* The damaged file lives in memory: there are ten thousands of them. */
static void write_damaged(const uint8_t *data, size_t bytes)
{
    if (ftruncate(damaged_fd, 0) != 0 || pwrite(damaged_fd, data, bytes, 0) != (ssize_t)bytes)
        abort();
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    int fd = open(path, O_RDONLY);
    struct stat st;
    uint8_t *data;

    if (fd < 0 || fstat(fd, &st) != 0 || (data = malloc((size_t)st.st_size)) == NULL ||
        read(fd, data, (size_t)st.st_size) != st.st_size)
        abort();
    close(fd);
    *bytes = (size_t)st.st_size;
    return data;
}

/* A small trace of several chunks a thread: a memory bound of one byte makes them small. */
static void make_whole(bool compress)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = 1, .compress = compress, .overwrite = true};
    struct nsc_clock_point point = {.ticks = 1, .monotonic_ns = 5};
    struct model_random r = {compress};
    struct nsc_writer *w;

    if (nsc_writer_create(whole_path, &options, &w, NULL) != 0)
        abort();
    nsc_writer_meta(w, "command", "model");
    nsc_writer_clock(w, &point);
    model_tables(w, model, THREADS, FUNCTIONS);
    for (int i = 0; i < 800; i++)
        model_step(&model[i / 50 % THREADS], &r, FUNCTIONS, 12, 20);
    for (int i = 0; i < THREADS; i++)
        model_close(&model[i]);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
    free(whole);
    whole = read_file(whole_path, &whole_bytes);
}

/* Read every event; they must be a part of the model's, in order, apart from what bridges gaps.
 * Returns the number of genuine events, or -1 for one that was never written. */
static long read_all(struct nsc_trace *t)
{
    long genuine = 0;

    for (uint32_t id = 0; id < nsc_trace_info(t)->thread_count; id++) {
        const struct nsc_event *events;
        struct nsc_cursor *c;
        size_t count, at = 0;

        if (nsc_cursor_open(t, id, 0, &c, NULL) != 0)
            continue;
        while (nsc_cursor_next(c, &events, &count, NULL) == 1) {
            bool real = nsc_cursor_chunk(c) != NULL;

            for (size_t i = 0; real && i < count; i++, genuine++) {
                while (id < THREADS && at < model[id].count &&
                       !model_same(&model[id].events[at], &events[i]))
                    at++;
                if (id >= THREADS || at++ == model[id].count) {
                    nsc_cursor_close(c);
                    return -1;
                }
            }
        }
        nsc_cursor_close(c);
    }
    return genuine;
}

static void count_fault(void *ctx, const struct nsc_diag *d)
{
    int *without_offset = ctx;

    *without_offset += d->offset == NSC_DIAG_NO_OFFSET;
}

/* Everything that can be done with a damaged file. Returns false when something is wrong. */
static bool survives(bool flipped, long *kept)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    int without_offset = 0, faults, error;
    struct nsc_trace *t;

    faults = nsc_trace_verify(damaged_path, count_fault, &without_offset, &diag);
    if (faults == 0)
        return printf("# verify found nothing\n") < 0;
    error = nsc_trace_open(damaged_path, 0, &t, &diag);
    if (error == 0) {
        nsc_trace_close(t);
        if (!flipped)
            return printf("# a cut file opens\n") < 0;
    } else if (diag.offset == NSC_DIAG_NO_OFFSET) {
        return printf("# no offset: %s\n", diag.message) < 0;
    }
    error = nsc_trace_open(damaged_path, NSC_NST_RECOVER | NSC_TRACE_SCAN, &t, &diag);
    if (error != 0)
        return error == -EPROTO || error == -EBADMSG; /* the file header */
    *kept = read_all(t);
    nsc_trace_close(t);
    return *kept >= 0;
}

static void test_cut_everywhere(void)
{
    long kept = 0, before = 0;
    size_t bad = 0, shrank = 0;

    for (size_t bytes = 0; bytes < whole_bytes; bytes++) {
        write_damaged(whole, bytes);
        if (!survives(false, &kept) && bad++ < 3)
            printf("# cut at %zu of %zu\n", bytes, whole_bytes);
        shrank += kept < before;
        before = kept;
    }
    CHECK_U64(bad, 0);
    CHECK_U64(shrank, 0);
    CHECK_U64((uint64_t)kept, model[0].count + model[1].count + model[2].count);
}

static void test_flip_everywhere(void)
{
    size_t bad = 0, poor = 0;
    long all = (long)(model[0].count + model[1].count + model[2].count);

    for (size_t i = 0; i < whole_bytes; i++) {
        long kept = all;

        whole[i] ^= (uint8_t)(1u << (i % 8));
        write_damaged(whole, whole_bytes);
        whole[i] ^= (uint8_t)(1u << (i % 8));
        if (!survives(true, &kept) && bad++ < 3)
            printf("# bit flipped at %zu of %zu\n", i, whole_bytes);
        poor += i >= 8 && kept < all / 2; /* beyond the magic number, one bit costs one chunk */
    }
    CHECK_U64(bad, 0);
    CHECK_U64(poor, 0);
}

/* recover writes a trace that verifies and accounts for every event. */
static void test_recover(size_t cut, size_t flip)
{
    struct nsc_diag diag = {.message = ""};
    struct nsc_trace_info info;
    int without_offset = 0;
    struct nsc_trace *t;

    whole[flip] ^= 0x10;
    write_damaged(whole, cut);
    whole[flip] ^= 0x10;
    unlink(recovered_path);
    if (!CHECK(nsc_nst_recover(damaged_path, recovered_path, NULL, NULL, &info, &diag) == 0)) {
        printf("# %s at %lld\n", diag.message, (long long)diag.offset);
        return;
    }
    CHECK(info.warning[0] != '\0');
    CHECK(nsc_trace_verify(recovered_path, count_fault, &without_offset, &diag) == 0);
    if (CHECK(nsc_trace_open(recovered_path, 0, &t, &diag) == 0)) {
        CHECK(nsc_trace_info(t)->complete);
        CHECK(nsc_trace_info(t)->calls > 0);
        CHECK_STR(nsc_trace_meta(t, "command"), "model");
        nsc_trace_close(t);
    }
    printf("# %s\n", info.warning);
}

/*
 * Lies with good checksums: a changed byte in a chunk head must be noticed by its contradiction
 * with the index or with the events.
 */
static void test_forged_heads(void)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    size_t head, bytes, noticed = 0, tried = 0;
    struct model_random r = {5};
    struct nsc_chunk_head parts;
    const struct nsc_chunk *chunks;
    struct nsc_writer *w;
    struct nsc_trace *t;
    uint32_t count;

    if (nsc_writer_create(whole_path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, model, 1, FUNCTIONS);
    for (int i = 0; i < 100000; i++)
        model_step(&model[0], &r, FUNCTIONS, 12, 16);
    model_close(&model[0]);
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(whole_path, 0, &t, NULL) != 0)
        abort();
    chunks = nsc_trace_chunks(t, 0, &count);
    CHECK(count >= 2 && nsc_trace_chunk_head(t, &chunks[1], &parts, NULL) == 0);
    CHECK(parts.has_totals && parts.has_summary && parts.frame_count > 0);
    head = chunks[1].offset;
    nsc_trace_close(t);
    free(whole);
    whole = read_file(whole_path, &whole_bytes);
    bytes = nsc_span_get64(whole + head + 8);
    for (size_t i = 0; i < bytes; i += bytes / 250 + 1, tried++) {
        struct nsc_diag diag;
        int without_offset = 0;

        whole[head + NSC_FORMAT_BLOCK_BYTES + i] ^= 2; /* bit 0 of frames no event tells */
        nsc_span_put32(whole + head + 24,
                       nsc_base_crc32c(0, whole + head + NSC_FORMAT_BLOCK_BYTES, bytes));
        nsc_span_put32(whole + head + 28, nsc_base_crc32c(0, whole + head, 28));
        write_damaged(whole, whole_bytes);
        whole[head + NSC_FORMAT_BLOCK_BYTES + i] ^= 2;
        if (nsc_trace_verify(damaged_path, count_fault, &without_offset, &diag) > 0)
            noticed++;
        else
            printf("# byte %zu of %zu\n", i, bytes);
    }
    printf("# %zu of %zu noticed\n", noticed, tried);
    CHECK(noticed == tried && tried > 100);
    model_free(&model[0]);
}

/* The counts of a head are also in the index: verify must hold them against the events. */
static void test_false_counts(void)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    int without_offset = 0;
    struct nsc_writer *w;
    uint8_t *at;
    size_t seen = 0;

    if (nsc_writer_create(whole_path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, model, 1, 1);
    nsc_lane_enter(model[0].lane, 1000, 0, 0);
    nsc_lane_lost(model[0].lane, 2000, 99);
    nsc_lane_exit(model[0].lane, 3000);
    nsc_lane_close(model[0].lane, 3000);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
    free(whole);
    whole = read_file(whole_path, &whole_bytes);
    /* ticks 2000, events 2, calls 1, lost 99: in the head and in the index */
    for (at = whole;
         (at = memmem(at, whole_bytes - (size_t)(at - whole), "\xd0\x0f\x02\x01\x63", 5)) != NULL;
         at++, seen++)
        at[4] = 98;
    CHECK_U64(seen, 2);
    for (at = whole + NSC_FORMAT_HEADER_BYTES; nsc_span_get32(at) == NSC_FORMAT_BLOCK_SYNC;) {
        size_t bytes = nsc_span_get64(at + 8);

        nsc_span_put32(at + 24, nsc_base_crc32c(0, at + NSC_FORMAT_BLOCK_BYTES, bytes));
        nsc_span_put32(at + 28, nsc_base_crc32c(0, at, 28));
        at += NSC_FORMAT_BLOCK_BYTES + bytes;
    }
    write_damaged(whole, whole_bytes);
    CHECK(nsc_trace_verify(damaged_path, count_fault, &without_offset, NULL) == 1);
    model_free(&model[0]);
}

/* A file that breaks off knows the losses of its chunks, though its thread table is older. */
static void test_cut_losses(void)
{
    struct nsc_thread thread = {.tid = 100, .name = "model", .lost = 99};
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_writer *w;
    struct nsc_trace *t;

    if (nsc_writer_create(whole_path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, model, 1, 1);
    nsc_lane_enter(model[0].lane, 1000, 0, 0);
    nsc_lane_lost(model[0].lane, 2000, 99);
    nsc_lane_close(model[0].lane, 3000);
    nsc_writer_set_thread(w, 0, &thread);
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(whole_path, 0, &t, NULL) != 0)
        abort();
    CHECK_U64(nsc_trace_info(t)->lost, 99);
    free(whole);
    whole = read_file(whole_path, &whole_bytes);
    /* Behind the chunk: the final tables. */
    write_damaged(whole, nsc_trace_chunks(t, 0, &(uint32_t){0})->offset + 140);
    nsc_trace_close(t);
    CHECK(nsc_trace_open(damaged_path, NSC_NST_RECOVER, &t, NULL) == 0);
    CHECK_U64(nsc_trace_info(t)->events, 2);
    CHECK_U64(nsc_trace_info(t)->lost, 99);
    nsc_trace_close(t);
    model_free(&model[0]);
}

/* What a thread's events are like in a recovered file. */
struct deep {
    uint64_t enters, exits, unwinds, lates, gaps, wrong;
};

static bool count_unknown(void *context, const struct nsc_replay_item *item)
{
    uint32_t *unknown = context;

    *unknown += item->kind == NSC_REPLAY_LOST && item->lost == 0;
    return true;
}

/* A gap of unknown size is a gap for those who look for gaps, and for those who replay. */
static void check_unknown_gap(struct nsc_trace *t)
{
    struct nsc_selection all;
    struct nsc_gaps gaps;
    uint32_t replayed = 0;

    nsc_selection_init(&all);
    CHECK(nsc_gaps_find(t, &all, NULL, NULL, &gaps, NULL) == 0);
    CHECK_U64(gaps.count, 1);
    CHECK_U64(gaps.placed, 0);
    CHECK(nsc_replay(t, &all, UINT32_MAX, count_unknown, &replayed, NULL) == 0);
    CHECK_U64(replayed, 1);
    /* Where a window begins is none. */
    all.from_ticks = gaps.first_ticks + 1;
    CHECK(nsc_gaps_find(t, &all, NULL, NULL, &gaps, NULL) == 0);
    CHECK_U64(gaps.count, 0);
}

static struct deep read_deep(const char *path, const struct model_thread *m)
{
    const struct nsc_event *events;
    struct deep d = {0};
    struct nsc_cursor *c;
    struct nsc_trace *t;
    size_t count, last = m->count;

    if (nsc_trace_open(path, 0, &t, NULL) != 0 || nsc_cursor_open(t, 0, 0, &c, NULL) != 0)
        abort();
    CHECK(nsc_trace_meta(t, "recovered") != NULL);
    check_unknown_gap(t);
    while (nsc_cursor_next(c, &events, &count, NULL) == 1)
        for (size_t i = 0; i < count; i++) {
            d.enters += events[i].kind == NSC_EVENT_ENTER;
            d.unwinds += events[i].kind == NSC_EVENT_UNWIND;
            d.lates += events[i].kind == NSC_EVENT_LATE_EXIT;
            d.gaps += events[i].kind == NSC_EVENT_LOST;
            d.exits += events[i].kind == NSC_EVENT_EXIT;
            if (events[i].kind == NSC_EVENT_LATE_EXIT)
                d.wrong += strcmp(nsc_trace_function(t, events[i].function)->name, "(lost)") != 0;
        }
    nsc_cursor_close(c);
    /* The last exits are the outermost calls': they must be the model's. */
    if (nsc_cursor_open(t, 0, m->ticks - 50, &c, NULL) != 0)
        abort();
    while (last > 0 && m->events[last - 1].ticks >= m->ticks - 50)
        last--;
    while (nsc_cursor_next(c, &events, &count, NULL) == 1)
        for (size_t i = 0; i < count; i++)
            if (events[i].ticks >= m->ticks - 50 && events[i].kind == NSC_EVENT_EXIT)
                d.wrong += last >= m->count || !model_same(&m->events[last++], &events[i]);
    nsc_cursor_close(c);
    nsc_trace_close(t);
    return d;
}

/*
 * Chunks are missing under a deep stack, of which each head tells a part only. One missing chunk:
 * its opening stack is what the chunk before left, so that all calls go on. Two: the calls that
 * nobody tells return as LATE EXITs without name; nothing behind them is left out.
 */
static void test_deep_gap(void)
{
    enum { DEPTH = 3000, CHUNKS = 5, CHANGE = 40 };
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    const struct nsc_chunk *chunks;
    struct nsc_writer *w;
    struct nsc_trace *t;
    struct deep one, two;
    uint32_t count;

    if (nsc_writer_create(whole_path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, model, 1, FUNCTIONS);
    model[0].ticks = 1000;
    for (uint32_t i = 0; i < DEPTH; i++, model[0].ticks++)
        model_enter(&model[0], i % FUNCTIONS);
    for (uint32_t k = 1; k < CHUNKS; k++) {
        nsc_writer_flush(w);
        for (uint32_t i = 0; i < CHANGE; i++, model[0].ticks++)
            model_end(&model[0], NSC_EVENT_EXIT);
        for (uint32_t i = 0; i < CHANGE / 2; i++, model[0].ticks++)
            model_enter(&model[0], (i + k) % FUNCTIONS);
    }
    for (; model[0].depth > 0; model[0].ticks++)
        model_end(&model[0], NSC_EVENT_EXIT);
    model_close(&model[0]);
    if (nsc_writer_finish(w, NULL) != 0 || nsc_trace_open(whole_path, 0, &t, NULL) != 0)
        abort();
    chunks = nsc_trace_chunks(t, 0, &count);
    CHECK_U64(count, CHUNKS);
    CHECK(chunks[2].common > 2000 && chunks[3].common > 2000);
    free(whole);
    whole = read_file(whole_path, &whole_bytes);

    memset(whole + chunks[2].offset, 0x55, chunks[3].offset - chunks[2].offset);
    write_damaged(whole, whole_bytes);
    unlink(recovered_path);
    CHECK(nsc_nst_recover(damaged_path, recovered_path, NULL, NULL, NULL, NULL) == 0);
    CHECK(nsc_trace_verify(recovered_path, count_fault, &(int){0}, NULL) == 0);
    one = read_deep(recovered_path, &model[0]);
    CHECK_U64(one.gaps, 1);
    CHECK_U64(one.lates + one.wrong, 0);
    CHECK_U64(one.enters, one.exits + one.unwinds);
    CHECK_U64(one.unwinds, CHANGE); /* gone meanwhile */

    memset(whole + chunks[1].offset, 0x55, chunks[2].offset - chunks[1].offset);
    write_damaged(whole, whole_bytes);
    unlink(recovered_path);
    CHECK(nsc_nst_recover(damaged_path, recovered_path, NULL, NULL, NULL, NULL) == 0);
    CHECK(nsc_trace_verify(recovered_path, count_fault, &(int){0}, NULL) == 0);
    two = read_deep(recovered_path, &model[0]);
    CHECK_U64(two.gaps, 1);
    CHECK_U64(two.lates, chunks[3].common);
    CHECK_U64(two.enters, two.exits + two.unwinds);
    nsc_trace_close(t);
    model_free(&model[0]);
}

/* Bytes that look like headers everywhere must not cost a look at the rest of the file each. */
static void test_marker_flood(void)
{
    const size_t bytes = (size_t)(T_SANITIZED ? 2 : 32) << 20;
    uint8_t *flood = malloc(bytes);
    struct nsc_trace *t;

    if (flood == NULL)
        abort();
    memcpy(flood, whole, NSC_FORMAT_HEADER_BYTES);
    for (size_t at = NSC_FORMAT_HEADER_BYTES; at < bytes; at += 4)
        nsc_span_put32(flood + at, NSC_FORMAT_BLOCK_SYNC);
    write_damaged(flood, bytes);
    free(flood);
    alarm(60); /* it takes a second; it took minutes */
    CHECK(nsc_trace_open(damaged_path, NSC_NST_RECOVER, &t, NULL) == 0);
    alarm(0);
    nsc_trace_close(t);
}

/* A few KiB that would become gigabytes of table entries are refused. */
static void test_bomb(void)
{
    enum { PLAIN = 16 << 20, ENTRIES = PLAIN / 5 - 4, BLOCKS = 12 };
    uint8_t *plain = malloc(PLAIN), *file = malloc(PLAIN), *at = file + NSC_FORMAT_HEADER_BYTES;
    struct nsc_trace *t;

    if (plain == NULL || file == NULL)
        abort();
    memcpy(file, whole, NSC_FORMAT_HEADER_BYTES);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint8_t *end = nsc_leb_put(nsc_leb_put(plain, (uint64_t)i * ENTRIES), ENTRIES);
        uint64_t packed;

        for (uint32_t k = 0; k < ENTRIES; k++, end += 5)
            memcpy(end, "\4\0\0\0\0", 5);
        packed =
            ZSTD_compress(at + NSC_FORMAT_BLOCK_BYTES, PLAIN / 2, plain, (size_t)(end - plain), 1);
        nsc_span_put32(at, NSC_FORMAT_BLOCK_SYNC);
        nsc_span_put32(at + 4, NSC_FORMAT_CLOCK | NSC_FORMAT_BLOCK_ZSTD << 16);
        nsc_span_put64(at + 8, packed);
        nsc_span_put64(at + 16, (uint64_t)(end - plain));
        nsc_span_put32(at + 24, nsc_base_crc32c(0, at + NSC_FORMAT_BLOCK_BYTES, packed));
        nsc_span_put32(at + 28, nsc_base_crc32c(0, at, 28));
        at += NSC_FORMAT_BLOCK_BYTES + packed;
    }
    write_damaged(file, (size_t)(at - file));
    CHECK(nsc_trace_open(damaged_path, NSC_NST_RECOVER, &t, NULL) == 0);
    printf("# %zu bytes, %u entries\n", (size_t)(at - file), nsc_trace_info(t)->clock_count);
    CHECK(nsc_trace_info(t)->clock_count <= 3 * ENTRIES);
    nsc_trace_close(t);
    free(plain);
    free(file);
}

static void test_all(bool compress)
{
    int without_offset = 0;

    make_whole(compress);
    CHECK(nsc_trace_verify(whole_path, count_fault, &without_offset, NULL) == 0);
    test_cut_everywhere();
    test_flip_everywhere();
    test_recover(whole_bytes / 2, 40);
    test_recover(whole_bytes, whole_bytes / 2);
    for (int i = 0; i < THREADS; i++)
        model_free(&model[i]);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(whole_path, sizeof whole_path, "%s/whole.nst", folder);
    damaged_fd = memfd_create("damaged", MFD_CLOEXEC);
    snprintf(damaged_path, sizeof damaged_path, "/proc/self/fd/%d", damaged_fd);
    snprintf(recovered_path, sizeof recovered_path, "%s/recovered.nst", folder);
    test_all(false);
    test_all(true);
    test_forged_heads();
    test_false_counts();
    test_cut_losses();
    test_deep_gap();
    test_marker_flood();
    test_bomb();
    free(whole);
    unlink(whole_path);
    close(damaged_fd);
    unlink(recovered_path);
    rmdir(folder);
    return t_done();
}
