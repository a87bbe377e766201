/*
 * report_index.c - count chunks from the index instead of reading their events. See report_state.h,
 * trace/read/levels.h.
 *
 * The index sums up the calls that ended in a chunk, with their whole durations. A skip converts
 * these sums to what counting the events would have given. For calls that were open at its start,
 * the time before the window is subtracted. Calls that are open at its end are pushed on the stack.
 * A chunk must still be read if it contains the end of a call without a recorded entry. The same
 * applies if a later such call depends on state from the chunk.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/gaps.h"
#include "analyze/functions/report_state.h"
#include "trace/read/levels.h"

#define LARGE_EVENTS (1u << 20)

/* ---- Which chunks may be skipped ------------------------------------------------------------- */

/*
 * If a function has several ids, the index counts the recursion of each id separately. This matters
 * if calls were recorded under more than one of them.
 */
static int find_aliases(struct nsc_report_counter *c)
{
    uint32_t *called = calloc((size_t)c->function_count + 1, sizeof(*called)); /* number of ids with
                                                                                * calls */
    uint64_t calls;

    c->has_aliases = calloc((size_t)c->function_count + 1, sizeof(*c->has_aliases));
    for (uint32_t i = 0; called && c->has_aliases && i < c->function_count; i++)
        if (!nsc_trace_function_calls(c->trace, i, &calls) || calls > 0)
            called[nsc_trace_canonical(c->trace, i)]++;
    for (uint32_t i = 0; called && c->has_aliases && i < c->function_count; i++)
        c->has_aliases[i] = called[nsc_trace_canonical(c->trace, i)] > 1;
    free(called);
    return called && c->has_aliases ? 0 : -ENOMEM;
}

/* Find the chunks whose events all lie in the window. */
static void find_inside(const struct nsc_report_counter *c, struct nsc_report_index *x)
{
    const struct nsc_selection *s = c->selection;

    nsc_levels_range(c->trace, x->thread, s->from_ticks, s->to_ticks, &x->first, &x->end);
    while (x->first < x->end && s->from_ticks > 0 &&
           x->chunks[x->first].first_ticks <= s->from_ticks)
        x->first++;
    while (x->end > x->first && s->to_ticks < UINT64_MAX &&
           x->chunks[x->end - 1].last_ticks >= s->to_ticks)
        x->end--;
}

int nsc_report_index_decide(struct nsc_report_counter *c, const uint32_t *threads, uint32_t count)
{
    const struct nsc_selection *s = c->selection;
    uint64_t events = 0;

    if (s->index == NSC_SELECTION_INDEX_NEVER || s->hidden || s->cost.inner + s->cost.outer != 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        struct nsc_report_index x = {.thread = threads[i]};

        x.chunks = nsc_trace_chunks(c->trace, x.thread, &x.count);
        find_inside(c, &x);
        for (uint32_t k = x.first; k < x.end; k++)
            events += x.chunks[k].events;
    }
    if (s->index == NSC_SELECTION_INDEX_LARGE && events < LARGE_EVENTS)
        return 0;
    c->use_index = true;
    return find_aliases(c);
}

void nsc_report_index_begin(const struct nsc_report_counter *c, struct nsc_report_index *x,
                            uint32_t thread)
{
    const char *earlier = nsc_trace_meta(c->trace, NSC_META_EARLIER);
    uint32_t last;

    *x = (struct nsc_report_index){.thread = thread};
    if (!c->use_index)
        return;
    x->chunks = nsc_trace_chunks(c->trace, thread, &x->count);
    find_inside(c, x);
    if (x->first == 0 && x->count > 0 &&
        (earlier != NULL || nsc_trace_meta(c->trace, NSC_META_WINDOW) != NULL))
        x->first = 1; /* contains calls whose starts are bounds, which no chunk head states */
    if (earlier != NULL && strcmp(earlier, NSC_EARLIER_ANYWHERE) == 0)
        x->end = x->first;
    for (uint32_t i = 0; i < x->count; i++) /* gaps between chunks: read all of them */
        if (x->chunks[i].missing || x->chunks[i].sequence != i)
            x->end = x->first;
    /* includes the chunk in which the window ends */
    last = x->end < x->count ? x->end + 1 : x->count;
    for (uint32_t i = x->first; i < last; i++)
        if (nsc_reader_may_have_late(x->chunks, x->count, i))
            x->last_late = i + 1;
}

void nsc_report_index_end(struct nsc_report_index *x)
{
    free(x->child_ticks);
}

