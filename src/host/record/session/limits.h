/*
 * limits.h - how much of what programs say about themselves the recorder keeps, and how much work
 * it does for that: a program that lies must not take the machine's memory or its time.
 *
 * The limits lie far above what programs need. What lies beyond them is counted: functions become
 * one, and events without a stream are lost.
 */
#ifndef NSC_RECORD_SESSION_LIMITS_H
#define NSC_RECORD_SESSION_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum nsc_limit {
    NSC_LIMIT_FUNCTIONS, /* with an entry each, in all modules */
    NSC_LIMIT_ADDRESSES, /* the same, in none */
    NSC_LIMIT_MODULES,   /* files */
    NSC_LIMIT_MAPPINGS,  /* times that a module was loaded */
    NSC_LIMIT_PROCESSES,
    NSC_LIMIT_STREAMS, /* of threads and of their further stacks */
    NSC_LIMITS,
};

/* Work that may be done: some at once, some each second. */
struct nsc_limits_ration {
    uint64_t most, per_second; /* units of the caller's */
    uint64_t left;
    uint64_t filled_ns; /* when it was filled up last */
};

struct nsc_limits {
    uint32_t used[NSC_LIMITS];
    uint64_t refused[NSC_LIMITS];
    uint64_t code_slots;   /* that the tables of code_table.h may still take together */
    uint32_t extra_stacks; /* that threads may still have besides their first one */
    uint32_t frames;       /* that stacks outside of the trace may still have */
    struct nsc_limits_ration adoptions; /* of processes and modules */
    struct nsc_limits_ration verdicts;  /* on filters; units: sites */
    struct nsc_limits_ration searches;  /* for addresses; units: table entries looked at */
    uint64_t skipped;                   /* searches that were not made */
};

void nsc_limits_init(struct nsc_limits *limits);
/* One more; false: it is one too many, and counted. */
bool nsc_limits_take(struct nsc_limits *limits, enum nsc_limit kind);
/* Was anything refused? */
bool nsc_limits_were_reached(const struct nsc_limits *limits);
/* May @amount of work be done now? Then it counts as done. */
bool nsc_limits_ration_take(struct nsc_limits_ration *ration, uint64_t amount);

#endif
