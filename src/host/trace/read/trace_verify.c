/*
 * trace_verify.c - see nsc_trace_verify() in reader.h. Reads every block, decodes every chunk, and
 * recomputes from the events what the heads and nodes say about them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/read/reader_state.h"
#include "trace/read/recount.h"
#include "util/array.h"

/* An open call of the thread being checked. */
struct open_call {
    uint64_t start_ticks, child_ticks;
    uint32_t function;
};

/* An index node whose chunks are being read. */
struct node_check {
    const struct nsc_entry_level *node; /* NULL: no node is open at this level */
    struct nsc_recount account;
    uint64_t events, calls, lost;
    uint32_t min_depth, max_depth;
};

struct verify {
    void (*problem)(void *ctx, const struct nsc_diag *d);
    void *ctx;
    int faults;
    struct nsc_trace *trace;
    /* By canonical function: */
    uint32_t *active; /* open calls of the thread being checked */
    bool *several;    /* the function has aliases */
    struct open_call *stack;
    uint32_t depth, room;
    /* Of the chunk being checked: */
    uint64_t calls, lost;
    uint32_t min_depth, max_depth;
    struct nsc_recount account;
    /* By level, NSC_FORMAT_LEVELS_MAX + 1 of them. */
    struct node_check *nodes;
    uint32_t next_node; /* index of the thread's first node */
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

/* Check every block's header and payload, from the file header to @end. */
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
    struct open_call *stack = nsc_array_grow(v->stack, &v->room, v->depth, sizeof *stack);

    if (stack == NULL)
        return -ENOMEM;
    v->stack = stack;
    v->active[function]++;
    stack[v->depth++] = (struct open_call){.start_ticks = ticks, .function = function};
    v->calls++;
    if (v->depth > v->max_depth)
        v->max_depth = v->depth;
    return 0;
}

static int pop(struct verify *v, const struct nsc_event *e)
{
    const struct open_call *open = &v->stack[--v->depth];
    uint64_t duration = e->ticks - open->start_ticks;
    struct nsc_recount_call call = {.start_ticks = open->start_ticks,
                                    .end_ticks = e->ticks,
                                    .self_ticks = duration - open->child_ticks,
                                    .function = e->function,
                                    .depth = v->depth,
                                    .outermost = --v->active[e->function] == 0,
                                    .unwound = e->kind == NSC_EVENT_UNWIND};
    int error = nsc_recount_add_call(&v->account, &call);

    if (v->depth > 0)
        v->stack[v->depth - 1].child_ticks += duration;
    if (v->depth < v->min_depth)
        v->min_depth = v->depth;
    if (error == 0)
        error = nsc_recount_add_row(&v->account, &call);
    for (uint32_t i = 1; i <= v->trace->level_max && error == 0; i++)
        if (v->nodes[i].node != NULL)
            error = nsc_recount_add_row(&v->nodes[i].account, &call);
    return error;
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
            v->lost += nsc_model_gap_lost(events[i].value);
    }
    return error;
}

/* Check that the opening stack in the head equals the stack after the preceding events. */
static void check_stack(struct verify *v, const struct nsc_chunk *chunk,
                        const struct nsc_chunk_head *head)
{
    for (uint32_t i = 0; i < head->frame_count; i++) {
        uint32_t at = chunk->common + i;

        if (at < v->depth && head->frames[i].start_ticks == v->stack[at].start_ticks &&
            nsc_trace_canonical(v->trace, head->frames[i].function) == v->stack[at].function &&
            head->child_ticks[i] == v->stack[at].child_ticks)
            continue;
        fault(v, chunk->offset, "opening stack of chunk %llu of thread %u is wrong at depth %u",
              (unsigned long long)chunk->sequence, chunk->thread, at);
        return;
    }
}

/* ---- Nodes above chunks ---------------------------------------------------------------------- */

/* Before a chunk is read: open the nodes that begin with it. */
static int begin_nodes(struct verify *v, uint32_t thread, uint32_t chunk, struct nsc_diag *diag)
{
    const struct nsc_entry_level *levels = v->trace->levels;

    for (uint32_t i = v->next_node; i < v->trace->level_count && levels[i].thread == thread; i++) {
        const struct nsc_entry_level *n = &levels[i];
        struct node_check *check = &v->nodes[n->level];
        struct nsc_chunk_head head = {0};
        int error;

        if (n->first_chunk != chunk)
            continue;
        error = nsc_level_read(v->trace, n, &v->trace->sections, &(struct nsc_entry_level){0},
                               &head, diag);
        if (error != 0)
            return error;
        check->node = n;
        check->events = check->calls = check->lost = 0;
        check->min_depth = check->max_depth = v->depth;
        nsc_recount_begin(&check->account, &head);
    }
    return 0;
}

static int end_node(struct verify *v, struct node_check *check, const struct nsc_chunk *first,
                    struct nsc_diag *diag)
{
    const struct nsc_entry_level *node = check->node;
    const struct nsc_chunk *last = first + node->chunks - 1;
    struct nsc_entry_level claimed = {0};
    struct nsc_chunk_head head = {0};
    const char *wrong;
    int error = nsc_level_read(v->trace, node, &v->trace->sections, &claimed, &head, diag);

