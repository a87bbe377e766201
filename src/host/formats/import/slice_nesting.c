/* slice_nesting.c - see slice_nesting.h. */
#include "formats/import/slice_nesting.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/text/units.h"

/*
 * Invariant: frames[i].end_ns <= frames[i - 1].end_ns, so the innermost frame is the first to end.
 */
struct nsc_nesting_frame {
    uint64_t end_ns; /* latest possible end: its own or that of an enclosing frame */
    uint32_t function;
    uint32_t ghosts; /* nsc_nesting.ghosts at the time when this frame was opened */
    bool begun;      /* opened by a begin event: an end event closes it */
    bool late;       /* began earlier: the lane gets only a late exit, at its end */
    bool exact;      /* end_ns is its own end */
};

void nsc_nesting_start(struct nsc_nesting *n, struct nsc_lane *lane,
                       struct nsc_nesting_counts *counts)
{
    n->lane = lane;
    n->depth = 0;
    n->ghosts = 0;
    n->waiting = 0;
    n->last_ns = 0;
    n->at_start = true;
    n->counts = counts;
}

void nsc_nesting_free(struct nsc_nesting *n)
{
    free(n->frames);
    n->frames = NULL;
}

static void saw(struct nsc_nesting *n, uint64_t ns)
{
    if (ns > n->last_ns)
        n->last_ns = ns;
}

/* Puts the clipped calls at the thread's start into a chunk of their own, so that readers of the
 * index find them without reading other chunks. */
static void leave_start(struct nsc_nesting *n)
{
    if (n->at_start && nsc_lane_depth(n->lane) > 0)
        nsc_lane_end_chunk(n->lane);
    n->at_start = false;
}

/* Closes the innermost frame. */
static void pop(struct nsc_nesting *n, uint64_t ns, bool unwound)
{
    const struct nsc_nesting_frame *top;

    leave_start(n);
    top = &n->frames[--n->depth];
    n->ghosts += top->ghosts;
    n->waiting -= top->begun;
    saw(n, ns);
    if (top->late)
        nsc_lane_late_exit(n->lane, ns, top->function);
    else if (unwound)
        nsc_lane_unwind(n->lane, ns);
    else
        nsc_lane_exit(n->lane, ns);
}

/* Closes the innermost frame at its end_ns, which may be that of an enclosing slice. */
static void pop_at_limit(struct nsc_nesting *n)
{
    const struct nsc_nesting_frame *top = &n->frames[n->depth - 1];
    bool begun = top->begun, exact = top->exact;

    n->counts->overlaps += !exact;
    pop(n, top->end_ns, !exact);
    n->ghosts += begun;
    n->waiting += begun;
}

/* Closes the frames that end before @ns; with @too, also those that end at @ns. */
static void close_until(struct nsc_nesting *n, uint64_t ns, bool too)
{
    while (n->depth > 0 && n->frames[n->depth - 1].end_ns != NSC_NESTING_OPEN &&
           n->frames[n->depth - 1].end_ns < ns + too)
        pop_at_limit(n);
}

static void tell_begin(struct nsc_nesting *n, uint64_t ns, uint32_t function,
                       enum nsc_nesting_start start)
{
    if (start == NSC_NESTING_SEEN) {
        leave_start(n);
        nsc_lane_enter(n->lane, ns, function, 0);
    } else if (start == NSC_NESTING_CLIPPED) {
        nsc_lane_enter_earlier(n->lane, ns, function, 0);
        n->counts->clipped_first += n->at_start;
        n->counts->clipped_later += !n->at_start;
    }
}

static void push(struct nsc_nesting *n, uint64_t ns, const struct nsc_nesting_frame *frame,
                 enum nsc_nesting_start start)
{
    struct nsc_nesting_frame *frames;

    frames = nsc_array_grow(n->frames, &n->room, n->depth, sizeof *frames);
    if (frames == NULL) {
        n->error = -ENOMEM;
        return;
    }
    n->frames = frames;
    frames[n->depth] = *frame;
    frames[n->depth].ghosts = n->ghosts;
    frames[n->depth].exact = frame->end_ns != NSC_NESTING_OPEN;
    n->ghosts = 0;
    n->waiting += frame->begun;
    if (n->depth > 0 && frames[n->depth - 1].end_ns < frame->end_ns) {
        frames[n->depth].exact = false;
        frames[n->depth].end_ns = frames[n->depth - 1].end_ns;
    }
    frames[n->depth++].late = start == NSC_NESTING_LATE;
    tell_begin(n, ns, frame->function, start);
}

