/*
 * replay.h - what happened, in the order of time: calls beginning, ending, and in one piece when
 * nothing happened inside; and the marks between them.
 *
 * Called by cli/. Streams: holds what thread_merge.h holds, and the starts of open calls.
 */
#ifndef NSC_ANALYZE_REPLAY_REPLAY_H
#define NSC_ANALYZE_REPLAY_REPLAY_H

#include "analyze/calls/selection.h"

enum nsc_replay_kind {
    NSC_REPLAY_BEGIN,    /* a call with calls inside */
    NSC_REPLAY_END,      /* its end */
    NSC_REPLAY_CALL,     /* a call with nothing inside that is shown, told when it begins */
    NSC_REPLAY_LATE,     /* the end of a call that began before recording or in a gap */
    NSC_REPLAY_LOST,     /* a gap */
    NSC_REPLAY_LEFT_OUT, /* a gap where the budget turned events away */
    NSC_REPLAY_MARK,     /* what the program said at that instant */
};

struct nsc_replay_item {
    enum nsc_replay_kind kind;
    uint32_t thread;             /* index in the trace */
    uint32_t function;           /* NSC_NO_ID: LOST, LEFT_OUT, MARK */
    uint32_t depth;              /* number of open calls below it */
    uint32_t bound;              /* NSC_BOUND_*; at BEGIN those known so far */
    uint64_t lost;               /* LOST, LEFT_OUT: number of events, 0 if unknown */
    bool open;                   /* END and CALL: has not ended, but what is read ends here */
    bool untimed;                /* END, CALL and LATE: nobody read the timer when it returned */
    uint64_t ticks;              /* when: CALL its start */
    uint64_t duration_ticks;     /* of END and CALL; else 0 */
    const struct nsc_mark *mark; /* MARK; valid until nsc_replay_fn returns */
};

/* Return false to end the replay; that is no error. */
typedef bool (*nsc_replay_fn)(void *context, const struct nsc_replay_item *item);

/**
 * nsc_replay - tell everything that is selected.
 * @max_depth: calls with this many open calls below them are not told; UINT32_MAX = all are.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_replay(struct nsc_trace *t, const struct nsc_selection *selection, uint32_t max_depth,
               nsc_replay_fn tell, void *context, struct nsc_diag *diag);

#endif
