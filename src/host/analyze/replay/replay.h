/*
 * replay.h - replay a trace in order of time: begin and end of calls, calls without visible callees
 * as one item, and marks.
 *
 * Called by cli/. Streams: stores only the state of thread_merge.h and the starts of open calls.
 */
#ifndef NSC_ANALYZE_REPLAY_REPLAY_H
#define NSC_ANALYZE_REPLAY_REPLAY_H

#include "analyze/calls/selection.h"

enum nsc_replay_kind {
    NSC_REPLAY_BEGIN,    /* start of a call that has callees or marks inside */
    NSC_REPLAY_END,      /* end of such a call */
    NSC_REPLAY_CALL,     /* a complete call with nothing visible inside, reported at its start */
    NSC_REPLAY_LATE,     /* end of a call that began before the recording or in a gap */
    NSC_REPLAY_LOST,     /* a gap */
    NSC_REPLAY_LEFT_OUT, /* a gap where the budget rejected events */
    NSC_REPLAY_MARK,     /* a mark that the program set at that instant */
};

struct nsc_replay_item {
    enum nsc_replay_kind kind;
    uint32_t thread;             /* index in the trace */
    uint32_t function;           /* NSC_NO_ID: LOST, LEFT_OUT, MARK */
    uint32_t depth;              /* number of open calls below it */
    uint32_t bound;              /* NSC_BOUND_*; at BEGIN those known so far */
    uint64_t lost;               /* LOST, LEFT_OUT: number of events, 0 if unknown */
    bool open;                   /* END and CALL: still open at the end of the window or trace */
    bool untimed;                /* END, CALL and LATE: the timer was not read at the return */
    uint64_t ticks;              /* time of the item; CALL: its start */
    uint64_t duration_ticks;     /* of END and CALL; else 0 */
    const struct nsc_mark *mark; /* MARK; valid until nsc_replay_fn returns */
};

/* Return false to end the replay; this is not an error. */
typedef bool (*nsc_replay_fn)(void *context, const struct nsc_replay_item *item);

/**
 * nsc_replay - pass all selected items to a callback.
 * @max_depth: omit calls with at least this many open calls below them; UINT32_MAX = omit none.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_replay(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t max_depth,
               nsc_replay_fn tell, void *context, struct nsc_diag *diag);

#endif