/* Stack index of the innermost open call whose start is a bound; 0: none. */
static uint32_t find_bound(const struct nsc_report_counter *c)
{
    size_t i = c->depth;

    while (i > 0 && !c->stack[i].bound)
        i--;
    return (uint32_t)i;
}

/*
 * Find the end of a run of chunks that need not be read. If a LATE_EXIT follows, the current epoch
 * must not end within the run; it could end in a gap that no chunk head states.
 */
static uint32_t find_run(const struct nsc_report_counter *c, const struct nsc_report_index *x,
                         uint32_t first)
{
    uint32_t bound = find_bound(c), at;
    bool gaps_hide = nsc_gaps_may_hide(c->trace);

    for (at = first; at < x->end; at++) {
        const struct nsc_chunk *k = &x->chunks[at];

        if (nsc_reader_may_have_late(x->chunks, x->count, at) || k->min_depth < bound)
            break;
        if (at < x->last_late && (gaps_hide || k->lost > 0 || k->min_depth < c->epoch_depth))
            break;
    }
    return at;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* State of a skip. */
struct skip {
    uint32_t first, end; /* chunks */
    uint32_t low;        /* minimum number of open calls */
    uint64_t self_ticks; /* of all calls that ended, as stated by the index */
};

static void add_durations(struct nsc_report_counter *c, struct nsc_dist *dist,
                          const struct nsc_chunk_total *total)
{
    int error = nsc_dist_add(dist, total->max_ticks);

    if (error == 0 && total->calls > 1)
        error = nsc_dist_add(dist, total->min_ticks);
    for (uint32_t i = 0; i < total->count_count && error == 0; i++) {
        uint64_t calls = total->counts[i].calls;

        calls -= i == 0;
        calls -= total->calls > 1 && i + 1 == total->count_count;
        if (calls > 0)
            error = nsc_dist_add_bucket(dist, total->counts[i].bucket, calls);
    }
    if (error != 0)
        c->no_memory = true;
}

static void begin_function(const struct nsc_report_counter *c, struct nsc_report_tally *f)
{
    if (f->active != 0 || f->epoch == c->epoch)
        return;
    f->epoch = c->epoch;
    f->epoch_base = f->total_ticks;
}

static void add_total(struct nsc_report_counter *c, const struct nsc_chunk_total *total)
{
    struct nsc_report_tally *f = &c->tallies[nsc_trace_canonical(c->trace, total->function)];
    struct nsc_dist *dist = f->dist ? f->dist : nsc_report_make_dist(c, f);

    if (!dist)
        return;
    begin_function(c, f);
    f->total_ticks += total->total_ticks;
    f->self_ticks += total->self_ticks;
    f->bounds +=
        nsc_trace_end_bound(c->trace, total->function) != 0 ? total->calls : total->unwinds;
    if (f->process != c->process)
        f->process = NSC_NO_ID;
    add_durations(c, dist, total);
}

/* Whether the index may have a wrong total for one of the functions. */
static bool is_ambiguous(const struct nsc_report_counter *c, const struct nsc_levels_piece *piece)
{
    for (uint32_t i = 0; i < piece->total_count; i++)
        if (c->has_aliases[piece->totals[i].function])
            return true;
    return false;
}

/* Add up chunks from @s->first to @end at most; sets s->end to the end of what was added. */
static int add_pieces(struct nsc_report_counter *c, const struct nsc_report_index *x,
                      struct skip *s, uint32_t end, struct nsc_diag *diag)
{
    struct nsc_levels_piece piece;
    struct nsc_levels *walk;
    int more = nsc_levels_open(c->trace, x->thread, s->first, end, NSC_LEVELS_SUMS, 0, &walk, diag);

    if (more != 0)
        return more;
    while ((more = nsc_levels_next(walk, &piece, diag)) > 0 && piece.known &&
           !is_ambiguous(c, &piece) && !c->no_memory) {
        for (uint32_t i = 0; i < piece.total_count; i++) {
            s->self_ticks += piece.totals[i].self_ticks;
            add_total(c, &piece.totals[i]);
        }
        for (uint32_t i = 0; i < piece.chunk_count; i++)
            if (x->chunks[s->end + i].min_depth < s->low)
                s->low = x->chunks[s->end + i].min_depth;
        s->end += piece.chunk_count;
    }
    nsc_levels_close(walk);
    return more < 0 ? more : 0;
}

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* The part of an open call that lies before the window; 0 if there is no call at that depth. */
static uint64_t before_window(const struct nsc_report_counter *c, size_t depth)
{
    uint64_t from = c->selection->from_ticks;

    if (depth > c->depth || c->stack[depth].start_ticks >= from)
        return 0;
    return from - c->stack[depth].start_ticks;
}

/*
 * Correct the sums for the calls from stack[s->low + 1] on, which ended in the skip. The index has
 * their whole durations and the full time of their callees. Here only the part inside the window
 * counts, and callee time that a LATE_EXIT has changed.
 */
static void end_calls(struct nsc_report_counter *c, const struct nsc_report_index *x,
                      const struct skip *s)
{
    for (size_t i = c->depth; i > s->low; i--) {
        const struct nsc_report_call *call = &c->stack[i];
        struct nsc_report_tally *f = &c->tallies[call->function];
        uint64_t before = before_window(c, i);

        f->self_ticks +=
            x->child_ticks[i - 1] - call->child_ticks - before + before_window(c, i + 1);
        if (--f->active == 0)
            f->total_ticks -= before;
    }
}

/* Add to the callee time of stack[s->low], the innermost call that stayed open during the whole
 * skip. */
static void add_child_ticks(struct nsc_report_counter *c, const struct nsc_report_index *x,
                            const struct skip *s, const struct nsc_levels_stack *after)
{
    struct nsc_report_call *parent = &c->stack[s->low];

    parent->child_ticks -= before_window(c, s->low + 1);
    if (s->low > 0) {
        parent->child_ticks += after->child_ticks[s->low - 1] - x->child_ticks[s->low - 1];
        return;
    }
    /* The thread itself: all callee time that the self times of its calls do not account for. */
    parent->child_ticks += s->self_ticks;
    for (size_t i = 0; i < c->depth; i++)
        parent->child_ticks += x->child_ticks[i];
    for (uint32_t i = 0; i < after->depth; i++)
        parent->child_ticks -= after->child_ticks[i];
}

/* Push the calls that were entered in the skip and are open at its end. */
static void begin_calls(struct nsc_report_counter *c, const struct skip *s,
                        const struct nsc_levels_stack *after)
{
    c->depth = s->low;
    for (uint32_t i = s->low; i < after->depth; i++) {
        const struct nsc_frame *frame = &after->frames[i];
        struct nsc_report_tally *f = &c->tallies[frame->function];

        if (c->depth + 1 >= c->depth_max && !nsc_report_grow_stack(c))
            return;
        c->stack[++c->depth] = (struct nsc_report_call){.start_ticks = frame->start_ticks,
                                                        .child_ticks = after->child_ticks[i],
                                                        .function = frame->function};
        begin_function(c, f);
        f->active++;
    }
}

/* Load the callee times of the stack where the skip begins. Returns -EAGAIN if the index and the
 * counted events disagree on its depth. */
static int take_child_ticks(const struct nsc_report_counter *c, struct nsc_report_index *x,
                            uint32_t chunk, struct nsc_diag *diag)
{
    struct nsc_levels_stack before;
    int error = nsc_levels_stack(c->trace, x->thread, chunk, &before, diag);
    uint64_t *child_ticks;

    if (error != 0)
        return error;
    if (before.depth != c->depth)
        return -EAGAIN;
    child_ticks = reallocarray(x->child_ticks, before.depth + 1u, sizeof(*child_ticks));
    if (!child_ticks)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the report");
    x->child_ticks = child_ticks;
    if (before.depth > 0)
        memcpy(child_ticks, before.child_ticks, before.depth * sizeof(*child_ticks));
    return 0;
}

int nsc_report_index_skip(struct nsc_report_counter *c, struct nsc_report_index *x,
                          struct nsc_selected_events *feed, struct nsc_diag *diag)
{
    uint32_t first = c->use_index ? nsc_selected_events_chunk(feed) : UINT32_MAX, end;
    struct skip s = {.first = first, .end = first, .low = (uint32_t)c->depth};
    struct nsc_levels_stack after;
    int error;

    if (first < x->first || first >= x->end)
        return 0;
    end = find_run(c, x, first);
    if (end == first)
        return 0;
    error = take_child_ticks(c, x, first, diag);
    if (error != 0)
        return error == -EAGAIN ? 0 : error;
    error = add_pieces(c, x, &s, end, diag);
    if (error != 0 || s.end == first)
        return error;
    error = nsc_levels_stack(c->trace, x->thread, s.end, &after, diag);
    if (error != 0)
        return error;
    if (after.depth < s.low)
        return nsc_diag_set(diag, x->chunks[s.first].offset, EBADMSG,
                            "chunks of thread %u contradict each other", x->thread);
    add_child_ticks(c, x, &s, &after);
    end_calls(c, x, &s);
    begin_calls(c, &s, &after);
    c->any_call = true;
    return nsc_selected_events_skip(feed, s.end, diag);
}
