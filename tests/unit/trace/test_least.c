/*
 * test_least.c - chunks that leave out the least ticks between two events (docs/format.md
 * section 5): every event comes back, few bytes are taken where that helps and hardly more where it
 * does not, and forged values of `least` are refused.
 */
#include <errno.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/span.h"
#include "tap.h"
#include "trace/format/block.h"
#include "unit/rigs/trace_model.h"

static char folder[] = "/tmp/nsc-test-least-XXXXXX";
static char path[64];
static uint8_t *file;
static size_t file_bytes;

static void show_fault(void *ctx, const struct nsc_diag *d)
{
    (void)ctx;
    printf("# %s at %lld\n", d->message, (long long)d->offset);
}

static struct nsc_writer *create(struct model_thread *m)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_writer *w;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, m, 1, 50);
    return w;
}

static void read_file(void)
{
    FILE *f = fopen(path, "rb");

    free(file);
    file = malloc(1 << 26);
    if (f == NULL || file == NULL)
        abort();
    file_bytes = fread(file, 1, 1 << 26, f);
    fclose(f);
}

/* The blocks of events in the file; of how many `least` is told, and the last one of these. */
static uint32_t count_blocks(uint32_t *told, size_t *last)
{
    uint32_t count = 0;
    struct nsc_block block;

    *told = 0;
    for (size_t at = NSC_FORMAT_HEADER_BYTES;
         at + NSC_FORMAT_BLOCK_BYTES <= file_bytes && nsc_block_unpack(file + at, &block) == 0;
         at += NSC_FORMAT_BLOCK_BYTES + block.stored_bytes) {
        count += block.kind == NSC_FORMAT_EVENTS;
        if (block.kind == NSC_FORMAT_EVENTS && (block.flags & NSC_FORMAT_BLOCK_LEAST) != 0) {
            ++*told;
            *last = at;
        }
    }
    return count;
}

/* The model's events are in the file, and nothing else; it is whole. */
static bool agrees(const struct model_thread *m)
{
    const struct nsc_event *events;
    struct nsc_cursor *c;
    struct nsc_trace *t;
    size_t count, at = 0;
    bool same = nsc_trace_verify(path, show_fault, NULL, NULL) == 0;

    if (nsc_trace_open(path, 0, &t, NULL) != 0 || nsc_cursor_open(t, m->id, 0, &c, NULL) != 0)
        abort();
    while (nsc_cursor_next(c, &events, &count, NULL) == 1)
        for (size_t i = 0; i < count; i++, at++)
            same = same && at < m->count && model_same(&m->events[at], &events[i]);
    nsc_cursor_close(c);
    nsc_trace_close(t);
    return same && at == m->count;
}

static void finish(struct nsc_writer *w, struct model_thread *m)
{
    model_close(m);
    if (nsc_writer_finish(w, NULL) != 0)
        abort();
    CHECK(agrees(m));
    read_file();
}

/* Threads of all kinds of events behind a hook that takes its time, sometimes less. */
static void test_random(uint32_t hook)
{
    struct model_thread m = {.hook = hook};
    struct model_random r = {hook};
    struct nsc_writer *w = create(&m);
    uint32_t blocks, told;
    size_t last;

    for (int i = 0; i < 600000; i++)
        model_step(&m, &r, 50, 40, 40);
    finish(w, &m);
    blocks = count_blocks(&told, &last);
    printf("# hook %u: %u of %u blocks, %zu bytes\n", hook, told, blocks, file_bytes);
    CHECK(hook == 0 ? told == 0 : told > 3);
    model_free(&m);
}

/* One call after the other, each of whose events comes after @near to @far ticks. */
static void add_calls(struct model_thread *m, struct model_random *r, uint32_t count, uint32_t near,
                      uint32_t far)
{
    for (uint32_t i = 0; i < 2 * count; i++) {
        m->ticks += near + model_random(r) % (far - near + 1);
        if (i % 2 == 0)
            model_enter(m, model_random(r) % 50);
        else
            model_end(m, NSC_EVENT_EXIT);
    }
}

