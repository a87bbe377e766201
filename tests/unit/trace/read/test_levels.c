/*
 * test_levels.c - the upper levels of the index against brute force: rows and sums of random
 * runs of chunks, stacks between chunks, in whole files and in what is left of a cut one.
 */
#include <unistd.h>

#include "tap.h"
#include "trace/format/duration_bucket.h"
#include "trace/read/levels.h"
#include "unit/rigs/trace_model.h"

enum { FUNCTIONS = 12, MAX_DEPTH = 9, STEPS = 240000, CHUNK_STEPS = 1500, THREADS = 2, DEEP = 600 };

struct call {
    uint64_t start, end, child_ticks;
    uint32_t function, depth;
    uint32_t chunk; /* in which it ended */
    bool unwound, outermost;
};

/* What a thread did, worked out from the model's events. */
struct truth {
    struct call *calls; /* in order of their ends */
    size_t count;
};

static char path[] = "/tmp/nsc-test-levels-XXXXXX";
static struct truth truths[THREADS];

static struct nsc_writer *write_trace(struct model_thread *threads, size_t memory)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .memory_bytes = memory, .overwrite = true};
    struct model_random r = {4711};
    struct nsc_writer *w;

    if (nsc_writer_create(path, &options, &w, NULL) != 0)
        abort();
    model_tables(w, threads, THREADS, FUNCTIONS);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct model_thread *t = &threads[i % 7 == 0];

        if (i == STEPS / 2)
            for (uint32_t n = 0; n < DEEP; n++)
                model_enter(t, n % FUNCTIONS);
        if (t->depth > MAX_DEPTH && i % 200 != 0) { /* slowly up again */
            t->ticks += 3;
            model_end(t, NSC_EVENT_EXIT);
        } else {
            model_step(t, &r, FUNCTIONS, MAX_DEPTH, 50);
        }
        if (i % CHUNK_STEPS == 0)
            nsc_writer_flush(w);
    }
    return w;
}

/* Calls of a thread; @chunks tell in which chunk each ends. */
static void find_truth(struct truth *truth, const struct model_thread *m,
                       const struct nsc_chunk *chunks)
{
    struct call *stack = calloc(m->count + 1, sizeof *stack);
    uint32_t depth = 0, chunk = 0;
    uint64_t events = 0;

    truth->calls = calloc(m->count + 1, sizeof *truth->calls);
    truth->count = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct model_event *e = &m->events[i];

        if (e->kind == NSC_EVENT_LOST)
            continue;
        if (events == chunks[chunk].events) {
            events = 0;
            chunk++;
        }
        events++;
        if (e->kind == NSC_EVENT_ENTER) {
            stack[depth] = (struct call){
                .start = e->ticks, .function = e->function, .depth = depth, .outermost = true};
            for (uint32_t k = 0; k < depth; k++)
                stack[depth].outermost &= stack[k].function != e->function;
            depth++;
        } else if (e->kind != NSC_EVENT_LATE_EXIT) {
            struct call *c = &stack[--depth];

            c->end = e->ticks;
            c->chunk = chunk;
            c->unwound = e->kind == NSC_EVENT_UNWIND;
            if (depth > 0)
                stack[depth - 1].child_ticks += c->end - c->start;
            truth->calls[truth->count++] = *c;
        }
    }
    free(stack);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Every row is the longest call of its depth and span in the piece's chunks, and all are there. */
static bool rows_are_true(const struct truth *truth, const struct nsc_levels_piece *p)
{
    size_t spans = 0;
    const struct call *last[512] = {NULL};

    for (size_t i = 0; i < truth->count; i++) {
        const struct call *c = &truth->calls[i];
        bool found = false;

        if (c->chunk < p->first_chunk || c->chunk >= p->first_chunk + p->chunk_count ||
            c->depth >= 512)
            continue;
        if (last[c->depth] == NULL || last[c->depth]->start >> p->shift != c->start >> p->shift)
            spans++;
        last[c->depth] = c;
        for (uint32_t k = 0; k < p->row_count && !found; k++) {
            const struct nsc_chunk_row *row = &p->rows[k];
            uint64_t start = row->end_ticks - row->duration_ticks;

            if (row->depth != c->depth || start >> p->shift != c->start >> p->shift)
                continue;
            found = true;
            if (row->duration_ticks < c->end - c->start)
                return false;
            if (row->duration_ticks == c->end - c->start && start > c->start)
                return false; /* the first of equally long ones */
            if (start == c->start && row->end_ticks == c->end && row->function != c->function)
                return false;
        }
        if (!found)
            return false;
    }
    return spans == p->row_count;
}

/* Past chunks whose events are missing. */
static uint32_t pass_missing(const struct nsc_trace *t, uint32_t thread, uint32_t at)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    while (at < count && chunks[at].missing)
        at++;
    return at;
}

