/*
 * verify.c - see nsc_trace_verify() in reader.h. Trusts nothing: every block is read, every chunk
 * is decoded, and what the heads say about the events is worked out again from the events.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader_state.h"
#include "util/array.h"

#define SUMMARY_DEPTHS 512 /* docs/format.md section 4 */

/* One function's calls in a chunk, added up here and claimed there. */
struct sums {
    uint64_t calls, total_ticks, self_ticks, max_ticks;
    uint32_t active; /* open calls */
    uint32_t ids; /* how many ids stand for it; with more than one, totals cannot be told apart */
};

struct verify {
    void (*problem)(void *ctx, const struct nsc_diag *d);
    void *ctx;
    int faults;
    struct nsc_trace *trace;
    /* Of the thread being checked: own view of its open calls. */
    uint64_t *child_ticks, *start_ticks;
    uint32_t depth, room;
    struct sums *sums; /* by canonical function */
    uint32_t *touched;
    uint32_t touched_count;
    /* Of the chunk being checked: what its head counts. */
    uint64_t calls, lost;
    uint32_t min_depth, max_depth;
    /* The longest call of each depth and span, if its head has them. */
    bool wants_rows;
    uint32_t shift;
    struct nsc_chunk_row *rows;
    uint32_t row_count, row_room;
    uint32_t row_of[SUMMARY_DEPTHS]; /* index + 1 of a depth's newest row, 0 = none */
};

