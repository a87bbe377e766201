/*
 * event_cursor.c - decode the events of one thread, batch by batch. Source: docs/format.md section
 * 5.
 *
 * The cursor maintains the stack of open calls and checks it against each next chunk's head. When
 * chunks are missing (in a recovered file) it bridges the gap with synthetic events. It unwinds
 * calls that are no longer open, adds a LOST event, and enters the calls that the next chunk's
 * opening stack has in addition. Open calls whose heads are missing are "unknown": their exits
 * become LATE EXITs.
 */
#include <errno.h>

#include "trace/read/reader_state.h"
#include "util/array.h"
#include "util/search.h"

#define BATCH_EVENTS 4096
#define PADDING      32 /* zero bytes after the events: the decoder may read past the end */

struct nsc_cursor {
    struct nsc_trace *trace;
    const struct nsc_chunk *chunks;
    uint32_t chunk_count;
    uint32_t next_chunk; /* the one to load when `at` reaches `end` */
    uint32_t thread;
    bool started;
    bool bridged; /* the last batch was the bridge of a gap */
    uint64_t next_sequence;
    /* The chunk being decoded. */
    const uint8_t *at, *end;
    uint64_t last_ticks;
    uint64_t least;    /* delta bias of an ENTER or EXIT that follows an ENTER or EXIT */
    uint64_t untold;   /* bias of the next record if it is ENTER or EXIT: least, or 0 */
    uint64_t decoded;  /* events of the chunk so far, without gaps */
    uint64_t left_out; /* known losses in skipped missing chunks */
    uint64_t earlier;  /* number of following ENTERs whose start is a bound */
    struct nsc_buffer events, packed;
    /* Open calls. */
    struct nsc_chunk_stack stack;
    uint32_t depth;
    uint32_t unknown; /* open calls below all frames; 0 unless the file is recovered */
    /* Synthetic events that bridge a gap. */
    struct nsc_event *bridge;
    uint32_t bridge_count, bridge_room;
    struct nsc_event batch[]; /* BATCH_EVENTS; none if the thread has no chunks */
};

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* Replace the cursor's stack by the opening stack of chunks[@index]. */
static int open_stack(struct nsc_cursor *c, uint32_t index, struct nsc_diag *diag)
{
    uint32_t depth = c->chunks[index].depth;
    uint64_t next;
    int error =
        nsc_head_gather(c->trace, c->chunks, index, &c->stack, false, &c->unknown, &next, diag);

    if (error != 0)
        return error;
    c->depth = depth - c->unknown;
    if (c->unknown > 0 && c->depth > 0)
        memmove(c->stack.frames, c->stack.frames + c->unknown, c->depth * sizeof *c->stack.frames);
    return 0;
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

static int bridge_event(struct nsc_cursor *c, uint32_t kind, uint64_t ticks, uint32_t function,
                        uint32_t depth, uint64_t value)
{
    struct nsc_event *grown =
        nsc_array_grow(c->bridge, &c->bridge_room, c->bridge_count, sizeof *grown);

    if (grown == NULL)
        return -ENOMEM;
    c->bridge = grown;
    grown[c->bridge_count++] = (struct nsc_event){
        .ticks = ticks,
        .function = function,
        .depth = depth,
        .kind = kind,
        .value = value,
    };
    return 0;
}

static int bridge_unwind(struct nsc_cursor *c, uint32_t down_to)
{
    int error = 0;

    while (error == 0 && c->depth > down_to) {
        c->depth--;
        error = bridge_event(c, NSC_EVENT_UNWIND, c->last_ticks, c->stack.frames[c->depth].function,
                             c->depth, 0);
    }
    return error;
}

/* Number of outermost frames that are the same calls before and after a gap. */
static uint32_t same_frames(const struct nsc_frame *a, uint32_t a_depth, const struct nsc_frame *b,
                            uint32_t b_depth)
{
    uint32_t n = 0;

    while (n < a_depth && n < b_depth && a[n].start_ticks == b[n].start_ticks &&
           a[n].function == b[n].function)
        n++;
    return n;
}

/*
 * Load the opening stack of chunks[@index] after a gap. If only one chunk is missing, its opening
 * stack is known nevertheless: it is @before, the stack at the end of the chunk before it.
 */
static int open_stack_after_gap(struct nsc_cursor *c, uint32_t index,
                                const struct nsc_frame *before, uint32_t before_depth,
                                struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk = &c->chunks[index];
    uint32_t untold, depth = chunk->depth;
    uint64_t next;
    int error = nsc_head_gather(c->trace, c->chunks, index, &c->stack, false, &untold, &next, diag);

    if (error != 0)
        return error;
    if (untold > 0 && c->started && c->unknown == 0 && next == c->next_sequence + 1 &&
        before_depth >= untold) {
        if (nsc_chunk_stack_reserve(&c->stack, depth) != 0)
            return no_memory(diag);
        memcpy(c->stack.frames, before, untold * sizeof *before);
        untold = 0;
    }
    c->unknown = untold;
    c->depth = depth - untold;
    if (untold > 0 && c->depth > 0)
        memmove(c->stack.frames, c->stack.frames + untold, c->depth * sizeof *c->stack.frames);
    return 0;
}

static int bridge_enter(struct nsc_cursor *c, uint32_t index)
{
    const struct nsc_frame *frame = &c->stack.frames[index];
    bool earlier = frame->start_ticks < c->last_ticks; /* the call was unknown before the gap */

    return bridge_event(c, NSC_EVENT_ENTER, earlier ? c->last_ticks : frame->start_ticks,
                        frame->function, index, earlier ? NSC_BOUND_START : frame->bound);
}

/* Create the events that lead from the stack before the gap to the opening stack of
 * chunks[@index]. */
static int bridge_gap(struct nsc_cursor *c, uint32_t index, struct nsc_diag *diag)
{
    struct nsc_frame *before = c->stack.frames;
    uint32_t before_depth = c->depth, before_room = c->stack.frame_room, same = 0;
    uint32_t before_unknown = c->unknown;
    int error;

    c->stack.frames = NULL;
    c->stack.frame_room = 0;
    error = open_stack_after_gap(c, index, before, before_depth, diag);
    if (error != 0) {
        free(c->stack.frames);
        c->stack.frames = before;
        c->stack.frame_room = before_room;
        return error;
    }
    if (before_unknown == c->unknown)
        same = same_frames(before, before_depth, c->stack.frames, c->depth);
    for (uint32_t i = before_depth; error == 0 && i-- > same;)
        error = bridge_event(c, NSC_EVENT_UNWIND, c->last_ticks, before[i].function, i, 0);
    if (!c->started && c->depth > 0)
        c->last_ticks = c->stack.frames[0].start_ticks;
    if (error == 0)
        error = bridge_event(c, NSC_EVENT_LOST, c->last_ticks, NSC_NO_ID, same, c->left_out);
    for (uint32_t i = same; error == 0 && i < c->depth; i++)
        error = bridge_enter(c, i);
    c->left_out = 0;
    free(before);
    return error == 0 ? 0 : no_memory(diag);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Read the events block that follows @head. */
static int read_events(struct nsc_cursor *c, const struct nsc_block *head, bool *has_least,
                       struct nsc_diag *diag)
{
    struct nsc_trace *t = c->trace;
    struct nsc_block block;
    int error = nsc_block_header_read(t->fd, t->info.file_bytes, nsc_block_end(head), &block, diag);
    uint8_t *padding;

    if (error == 0 && block.kind != NSC_FORMAT_EVENTS)
        error = nsc_diag_set(diag, block.offset, EBADMSG, "expected an event chunk, found %s",
                             nsc_block_kind_name(block.kind));
    if (error == 0)
        error = nsc_block_payload_read(t->fd, &block, &c->events, &c->packed, diag);
    if (error != 0)
        return error;
    padding = nsc_buffer_reserve(&c->events, PADDING);
    if (padding == NULL)
        return no_memory(diag);
    memset(padding, 0, PADDING);
    *has_least = (block.flags & NSC_FORMAT_BLOCK_LEAST) != 0;
    return 0;
}

/* Load the events of chunks[@index]; c's stack must be its opening stack. */
static int load_chunk(struct nsc_cursor *c, uint32_t index, struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk = &c->chunks[index];
    struct nsc_head_fields fields;
    struct nsc_block head;
    const struct nsc_trace *t = c->trace;
    bool has_least = false;
    int error;

    if (t->is_gone != NULL && t->is_gone(t->watcher))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ECANCELED, "nobody waits for it any more");
    error = nsc_head_read(c->trace, chunk, &head, &fields, diag);
    if (error == 0)
        error = read_events(c, &head, &has_least, diag);
    if (error != 0)
        return error;
    c->at = c->events.data;
    c->end = c->at + c->events.used;
    c->last_ticks = chunk->first_ticks;
    c->decoded = c->earlier = c->least = c->untold = 0;
    if (has_least) {
        c->at = nsc_leb_get(c->at, c->end, &c->least);
        if (c->at == NULL || c->least > UINT64_MAX >> 2) {
            c->at = c->end = NULL;
            return nsc_diag_set(diag, chunk->offset, EBADMSG, "events of thread %u are malformed",
                                c->thread);
        }
    }
    c->next_chunk = index + 1;
    c->next_sequence = chunk->sequence + 1;
    c->started = true;
    return 0;
}

/* At the end of the thread: unwind calls that are still open in a recovered file. */
static int end_thread(struct nsc_cursor *c, struct nsc_diag *diag)
{
    int error;

    c->bridge_count = 0;
    if (c->depth > 0 && !c->trace->info.recovered)
        return nsc_diag_set(diag, c->chunks[c->chunk_count - 1].offset, EBADMSG,
                            "thread %u ends with %u open calls", c->thread, c->depth);
    error = bridge_unwind(c, 0);
    if (error == 0 && c->left_out > 0)
        error = bridge_event(c, NSC_EVENT_LOST, c->last_ticks, NSC_NO_ID, 0, c->left_out);
    c->left_out = 0;
    return error == 0 ? c->bridge_count > 0 : no_memory(diag);
}

/* Go to the next chunk. Returns 1 if there are events to decode or a bridge, 0 at the end of the
 * thread, or -errno. */
static int next_chunk(struct nsc_cursor *c, struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk;
    int error;

    while (c->next_chunk < c->chunk_count && c->chunks[c->next_chunk].missing) {
        c->left_out += c->chunks[c->next_chunk].events + c->chunks[c->next_chunk].lost;
        c->next_chunk++;
    }
    if (c->next_chunk == c->chunk_count)
        return end_thread(c, diag);
    chunk = &c->chunks[c->next_chunk];
    c->bridge_count = 0;
    if (chunk->sequence != c->next_sequence) {
        error = bridge_gap(c, c->next_chunk, diag);
        if (error != 0)
            return error;
    } else if (chunk->depth != c->depth + c->unknown) {
        return nsc_diag_set(diag, chunk->offset, EBADMSG,
                            "chunk %llu of thread %u opens with %u calls, the one before left %u",
                            (unsigned long long)chunk->sequence, c->thread, chunk->depth,
                            c->depth + c->unknown);
    }
    error = load_chunk(c, c->next_chunk, diag);
    return error == 0 ? 1 : error;
}

/* At the end of a chunk: check the decoded events against its head. */
static int check_chunk_end(const struct nsc_cursor *c, struct nsc_diag *diag)
{
    const struct nsc_chunk *chunk = &c->chunks[c->next_chunk - 1];

    if (c->decoded == chunk->events && c->last_ticks == chunk->last_ticks)
        return 0;
    return nsc_diag_set(diag, chunk->offset, EBADMSG,
                        "chunk %llu of thread %u holds other events than its head says",
                        (unsigned long long)chunk->sequence, c->thread);
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* Decode a LEB128 number, without a branch between one and two bytes. At least NSC_LEB_MAX bytes
 * must be readable. Returns NULL if the number exceeds 64 bits. */
static inline const uint8_t *get_leb(const uint8_t *at, uint64_t *v)
{
    uint32_t low = at[0], two = low >> 7, high = at[1];

    if (__builtin_expect(two & (high >> 7), 0))
        return nsc_leb_get(at, at + NSC_LEB_MAX, v);
    *v = (low & 0x7f) | (high & (0u - two)) << 7;
    return at + 1 + two;
}

/* Decode an OTHER record; @at is after its first number. @known: whether it is an event. Returns
 * the end of the record, or NULL if it is malformed. */
static const uint8_t *decode_other(struct nsc_cursor *c, const uint8_t *at, struct nsc_event *e,
                                   bool *known)
{
    uint64_t what, value;

    at = get_leb(at, &what);
    if (at != NULL)
        at = get_leb(at, &value);
    if (at == NULL || at > c->end)
        return NULL;
    *known = true;
    if (what == NSC_FORMAT_OTHER_LATE_EXIT) {
        if (value >= c->trace->functions.count && !nsc_trace_stand_in(c->trace, &value))
            return NULL;
        e->kind = NSC_EVENT_LATE_EXIT;
        e->function = c->trace->canonical[value];
        e->value = nsc_trace_end_bound(c->trace, e->function);
        c->decoded++;
    } else if (what == NSC_FORMAT_OTHER_LOST) {
        if (value >= NSC_GAP_LEFT_OUT)
            return NULL;
        e->kind = NSC_EVENT_LOST;
        e->value = value;
    } else if (what == NSC_FORMAT_OTHER_LEFT_OUT) {
        if (value >= NSC_GAP_LEFT_OUT)
            return NULL;
        e->kind = NSC_EVENT_LOST;
        e->value = value | NSC_GAP_LEFT_OUT;
    } else {
        *known = false;
        if (what == NSC_FORMAT_OTHER_EARLIER)
            c->earlier = value;
        if ((what & 1) != 0)
            at = value > (uint64_t)(c->end - at) ? NULL : at + value;
    }
    return at;
}

/* Push the call that @e enters at @depth. Returns false if out of memory. */
static inline bool push_frame(struct nsc_cursor *c, uint32_t depth, struct nsc_event *e)
{
    if (depth == c->stack.frame_room && nsc_chunk_stack_reserve(&c->stack, depth + 1) != 0)
        return false;
    if (__builtin_expect(c->earlier > 0, 0)) {
        c->earlier--;
        e->value = NSC_BOUND_START;
    }
    c->stack.frames[depth] = (struct nsc_frame){
        .start_ticks = e->ticks, .function = e->function, .bound = (uint32_t)e->value};
    return true;
}

/* All known calls have ended, so @e ends an unknown one: turn its EXIT into a LATE EXIT. If @e is
 * an UNWIND afterwards, the caller drops it. Returns false if there is no unknown call. */
static __attribute__((noinline)) bool end_unknown(struct nsc_cursor *c, struct nsc_event *e)
{
    uint64_t function = NSC_NO_ID;

    if (c->unknown == 0)
        return false;
    c->unknown--;
    if (e->kind == NSC_EVENT_EXIT)
        e->kind = nsc_trace_stand_in(c->trace, &function) ? NSC_EVENT_LATE_EXIT : NSC_EVENT_UNWIND;
    e->function = (uint32_t)function;
    if (e->kind == NSC_EVENT_LATE_EXIT)
        e->value = nsc_trace_end_bound(c->trace, e->function);
    return true;
}

/* Time of the record that begins with @v after a record at @ticks. A result below @ticks means
 * overflow. @untold: bias of an ENTER or EXIT here; receives that of the next record. */
static inline uint64_t time_of(uint64_t v, uint64_t ticks, uint64_t *untold, uint64_t least)
{
    uint64_t here = *untold;

    if (__builtin_expect((v & 2) != 0, 0)) { /* UNWIND, OTHER */
        *untold = 0;
        return ticks + (v >> 2);
    }
    *untold = least;
    return ticks + here + (v >> 2);
}

/* NSC_BOUND_END if @e is an EXIT whose time was not read from the timer, else 0. */
static inline uint64_t exit_bound(const uint8_t *untimed, const struct nsc_event *e)
{
    return untimed != NULL && e->kind == NSC_EVENT_EXIT ? untimed[e->function] : 0;
}

/* Fill the batch from the chunk. Returns the number of events, or -errno. */
static int decode(struct nsc_cursor *c)
{
    const uint32_t *canonical = c->trace->canonical;
    const uint8_t *untimed = c->trace->untimed;
    uint32_t functions = c->trace->functions.count, depth = c->depth;
    const uint8_t *at = c->at, *end = c->end;
    uint64_t ticks = c->last_ticks, decoded = 0, untold = c->untold;
    const uint64_t least = c->least;
    struct nsc_event *e = c->batch;

    while (at < end && e < c->batch + BATCH_EVENTS) {
        uint64_t v, function, next;

        at = get_leb(at, &v);
        if (at == NULL)
            return -EBADMSG;
        next = time_of(v, ticks, &untold, least);
        if (next < ticks)
            return -EBADMSG;
        ticks = next;
        e->ticks = ticks;
        e->value = 0;
        e->depth = depth;
        if ((v & 3) == NSC_FORMAT_ENTER) {
            at = get_leb(at, &function);
            if (at == NULL || (function >= functions && !nsc_trace_stand_in(c->trace, &function)))
                return -EBADMSG;
            e->kind = NSC_EVENT_ENTER;
            e->function = canonical[function];
            if (!push_frame(c, depth++, e))
                return -ENOMEM;
            decoded++;
        } else if ((v & 3) != NSC_FORMAT_OTHER) {
            e->kind = (v & 3) == NSC_FORMAT_EXIT ? NSC_EVENT_EXIT : NSC_EVENT_UNWIND;
            decoded++;
            if (depth > 0) {
                depth--;
                e->function = c->stack.frames[depth].function;
                e->depth = depth;
                e->value = exit_bound(untimed, e);
            } else if (end_unknown(c, e)) {
                e -= e->kind == NSC_EVENT_UNWIND;
            } else {
                return -EBADMSG;
            }
        } else {
            bool known;

            e->function = NSC_NO_ID;
            at = decode_other(c, at, e, &known);
            if (at == NULL)
                return -EBADMSG;
            e -= !known;
        }
        e++;
    }
    if (at > end)
        return -EBADMSG;
    c->at = at;
    c->depth = depth;
    c->last_ticks = ticks;
    c->untold = untold;
    c->decoded += decoded;
    return (int)(e - c->batch);
}

/* ---- Interface ------------------------------------------------------------------------------- */

/* Find the last chunk that begins before @ticks, or the first chunk: adjacent chunks may share a
 * tick. */
static uint32_t find_chunk(const struct nsc_chunk *chunks, uint32_t count, uint64_t ticks)
{
    uint32_t next = NSC_PARTITION_POINT(i, count, chunks[i].first_ticks < ticks);

    return next > 0 ? next - 1 : 0;
}

/* Create a cursor that begins with the thread's chunk @index. */
static int open_at(struct nsc_trace *t, uint32_t thread, uint32_t index, struct nsc_cursor **out,
                   struct nsc_diag *diag)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);
    struct nsc_cursor *c = malloc(sizeof *c + (count > 0 ? BATCH_EVENTS * sizeof *c->batch : 0));
    int error = 0;

    if (c == NULL)
        return no_memory(diag);
    memset(c, 0, sizeof *c);
    c->trace = t;
    c->thread = thread;
    c->chunks = chunks;
    c->chunk_count = count;
    c->next_chunk = index;
    if (index > 0) {
        error = open_stack(c, index, diag);
        c->next_sequence = c->chunks[index].sequence;
        c->started = true;
    }
    if (error != 0) {
        nsc_cursor_close(c);
        return error;
    }
    *out = c;
    return 0;
}

