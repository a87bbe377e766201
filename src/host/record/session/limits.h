/*
 * limits.h - limits on the data that the recorder keeps about programs, and on the work it does for
 * them. A program that writes false data must not exhaust the machine's memory or CPU time.
 *
 * The limits are far above the needs of real programs. Excess is counted: functions beyond the
 * limit share one id, and events without a stream are lost.
 */
#ifndef NSC_RECORD_SESSION_LIMITS_H
#define NSC_RECORD_SESSION_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum nsc_limit {
    NSC_LIMIT_FUNCTIONS, /* functions inside modules, all modules together */
    NSC_LIMIT_ADDRESSES, /* functions at addresses outside all modules */
    NSC_LIMIT_MODULES,   /* module files */
    NSC_LIMIT_MAPPINGS,  /* loads of modules, repeated ones included */
    NSC_LIMIT_PROCESSES,
    NSC_LIMIT_STREAMS, /* event streams: of threads and of their additional stacks */
    NSC_LIMITS,
};

/* A quota of work: an initial amount, refilled each second. */
struct nsc_limits_ration {
    uint64_t most, per_second; /* in the caller's unit */
    uint64_t left;
    uint64_t filled_ns; /* time of the last refill */
};

struct nsc_limits {
    uint32_t used[NSC_LIMITS];
    uint64_t refused[NSC_LIMITS];
    uint64_t code_slots;   /* slots that the tables of code_table.h may still allocate, together */
    uint32_t extra_stacks; /* stacks that threads may still have besides their first one */
    uint32_t frames;       /* frames that the shadow stacks of stack.c may still allocate */
    struct nsc_limits_ration adoptions; /* registrations of processes and modules */
    struct nsc_limits_ration verdicts;  /* evaluations of the filter; unit: sites */
    struct nsc_limits_ration searches;  /* address lookups; unit: table entries visited */
    uint64_t skipped;                   /* lookups that the quota rejected */
};

void nsc_limits_init(struct nsc_limits *limits);
/* Counts one more. Returns false, and counts the refusal, if the limit is reached. */
bool nsc_limits_take(struct nsc_limits *limits, enum nsc_limit kind);
/* True if any limit or the lookup quota refused something. */
bool nsc_limits_were_reached(const struct nsc_limits *limits);
/* Takes @amount of work from the quota. Returns false, and takes nothing, if too little is left. */
bool nsc_limits_ration_take(struct nsc_limits_ration *ration, uint64_t amount);

#endif