static void fault(struct verify *v, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fault(struct verify *v, uint64_t offset, const char *format, ...)
{
    struct nsc_diag d = {.offset = offset};
    va_list ap;

    va_start(ap, format);
    vsnprintf(d.message, sizeof d.message, format, ap);
    va_end(ap);
    v->faults++;
    v->problem(v->ctx, &d);
}

static void pass_on(struct verify *v, const struct nsc_diag *d)
{
    v->faults++;
    v->problem(v->ctx, d);
}

static bool enough(const struct verify *v)
{
    return v->faults >= NSC_VERIFY_FAULTS_MAX;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Every block's header and payload, from the file header to @end. */
static int check_blocks(struct verify *v, int fd, uint64_t end)
{
    struct nsc_buffer plain = {0}, packed = {0};
    uint64_t offset = NSC_FORMAT_HEADER_BYTES;
    int error = 0;

    while (offset < end && error == 0 && !enough(v)) {
        struct nsc_block block;
        struct nsc_diag d;

        if (nsc_block_header_read(fd, end, offset, &block, &d) == 0) {
            error = nsc_block_payload_read(fd, &block, &plain, &packed, &d);
            if (error == -EBADMSG || error == -EPROTO) {
                pass_on(v, &d);
                error = 0;
            }
            offset = nsc_block_end(&block);
        } else {
            pass_on(v, &d);
            error = nsc_block_find(fd, end, offset + 1, &offset);
        }
    }
    nsc_buffer_free(&plain);
    nsc_buffer_free(&packed);
    return error;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int push(struct verify *v, uint64_t ticks, uint32_t function)
{
    if (v->depth == v->room) {
        uint32_t room = v->room == 0 ? 64 : v->room * 2;
        uint64_t *start = realloc(v->start_ticks, room * sizeof *start), *child;

        if (start == NULL)
            return -ENOMEM;
        v->start_ticks = start;
        child = realloc(v->child_ticks, room * sizeof *child);
        if (child == NULL)
            return -ENOMEM;
        v->child_ticks = child;
        v->room = room;
    }
    v->sums[function].active++;
    v->start_ticks[v->depth] = ticks;
    v->child_ticks[v->depth++] = 0;
    v->calls++;
    if (v->depth > v->max_depth)
        v->max_depth = v->depth;
    return 0;
}

/* Keep the longest call of each depth and span. Spans of one depth come in order. */
static int add_row(struct verify *v, uint64_t start, uint64_t end, uint32_t function)
{
    uint32_t *newest = &v->row_of[v->depth];
    struct nsc_chunk_row row = {end, end - start, function, v->depth}, *rows = v->rows;

    if (*newest != 0) {
        struct nsc_chunk_row *before = &rows[*newest - 1];

        if ((before->end_ticks - before->duration_ticks) >> v->shift == start >> v->shift) {
            if (row.duration_ticks > before->duration_ticks)
                *before = row;
            return 0;
        }
    }
    rows = nsc_array_grow(rows, &v->row_room, v->row_count, sizeof *rows);
    if (rows == NULL)
        return -ENOMEM;
    v->rows = rows;
    rows[v->row_count++] = row;
    *newest = v->row_count;
    return 0;
}

static int pop(struct verify *v, const struct nsc_event *e)
{
    struct sums *sums = &v->sums[e->function];
    uint64_t duration = e->ticks - v->start_ticks[--v->depth];

    if (sums->calls++ == 0)
        v->touched[v->touched_count++] = e->function;
    sums->total_ticks += --sums->active == 0 ? duration : 0;
    sums->self_ticks += duration - v->child_ticks[v->depth];
    if (duration > sums->max_ticks)
        sums->max_ticks = duration;
    if (v->depth > 0)
        v->child_ticks[v->depth - 1] += duration;
    if (v->depth < v->min_depth)
        v->min_depth = v->depth;
    if (!v->wants_rows || v->depth >= SUMMARY_DEPTHS)
        return 0;
    return add_row(v, v->start_ticks[v->depth], e->ticks, e->function);
}

static int follow(struct verify *v, const struct nsc_event *events, size_t count)
{
    int error = 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        if (events[i].kind == NSC_EVENT_ENTER)
            error = push(v, events[i].ticks, events[i].function);
        else if (events[i].kind == NSC_EVENT_EXIT || events[i].kind == NSC_EVENT_UNWIND)
            error = pop(v, &events[i]);
        else if (events[i].kind == NSC_EVENT_LATE_EXIT)
            v->calls++;
        else
            v->lost += events[i].value;
    }
    return error;
}

/* The opening stack as the head tells it must be the one the events have led to. */
static void check_stack(struct verify *v, const struct nsc_chunk *chunk,
                        const struct nsc_chunk_head *head)
{
    for (uint32_t i = 0; i < head->frame_count; i++) {
        uint32_t at = chunk->common + i;

        if (at < v->depth && head->frames[i].start_ticks == v->start_ticks[at] &&
            head->child_ticks[i] == v->child_ticks[at])
            continue;
        fault(v, chunk->offset, "opening stack of chunk %llu of thread %u is wrong at depth %u",
              (unsigned long long)chunk->sequence, chunk->thread, at);
        return;
    }
}

static bool total_matches(const struct nsc_chunk_total *claimed, const struct sums *sums)
{
    if (sums->ids > 1)
        return claimed->calls <= sums->calls && claimed->self_ticks <= sums->self_ticks &&
               claimed->max_ticks <= sums->max_ticks;
    return claimed->calls == sums->calls && claimed->total_ticks == sums->total_ticks &&
           claimed->self_ticks == sums->self_ticks && claimed->max_ticks == sums->max_ticks;
}

static bool totals_match(struct verify *v, const struct nsc_chunk_head *head)
{
    uint64_t left = v->touched_count;

    for (uint32_t i = 0; i < head->total_count; i++) {
        const struct nsc_chunk_total *claimed = &head->totals[i];
        struct sums *sums = &v->sums[v->trace->canonical[claimed->function]];

        if (claimed->calls == 0 || !total_matches(claimed, sums))
            return false;
        sums->calls -= claimed->calls;
        sums->self_ticks -= claimed->self_ticks;
        left -= sums->calls == 0;
    }
    return left == 0;
}

static int by_depth_and_end(const void *a, const void *b)
{
    const struct nsc_chunk_row *left = a, *right = b;

    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    return (left->end_ticks > right->end_ticks) - (left->end_ticks < right->end_ticks);
}

static bool rows_match(struct verify *v, const struct nsc_chunk_head *head)
{
    struct nsc_chunk_row *claimed = NULL;
    bool same = head->row_count == v->row_count;

    if (same && v->row_count > 0) {
        claimed = malloc(v->row_count * sizeof *claimed);
        same = claimed != NULL;
    }
    if (claimed != NULL) {
        memcpy(claimed, head->rows, v->row_count * sizeof *claimed);
        qsort(claimed, v->row_count, sizeof *claimed, by_depth_and_end);
        qsort(v->rows, v->row_count, sizeof *v->rows, by_depth_and_end);
    }
    for (uint32_t i = 0; same && i < v->row_count; i++)
        same = claimed[i].depth == v->rows[i].depth &&
               claimed[i].end_ticks == v->rows[i].end_ticks &&
               claimed[i].duration_ticks == v->rows[i].duration_ticks &&
               v->trace->canonical[claimed[i].function] == v->rows[i].function;
    free(claimed);
    return same;
}

/* A chunk is about to be decoded. */
static void begin_chunk(struct verify *v, const struct nsc_chunk_head *head)
{
    v->wants_rows = head->has_summary;
    v->shift = head->summary_shift;
    v->row_count = 0;
    v->calls = v->lost = 0;
    v->min_depth = v->max_depth = v->depth;
    memset(v->row_of, 0, sizeof v->row_of);
}

static void forget_sums(struct verify *v)
{
    while (v->touched_count > 0) {
        struct sums *sums = &v->sums[v->touched[--v->touched_count]];

        sums->calls = sums->total_ticks = sums->self_ticks = sums->max_ticks = 0;
    }
}

/* A chunk has been decoded: compare and forget its sums. */
static void end_chunk(struct verify *v, const struct nsc_chunk *chunk,
                      const struct nsc_chunk_head *head)
{
    if (chunk->calls != v->calls || chunk->lost != v->lost || chunk->min_depth != v->min_depth ||
        chunk->max_depth != v->max_depth)
        fault(v, chunk->offset, "the head of chunk %llu of thread %u counts other than its events",
              (unsigned long long)chunk->sequence, chunk->thread);
    if (head->has_totals && !totals_match(v, head))
        fault(v, chunk->offset, "totals of chunk %llu of thread %u are not those of its events",
              (unsigned long long)chunk->sequence, chunk->thread);
    if (head->has_summary && !rows_match(v, head))
        fault(v, chunk->offset, "summary of chunk %llu of thread %u is not that of its events",
              (unsigned long long)chunk->sequence, chunk->thread);
    forget_sums(v);
}

/* Read and follow the events of @chunk, at whose start @c stands. */
static int follow_chunk(struct verify *v, struct nsc_cursor *c, const struct nsc_chunk *chunk,
                        struct nsc_diag *diag)
{
    const struct nsc_event *events;
    size_t count;

    do {
        int more = nsc_cursor_next(c, &events, &count, diag);

        if (more < 0)
            return more;
        if (more == 0 || nsc_cursor_chunk(c) != chunk)
            return nsc_diag_set(diag, chunk->offset, EBADMSG, "chunk has no events");
        if (follow(v, events, count) != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    } while (!nsc_cursor_at_chunk_end(c));
    return 0;
}

/* Check one chunk after the other; @c stands at the start of the thread. */
static int check_events(struct verify *v, struct nsc_cursor *c, uint32_t thread,
                        struct nsc_diag *diag)
{
    const struct nsc_chunk *chunks;
    const struct nsc_event *events;
    struct nsc_chunk_head head;
    uint32_t chunk_count;
    size_t count;

    chunks = nsc_trace_chunks(v->trace, thread, &chunk_count);
    for (uint32_t i = 0; i < chunk_count && !enough(v); i++) {
        int error = nsc_trace_chunk_head(v->trace, &chunks[i], &head, diag);

        if (error != 0)
            return error;
        check_stack(v, &chunks[i], &head);
        begin_chunk(v, &head);
        error = follow_chunk(v, c, &chunks[i], diag);
        if (error == 0) /* again: the cursor has used the trace's buffers */
            error = nsc_trace_chunk_head(v->trace, &chunks[i], &head, diag);
        if (error != 0)
            return error;
        end_chunk(v, &chunks[i], &head);
    }
    return enough(v) ? 0 : nsc_cursor_next(c, &events, &count, diag); /* finds calls left open */
}

static int check_thread(struct verify *v, uint32_t id)
{
    const struct nsc_thread *thread = nsc_trace_thread(v->trace, id);
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_cursor *c;
    uint64_t events = 0;
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(v->trace, id, &count);
    int error = nsc_cursor_open(v->trace, id, 0, &c, &diag);

    if (error == 0) {
        v->depth = 0;
        error = check_events(v, c, id, &diag);
        nsc_cursor_close(c);
    }
    forget_sums(v);
    if (error != 0) /* calls are still open */
        for (uint32_t i = 0; i < v->trace->functions.count; i++)
            v->sums[i].active = 0;
    if (error != 0) {
        pass_on(v, &diag);
        return error == -EBADMSG || error == -EPROTO ? 0 : error;
    }
    for (uint32_t i = 0; i < count; i++)
        events += chunks[i].events;
    if (events != thread->recorded)
        fault(v, NSC_DIAG_NO_OFFSET, "thread %u: its table entry says %llu events, there are %llu",
              id, (unsigned long long)thread->recorded, (unsigned long long)events);
    return 0;
}

/* Each note is decoded, which checks its block; its texts and values can be anything. */
static int check_notes(struct verify *v, const struct nsc_entry_notes *of)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_note note;
    struct nsc_note_cursor *n;
    int more =
        nsc_note_cursor_open(v->trace, (enum nsc_note_kind)of->kind, (uint32_t)(of->owner >> 1),
                             (of->owner & NSC_FORMAT_OWNER_PROCESS) != 0, 0, &n, &diag);

    if (more != 0)
        return more;
    do
        more = nsc_note_cursor_next(n, &note, &diag);
    while (more == 1);
    nsc_note_cursor_close(n);
    if (more != 0)
        pass_on(v, &diag);
    return more == -EBADMSG || more == -EPROTO ? 0 : more;
}

static int check_all_notes(struct verify *v)
{
    const struct nsc_entry_notes *blocks = v->trace->note_blocks;
    int error = 0;

    for (uint32_t i = 0; i < v->trace->note_count && error == 0 && !enough(v); i++)
        if (i == 0 || blocks[i].kind != blocks[i - 1].kind ||
            blocks[i].owner != blocks[i - 1].owner)
            error = check_notes(v, &blocks[i]);
    return error;
}

static int check_content(struct verify *v, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(v->trace);
    int error = 0;

    v->sums = calloc((size_t)info->function_count + 1, sizeof *v->sums);
    v->touched = calloc((size_t)info->function_count + 1, sizeof *v->touched);
    if (v->sums == NULL || v->touched == NULL)
        error = -ENOMEM;
    for (uint32_t i = 0; error == 0 && i < info->function_count; i++)
        v->sums[v->trace->canonical[i]].ids++;
    for (uint32_t i = 0; i < info->thread_count && error == 0 && !enough(v); i++)
        error = check_thread(v, i);
    if (error == 0)
        error = check_all_notes(v);
    free(v->sums);
    free(v->touched);
    free(v->rows);
    free(v->start_ticks);
    free(v->child_ticks);
    return error == 0 ? 0
                      : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                                     "cannot check the content: %s", strerror(-error));
}

int nsc_trace_verify(const char *path, void (*problem)(void *ctx, const struct nsc_diag *d),
                     void *ctx, struct nsc_diag *diag)
{
    struct verify v = {.problem = problem, .ctx = ctx};
    struct nsc_diag opening = {.offset = NSC_DIAG_NO_OFFSET};
    struct stat st;
    int error = nsc_trace_open(path, 0, &v.trace, &opening), fd, before;

    if (error != 0 && error != -EBADMSG && error != -EINPROGRESS) {
        if (diag != NULL)
            *diag = opening;
        return error;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                             strerror(errno));
    else
        error = check_blocks(
            &v, fd, (uint64_t)st.st_size - (v.trace == NULL ? 0 : NSC_FORMAT_FOOTER_BYTES));
    if (fd >= 0)
        close(fd);
    before = v.faults;
    if (error == 0 && v.trace == NULL)
        pass_on(&v, &opening);
    else if (error == 0 && before == 0) /* else its events cannot all be read */
        error = check_content(&v, diag);
    nsc_trace_close(v.trace);
    return error != 0 ? error : v.faults;
}