/* Walk over chunks of a thread. Returns the highest level seen; *@unknown counts chunks. */
static uint32_t check_rows(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end,
                           uint32_t shift, uint32_t *unknown)
{
    struct nsc_levels *walk;
    struct nsc_levels_piece p;
    uint32_t at = first, level = 0, wrong = 0;
    int more;

    if (nsc_levels_open(t, thread, first, end, NSC_LEVELS_ROWS, shift, &walk, NULL) != 0)
        abort();
    while ((more = nsc_levels_next(walk, &p, NULL)) == 1) {
        wrong += at == first ? p.first_chunk > at : p.first_chunk != at;
        at = p.first_chunk + p.chunk_count;
        level = p.level > level ? p.level : level;
        if (p.known)
            wrong += p.shift > shift || !rows_are_true(&truths[thread], &p);
        else
            *unknown += p.chunk_count;
    }
    nsc_levels_close(walk);
    at = pass_missing(t, thread, at);
    if (more != 0 || at < end || wrong != 0)
        printf("# thread %u, chunks %u to %u, shift %u: %d, at %u, %u wrong\n", thread, first, end,
               shift, more, at, wrong);
    return more != 0 || at < end || wrong != 0 ? UINT32_MAX : level;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

struct sums {
    uint64_t calls, total, self, min, max, unwinds, counts[NSC_BUCKETS];
};

static void add_truth(const struct truth *truth, uint32_t first, uint32_t end, struct sums *sums)
{
    for (size_t i = 0; i < truth->count; i++) {
        const struct call *c = &truth->calls[i];
        struct sums *s = &sums[c->function];
        uint64_t duration = c->end - c->start;

        if (c->chunk < first || c->chunk >= end)
            continue;
        s->min = s->calls == 0 || duration < s->min ? duration : s->min;
        s->max = duration > s->max ? duration : s->max;
        s->calls++;
        s->total += c->outermost ? duration : 0;
        s->self += duration - c->child_ticks;
        s->unwinds += c->unwound;
        s->counts[nsc_bucket_of(duration)]++;
    }
}

static void add_piece(const struct nsc_levels_piece *p, struct sums *sums)
{
    for (uint32_t i = 0; i < p->total_count; i++) {
        const struct nsc_chunk_total *total = &p->totals[i];
        struct sums *s = &sums[total->function];

        s->min = s->calls == 0 || total->min_ticks < s->min ? total->min_ticks : s->min;
        s->max = total->max_ticks > s->max ? total->max_ticks : s->max;
        s->calls += total->calls;
        s->total += total->total_ticks;
        s->self += total->self_ticks;
        s->unwinds += total->unwinds;
        for (uint32_t k = 0; k < total->count_count; k++)
            s->counts[total->counts[k].bucket] += total->counts[k].calls;
    }
}

static uint32_t check_sums(struct nsc_trace *t, uint32_t thread, uint32_t first, uint32_t end,
                           uint32_t *pieces, uint32_t *unknown)
{
    struct sums *have = calloc(FUNCTIONS, sizeof *have), *want = calloc(FUNCTIONS, sizeof *want);
    struct nsc_levels *walk;
    struct nsc_levels_piece p;
    uint32_t at = first, level = 0;
    bool good = true;

    if (nsc_levels_open(t, thread, first, end, NSC_LEVELS_SUMS, 0, &walk, NULL) != 0)
        abort();
    while (nsc_levels_next(walk, &p, NULL) == 1) {
        good &= p.first_chunk == at;
        at += p.chunk_count;
        level = p.level > level ? p.level : level;
        ++*pieces;
        if (p.known) {
            add_piece(&p, have);
            add_truth(&truths[thread], p.first_chunk, at, want);
        } else {
            *unknown += p.chunk_count;
        }
    }
    good &= pass_missing(t, thread, at) >= end && memcmp(have, want, FUNCTIONS * sizeof *have) == 0;
    nsc_levels_close(walk);
    free(have);
    free(want);
    return good ? level : UINT32_MAX;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* The calls that are open where @chunk begins, and how long their ended callees took. */
static bool stack_is_true(struct nsc_trace *t, uint32_t thread, uint32_t chunk)
{
    struct nsc_levels_stack stack;
    const struct truth *truth = &truths[thread];
    uint32_t count, open = 0, good = 0;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    if (nsc_levels_stack(t, thread, chunk, &stack, NULL) != 0)
        return false;
    for (size_t i = 0; i < truth->count; i++) {
        const struct call *c = &truth->calls[i];
        bool is_open = chunk < count && c->chunk >= chunk && c->depth < stack.depth &&
                       stack.frames[c->depth].start_ticks == c->start &&
                       stack.frames[c->depth].function == c->function;
        uint64_t child_ticks = 0;

        open += chunk < count && c->chunk >= chunk && c->start < chunks[chunk].first_ticks;
        if (!is_open)
            continue;
        for (size_t k = 0; k < truth->count && truth->calls[k].chunk < chunk; k++)
            if (truth->calls[k].depth == c->depth + 1 && truth->calls[k].start >= c->start)
                child_ticks += truth->calls[k].end - truth->calls[k].start;
        good += child_ticks == stack.child_ticks[c->depth];
    }
    return good >= stack.depth && open <= stack.depth;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void check_walks(struct nsc_trace *t, uint32_t wanted_level, uint32_t most_pieces)
{
    struct model_random r = {99};
    uint32_t highest_rows = 0, highest_sums = 0, pieces = 0, unknown = 0, bad = 0, tries = 120;

    for (uint32_t i = 0; i < tries; i++) {
        uint32_t thread = i % THREADS, count, first, end, shift = 8 + model_random(&r) % 40, level;

        (void)nsc_trace_chunks(t, thread, &count);
        first = i < 2 ? 0 : model_random(&r) % count;
        end = i < 2 ? count : first + 1 + model_random(&r) % (count - first);
        level = check_rows(t, thread, first, end, i < 2 ? 60 : shift, &unknown);
        bad += level == UINT32_MAX;
        highest_rows = level + 1 > highest_rows + 1 ? level : highest_rows;
        level = check_sums(t, thread, first, end, &pieces, &unknown);
        bad += level == UINT32_MAX;
        highest_sums = level + 1 > highest_sums + 1 ? level : highest_sums;
        bad += i < 40 && !stack_is_true(t, thread, i < 2 ? count : first);
    }
    CHECK_U64(bad, 0);
    CHECK(highest_rows >= wanted_level && highest_sums >= wanted_level);
    CHECK(pieces <= tries * most_pieces); /* a walk's, on average */
    printf("# highest level %u and %u, %u pieces, %u chunks to be read\n", highest_rows,
           highest_sums, pieces, unknown);
}

static void finish(struct nsc_writer *w, struct model_thread *threads)
{
    struct nsc_trace *t;
    uint32_t count;

    for (uint32_t i = 0; i < THREADS; i++)
        model_close(&threads[i]);
    CHECK(nsc_writer_finish(w, NULL) == 0);
    if (!CHECK(nsc_trace_open(path, 0, &t, NULL) == 0))
        abort();
    for (uint32_t i = 0; i < THREADS; i++)
        find_truth(&truths[i], &threads[i], nsc_trace_chunks(t, i, &count));
    nsc_trace_close(t);
}

static void forget(struct model_thread *threads)
{
    for (uint32_t i = 0; i < THREADS; i++) {
        model_free(&threads[i]);
        free(truths[i].calls);
    }
}

static void test_whole_file(void)
{
    struct model_thread threads[THREADS] = {{0}};
    struct nsc_trace *t;

    finish(write_trace(threads, 0), threads);
    CHECK(nsc_trace_open(path, 0, &t, NULL) == 0);
    check_walks(t, 3, 22);
    nsc_trace_close(t);
    CHECK(nsc_trace_open(path, NSC_NST_RECOVER | NSC_TRACE_SCAN, &t, NULL) == 0);
    check_walks(t, 3, 22);
    nsc_trace_close(t);
    CHECK(truncate(path, (off_t)(STEPS * 2)) == 0);
    CHECK(nsc_trace_open(path, NSC_NST_RECOVER, &t, NULL) == 0);
    check_walks(t, 2, 22);
    nsc_trace_close(t);
    forget(threads);
}

/* With next to no memory there are fewer and smaller nodes. */
static void test_little_memory(void)
{
    struct model_thread threads[THREADS] = {{0}};
    struct nsc_trace *t;

    finish(write_trace(threads, 40000), threads);
    CHECK(nsc_trace_open(path, 0, &t, NULL) == 0);
    check_walks(t, 1, 40);
    nsc_trace_close(t);
    forget(threads);
}

static void test_buckets(void)
{
    uint32_t wrong = 0;
    struct model_random r = {1};

    for (uint32_t i = 0; i < 100000; i++) {
        uint64_t ticks = ((uint64_t)model_random(&r) << 33 | model_random(&r)) >> i % 64;
        uint32_t bucket = nsc_bucket_of(ticks);
        uint64_t low = nsc_bucket_low(bucket), middle = nsc_bucket_middle(bucket);

        wrong += bucket >= NSC_BUCKETS || ticks < low || ticks - low >= nsc_bucket_width(bucket) ||
                 middle < low || (ticks > middle ? ticks - middle : middle - ticks) > ticks / 16;
    }
    CHECK_U64(wrong, 0);
    CHECK_U64(nsc_bucket_of(UINT64_MAX), NSC_BUCKETS - 1);
    CHECK_U64(nsc_bucket_of(15), 15);
}

int main(void)
{
    close(mkstemp(path));
    test_buckets();
    test_whole_file();
    test_little_memory();
    unlink(path);
    return t_done();
}