    check->node = NULL;
    if (error != 0)
        return error;
    wrong = nsc_recount_find_fault(&check->account, v->trace, &head, v->several);
    if (claimed.first_ticks != first->first_ticks || claimed.last_ticks != last->last_ticks ||
        claimed.events != check->events || claimed.calls != check->calls ||
        claimed.lost != check->lost || claimed.min_depth != check->min_depth ||
        claimed.max_depth != check->max_depth)
        wrong = "counts";
    if (wrong != NULL)
        fault(v, node->offset, "%s of a node of level %u of thread %u are not those of its chunks",
              wrong, node->level, node->thread);
    return 0;
}

/* After a chunk has been read: add it to the nodes above it, and check those that end with it. */
static int end_nodes(struct verify *v, const struct nsc_chunk *chunks, uint32_t index,
                     struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk = &chunks[index];
    int error = 0;

    for (uint32_t i = 1; i <= v->trace->level_max && error == 0; i++) {
        struct node_check *check = &v->nodes[i];

        if (check->node == NULL)
            continue;
        if (nsc_recount_merge(&check->account, &v->account) != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        check->events += chunk->events;
        check->calls += chunk->calls;
        check->lost += chunk->lost;
        if (chunk->min_depth < check->min_depth)
            check->min_depth = chunk->min_depth;
        if (chunk->max_depth > check->max_depth)
            check->max_depth = chunk->max_depth;
        if (check->node->first_chunk + check->node->chunks == index + 1)
            error = end_node(v, check, &chunks[check->node->first_chunk], diag);
    }
    return error;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Reset the account before a chunk is decoded. */
static void begin_chunk(struct verify *v, const struct nsc_chunk_head *head)
{
    nsc_recount_begin(&v->account, head);
    v->calls = v->lost = 0;
    v->min_depth = v->max_depth = v->depth;
}

/* After a chunk has been decoded: compare the account with its head. */
static void end_chunk(struct verify *v, const struct nsc_chunk *chunk,
                      const struct nsc_chunk_head *head)
{
    const char *wrong;

    if (chunk->calls != v->calls || chunk->lost != v->lost || chunk->min_depth != v->min_depth ||
        chunk->max_depth != v->max_depth)
        fault(v, chunk->offset, "the head of chunk %llu of thread %u counts other than its events",
              (unsigned long long)chunk->sequence, chunk->thread);
    nsc_recount_settle(&v->account);
    wrong = nsc_recount_find_fault(&v->account, v->trace, head, v->several);
    if (wrong != NULL)
        fault(v, chunk->offset, "%s of chunk %llu of thread %u are not those of its events", wrong,
              (unsigned long long)chunk->sequence, chunk->thread);
}

/* Decode and check the events of @chunk; @c must be at its start. */
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

/* Check all chunks of a thread; @c must be at the thread's start. */
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
        error = begin_nodes(v, thread, i, diag);
        if (error == 0)
            error = follow_chunk(v, c, &chunks[i], diag);
        if (error == 0) /* read the head again: the cursor has used the trace's buffers */
            error = nsc_trace_chunk_head(v->trace, &chunks[i], &head, diag);
        if (error != 0)
            return error;
        end_chunk(v, &chunks[i], &head);
        error = end_nodes(v, chunks, i, diag);
        if (error != 0)
            return error;
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

    while (v->next_node < v->trace->level_count && v->trace->levels[v->next_node].thread < id)
        v->next_node++;
    if (error == 0) {
        v->depth = 0;
        error = check_events(v, c, id, &diag);
        nsc_cursor_close(c);
    }
    for (uint32_t i = 1; i <= v->trace->level_max; i++)
        v->nodes[i].node = NULL;
    if (error != 0) /* calls are left open */
        memset(v->active, 0, v->trace->functions.count * sizeof *v->active);
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

/* Decode each note, which checks its block. Texts and values are arbitrary. */
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

static void free_checks(struct verify *v)
{
    free(v->active);
    free(v->several);
    free(v->stack);
    nsc_recount_free(&v->account);
    for (uint32_t i = 0; v->nodes != NULL && i <= v->trace->level_max; i++)
        nsc_recount_free(&v->nodes[i].account);
    free(v->nodes);
}

static int make_checks(struct verify *v)
{
    uint32_t functions = v->trace->functions.count;

    v->active = calloc((size_t)functions + 1, sizeof *v->active);
    v->several = calloc((size_t)functions + 1, sizeof *v->several);
    v->nodes = calloc((size_t)v->trace->level_max + 1, sizeof *v->nodes);
    if (v->active == NULL || v->several == NULL || v->nodes == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < functions; i++)
        v->several[v->trace->canonical[i]] |= v->trace->canonical[i] != i;
    return 0;
}

static int check_content(struct verify *v, struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(v->trace);
    int error = make_checks(v);

    for (uint32_t i = 0; i < info->thread_count && error == 0 && !enough(v); i++)
        error = check_thread(v, i);
    if (error == 0)
        error = check_all_notes(v);
    free_checks(v);
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