int nsc_cursor_open(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks,
                    struct nsc_cursor **out, struct nsc_diag *diag)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, thread, &count);

    return open_at(t, thread, count > 0 ? find_chunk(chunks, count, from_ticks) : 0, out, diag);
}

int nsc_cursor_open_chunk(struct nsc_trace *t, const struct nsc_chunk *chunk,
                          struct nsc_cursor **out, struct nsc_diag *diag)
{
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, chunk->thread, &count);

    return open_at(t, chunk->thread, (uint32_t)(chunk - chunks), out, diag);
}

int nsc_cursor_stack(struct nsc_cursor *c, const struct nsc_frame **frames, uint32_t *depth)
{
    *frames = c->stack.frames;
    *depth = c->depth;
    return 0;
}

int nsc_cursor_next(struct nsc_cursor *c, const struct nsc_event **events, size_t *count,
                    struct nsc_diag *diag)
{
    int n = 0;

    while (n == 0) {
        if (c->at == c->end) {
            n = next_chunk(c, diag);
            if (n <= 0)
                return n;
            c->bridged = c->bridge_count > 0;
            if (c->bridged) {
                *events = c->bridge;
                *count = c->bridge_count;
                c->bridge_count = 0;
                return 1;
            }
        }
        c->bridged = false;
        n = decode(c);
        if (n >= 0 && c->at == c->end && check_chunk_end(c, diag) != 0)
            return -EBADMSG;
    }
    if (n < 0)
        return nsc_diag_set(diag, c->chunks[c->next_chunk - 1].offset, n,
                            n == -ENOMEM ? "out of memory" : "events of thread %u are malformed",
                            c->thread);
    *events = c->batch;
    *count = (size_t)n;
    return 1;
}

const struct nsc_chunk *nsc_cursor_chunk(const struct nsc_cursor *c)
{
    return c->at == NULL || c->bridged ? NULL : &c->chunks[c->next_chunk - 1];
}

bool nsc_cursor_at_chunk_end(const struct nsc_cursor *c)
{
    return !c->bridged && c->at == c->end;
}

void nsc_cursor_close(struct nsc_cursor *c)
{
    if (c == NULL)
        return;
    nsc_buffer_free(&c->events);
    nsc_buffer_free(&c->packed);
    free(c->stack.frames);
    free(c->bridge);
    free(c);
}