static void test_size(void)
{
    enum { CALLS = 1000000 };
    struct model_thread m = {.hook = 0};
    struct model_random r = {7};
    struct nsc_writer *w = create(&m);

    add_calls(&m, &r, CALLS, 22, 52);
    finish(w, &m);
    printf("# %.2f bytes a call\n", (double)file_bytes / CALLS);
    CHECK((double)file_bytes / CALLS < 3.2); /* three, and the first chunk */
    model_free(&m);
}

/* What a chunk does differs from what the one before promised, time and again. */
static void test_unsteady(void)
{
    enum { ROUNDS = 40, CALLS = 30000 };
    struct model_thread m = {.hook = 0};
    struct model_random r = {8};
    struct nsc_writer *w = create(&m);
    uint32_t blocks, told;
    size_t last;

    for (int i = 0; i < ROUNDS; i++) {
        add_calls(&m, &r, CALLS, 40, 60);
        add_calls(&m, &r, CALLS, 0, 3);
    }
    finish(w, &m);
    blocks = count_blocks(&told, &last);
    printf("# %u of %u blocks, %.2f bytes a call\n", told, blocks,
           (double)file_bytes / (2 * ROUNDS * CALLS));
    CHECK(told > 0);
    CHECK(blocks < 5 * ROUNDS);
    CHECK((double)file_bytes / (2 * ROUNDS * CALLS) < 4.5);
    model_free(&m);
}

/* ---- Forged ---------------------------------------------------------------------------------- */

/* The block at @at becomes @flags and, if it has any, the first @count bytes @first. Returns what
 * verify finds. */
static int forged(size_t at, unsigned flags, const char *first, size_t count)
{
    uint8_t before[64];
    size_t bytes = nsc_span_get64(file + at + 8);
    FILE *f = fopen(path, "wb");
    int faults;

    memcpy(before, file + at, sizeof before);
    file[at + 6] = (uint8_t)flags;
    memcpy(file + at + NSC_FORMAT_BLOCK_BYTES, first, count);
    nsc_span_put32(file + at + 24, nsc_base_crc32c(0, file + at + NSC_FORMAT_BLOCK_BYTES, bytes));
    nsc_span_put32(file + at + 28, nsc_base_crc32c(0, file + at, 28));
    if (f == NULL || fwrite(file, 1, file_bytes, f) != file_bytes)
        abort();
    fclose(f);
    memcpy(file + at, before, sizeof before);
    faults = nsc_trace_verify(path, show_fault, NULL, NULL);
    return faults;
}

static void test_forged(void)
{
    struct model_thread m = {.hook = 0};
    struct model_random r = {9};
    struct nsc_writer *w = create(&m);
    uint32_t told;
    size_t at = 0;

    add_calls(&m, &r, 1000, 22, 52);
    nsc_writer_flush(w);
    add_calls(&m, &r, 100, 22, 52);
    finish(w, &m);
    CHECK_U64(count_blocks(&told, &at), 2);
    CHECK_U64(told, 1);
    CHECK(at > 0 && file[at + NSC_FORMAT_BLOCK_BYTES] == 21);
    CHECK(forged(at, NSC_FORMAT_BLOCK_LEAST, "", 0) == 0);
    CHECK(forged(at, 0, "", 0) > 0);
    CHECK(forged(at, NSC_FORMAT_BLOCK_LEAST | 4, "", 0) > 0); /* of tomorrow */
    CHECK(forged(at, NSC_FORMAT_BLOCK_LEAST, "\x16", 1) > 0);
    CHECK(forged(at, NSC_FORMAT_BLOCK_LEAST, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10) > 0);
    CHECK(forged(at, NSC_FORMAT_BLOCK_LEAST, "\xff\xff\xff\xff\xff\xff\xff\xff\x3f", 9) > 0);
    /* A head has no such flag: the block before the events. */
    for (size_t head = NSC_FORMAT_HEADER_BYTES, next; head < at; head = next) {
        next = head + NSC_FORMAT_BLOCK_BYTES + nsc_span_get64(file + head + 8);
        if (next == at)
            CHECK(forged(head, NSC_FORMAT_BLOCK_LEAST, "", 0) > 0);
    }
    model_free(&m);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/t.nst", folder);
    test_random(0);
    test_random(25);
    test_random(120);
    test_size();
    test_unsteady();
    test_forged();
    free(file);
    unlink(path);
    rmdir(folder);
    return t_done();
}
