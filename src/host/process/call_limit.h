/*
 * call_limit.h - how long the calls of one command may take together, and whether the user has
 * asked to end it. A hostile program can take its time in each of them.
 *
 *     limit.signals = &counter;       once; NULL: signals end the calls' process anyway
 *     nsc_call_limit_begin(&limit);   at each command
 */
#ifndef NSC_PROCESS_CALL_LIMIT_H
#define NSC_PROCESS_CALL_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/now.h"

/* An honest program answers within milliseconds, or some seconds on a busy machine. */
#define NSC_CALL_LIMIT_NS       20000000000ull
/* After a signal: a call that is given up may leave the program's functions half enabled. */
#define NSC_CALL_LIMIT_GRACE_NS 1000000000ull

struct nsc_call_limit {
    uint64_t deadline_ns;                 /* nsc_now_ns() */
    const volatile sig_atomic_t *signals; /* counts requests to end */
    sig_atomic_t seen;                    /* of them, when the command began */
};

static inline void nsc_call_limit_begin(struct nsc_call_limit *limit)
{
    limit->deadline_ns = nsc_now_ns() + NSC_CALL_LIMIT_NS;
    limit->seen = limit->signals != NULL ? *limit->signals : 0;
}

static inline bool nsc_call_limit_is_over(struct nsc_call_limit *limit)
{
    uint64_t now_ns = nsc_now_ns();

    if (limit->signals != NULL && *limit->signals != limit->seen) {
        limit->seen = *limit->signals;
        if (limit->deadline_ns > now_ns + NSC_CALL_LIMIT_GRACE_NS)
            limit->deadline_ns = now_ns + NSC_CALL_LIMIT_GRACE_NS;
    }
    return now_ns >= limit->deadline_ns;
}

#endif