static bool is_too_deep(struct nsc_nesting *n)
{
    if (n->depth < NSC_NESTING_DEPTH_MAX)
        return false;
    n->counts->too_deep++;
    return true;
}

void nsc_nesting_begin(struct nsc_nesting *n, uint64_t ns, uint32_t function,
                       enum nsc_nesting_start start)
{
    close_until(n, ns, true);
    saw(n, ns);
    if (is_too_deep(n)) {
        n->ghosts++;
        n->waiting++;
        return;
    }
    push(n, ns,
         &(struct nsc_nesting_frame){
             .end_ns = NSC_NESTING_OPEN, .function = function, .begun = true},
         start);
}

void nsc_nesting_slice(struct nsc_nesting *n, uint64_t ns, uint64_t end_ns, uint32_t function)
{
    close_until(n, ns, true);
    saw(n, ns);
    if (!is_too_deep(n))
        push(n, ns, &(struct nsc_nesting_frame){.end_ns = end_ns, .function = function},
             NSC_NESTING_SEEN);
}

/*
 * Finds what an end event closes. Returns the index of a frame, n->depth for a ghost (*@ghosts is
 * the counter that includes it), or -1 if there is no matching begin.
 */
static int64_t owner_of_end(struct nsc_nesting *n, uint32_t **ghosts)
{
    *ghosts = &n->ghosts;
    if (n->waiting == 0)
        return -1;
    for (uint32_t i = n->depth; i > 0 && **ghosts == 0; i--) {
        if (n->frames[i - 1].begun)
            return i - 1;
        *ghosts = &n->frames[i - 1].ghosts;
    }
    return **ghosts > 0 ? (int64_t)n->depth : -1;
}

bool nsc_nesting_end(struct nsc_nesting *n, uint64_t ns, bool unwound)
{
    uint32_t *ghosts;
    int64_t at;

    close_until(n, ns, false);
    saw(n, ns);
    at = owner_of_end(n, &ghosts);
    if (at < 0)
        return false;
    if (at == n->depth) {
        --*ghosts;
        n->waiting--;
        return true;
    }
    while (n->depth > at + 1) { /* slices that should have ended by now */
        const struct nsc_nesting_frame *top = &n->frames[n->depth - 1];
        bool exact = top->exact && top->end_ns == ns;

        n->counts->overlaps += !exact;
        pop(n, ns, !exact);
    }
    pop(n, ns, unwound);
    return true;
}

void nsc_nesting_late_end(struct nsc_nesting *n, uint64_t ns, uint32_t function)
{
    n->counts->without_call++;
    leave_start(n);
    nsc_lane_late_exit(n->lane, ns, function);
}

void nsc_nesting_lost(struct nsc_nesting *n, uint64_t ns, uint64_t events)
{
    close_until(n, ns, false);
    saw(n, ns);
    leave_start(n);
    nsc_lane_lost(n->lane, ns, events);
}

int nsc_nesting_finish(struct nsc_nesting *n, uint64_t ns)
{
    saw(n, ns);
    while (n->depth > 0 && n->frames[n->depth - 1].end_ns != NSC_NESTING_OPEN)
        pop_at_limit(n);
    n->counts->open += n->depth;
    while (n->depth > 0)
        pop(n, n->last_ns, true);
    nsc_lane_close(n->lane, n->last_ns);
    return n->error;
}

int nsc_nesting_tell(const struct nsc_nesting_counts *counts, struct nsc_writer *w)
{
    if (counts->clipped_later > 0)
        return nsc_writer_meta(w, NSC_META_EARLIER, NSC_EARLIER_ANYWHERE);
    return counts->clipped_first > 0 ? nsc_writer_meta(w, NSC_META_EARLIER, NSC_EARLIER_FIRST) : 0;
}

void nsc_nesting_note(const struct nsc_nesting_counts *counts, struct nsc_notes *notes)
{
    const struct {
        uint64_t count;
        const char *one, *many;
    } lines[] = {
        {counts->overlaps, "call runs longer than the one around it: it is cut where that ends",
         "calls run longer than the ones around them: they are cut where those end"},
        {counts->open, "call has no end: it lasts until the last event of its thread",
         "calls have no end: they last until the last event of their thread"},
        {counts->without_call, "call ends that nobody saw begin: it is there from the start",
         "calls end that nobody saw begin: they are there from the start"},
        {counts->too_deep, "call below 16777216 others is left out",
         "calls below 16777216 others are left out"},
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (lines[i].count > 0)
            nsc_job_notes_add(notes, "%s %s", nsc_units_count(lines[i].count).text,
                              lines[i].count == 1 ? lines[i].one : lines[i].many);
}
