/*
 * slice_nesting.h - make a thread's calls of begins, ends and whole slices that may not fit
 * together.
 *
 * Called by event_intake.c with one thread's events in order of time. Whatever comes, what goes
 * into the lane nests, and what had to be changed is counted. docs/formats.md says how each case is
 * read.
 */
#ifndef NSC_FORMATS_IMPORT_SLICE_NESTING_H
#define NSC_FORMATS_IMPORT_SLICE_NESTING_H

#include "trace/write/lane.h"
#include "util/job.h"

/* End of a slice that nobody knows. */
#define NSC_NESTING_OPEN      UINT64_MAX
/* So many calls of a thread may be open. */
#define NSC_NESTING_DEPTH_MAX (1u << 24)

/* What did not fit, of all threads. */
struct nsc_nesting_counts {
    uint64_t overlaps;     /* calls that ran longer than the slice around them, cut where it ends */
    uint64_t open;         /* calls without an end */
    uint64_t without_call; /* ends of calls that began before the trace */
    uint64_t too_deep;     /* calls below 2^24 others, left out */
    /* Calls that are clipped: of those with which a thread's events begin, and others. */
    uint64_t clipped_first, clipped_later;
};

struct nsc_nesting_frame;

struct nsc_nesting {
    struct nsc_lane *lane;
    struct nsc_nesting_frame *frames; /* open calls, innermost last */
    uint32_t depth, room;
    uint32_t ghosts;  /* begins above the innermost frame that were cut: their ends are to come */
    uint64_t waiting; /* ends to come: of open calls that were begun, and of ghosts */
    uint64_t last_ns;
    bool at_start; /* nothing but calls that are clipped */
    struct nsc_nesting_counts *counts;
    int error;
};

/* Begin with a thread's @lane; one nest may do one thread after the other. @counts: added to. */
void nsc_nesting_start(struct nsc_nesting *n, struct nsc_lane *lane,
                       struct nsc_nesting_counts *counts);

/* What is known of a call's begin. */
enum nsc_nesting_start {
    NSC_NESTING_SEEN,
    NSC_NESTING_LATE,    /* it had begun before the thread's first event, or in a gap */
    NSC_NESTING_CLIPPED, /* it had begun before: a window or a part of a trace begins here */
};

/* A call begins. */
void nsc_nesting_begin(struct nsc_nesting *n, uint64_t ns, uint32_t function,
                       enum nsc_nesting_start start);
/* The innermost begun call ends; with @unwound it does not return. False: nobody saw one begin, and
 * nsc_nesting_late_end() is to follow. */
bool nsc_nesting_end(struct nsc_nesting *n, uint64_t ns, bool unwound);
/* A call of @function ends that had begun before the thread's first event, or in a gap. */
void nsc_nesting_late_end(struct nsc_nesting *n, uint64_t ns, uint32_t function);
/* A call with both ends; @end_ns may be NSC_NESTING_OPEN. */
void nsc_nesting_slice(struct nsc_nesting *n, uint64_t ns, uint64_t end_ns, uint32_t function);
void nsc_nesting_lost(struct nsc_nesting *n, uint64_t ns, uint64_t events);

/* The thread's last event was at @ns, or later. Closes the lane; @n->last_ns is when. Returns 0 or
 * -ENOMEM. */
int nsc_nesting_finish(struct nsc_nesting *n, uint64_t ns);

void nsc_nesting_free(struct nsc_nesting *n);

/* Say what did not fit: a line for each kind of it. */
void nsc_nesting_note(const struct nsc_nesting_counts *counts, struct nsc_notes *notes);
/* Tell readers of the trace where there are calls that are clipped. Returns 0 or -errno. */
int nsc_nesting_tell(const struct nsc_nesting_counts *counts, struct nsc_writer *w);

#endif
