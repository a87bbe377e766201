/*
 * encode.h - the hot half of the writer: add one event to a thread's stream.
 *
 * Called by record/ for every event (>= 150 M/s on one core with index: a few ns each) and by
 * importers. The lane keeps the stack of open calls; the caller may keep a word of its own in each frame
 * (the recorder: the stack position).
 *
 * Ticks must not run backwards within a lane; a smaller value is raised to the last one.
 */
#ifndef NSC_TRACE_ENCODE_H
#define NSC_TRACE_ENCODE_H

#include "trace/writer.h"

/* An open call. */
struct nsc_lane_frame {
    uint64_t start_ticks;
    uint64_t child_ticks; /* time spent in direct callees so far */
    uint64_t position;    /* the caller's own word */
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_START or 0 */
};

/* Number of open calls, and the innermost one (NULL if none). */
static inline uint32_t nsc_lane_depth(const struct nsc_lane *lane);
static inline struct nsc_lane_frame *nsc_lane_top(struct nsc_lane *lane);

/* Events. ticks: timer ticks. Errors are latched in the writer, not returned. */
static inline void nsc_lane_enter(struct nsc_lane *lane, uint64_t ticks, uint32_t function,
                                  uint64_t position);
static inline void nsc_lane_exit(struct nsc_lane *lane, uint64_t ticks);   /* depth > 0 */
static inline void nsc_lane_unwind(struct nsc_lane *lane, uint64_t ticks); /* depth > 0 */
/* depth == 0: a call that began before the lane, or in a gap, returns. */
void nsc_lane_late_exit(struct nsc_lane *lane, uint64_t ticks, uint32_t function);
void nsc_lane_lost(struct nsc_lane *lane, uint64_t ticks, uint64_t events);

/* End the stream: open calls are unwound at @ticks; buffers are flushed and freed. */
void nsc_lane_close(struct nsc_lane *lane, uint64_t ticks);

/* The structure and the inline bodies follow here; they belong to trace/. */

#endif
