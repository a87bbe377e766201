/*
 * call_pairs.h - sums per function and per caller-callee pair, at any depth. Used by exporters of
 * profile formats. Memory grows with the number of functions and pairs.
 */
#ifndef NSC_FORMATS_EXPORT_CALL_PAIRS_H
#define NSC_FORMATS_EXPORT_CALL_PAIRS_H

#include "formats/export/export.h"

struct nsc_call_pairs_function {
    uint64_t calls;
    uint64_t callees; /* calls made by the function */
    uint64_t self_ticks;
    uint64_t total_ticks; /* inclusive time of outermost calls: recursion counts once */
};

struct nsc_call_pair {
    uint32_t caller; /* NSC_NO_ID = no recorded caller */
    uint32_t callee;
    uint64_t calls;
    uint64_t ticks; /* inclusive time, as total_ticks */
};

struct nsc_call_pairs_call;

/* All zero = empty. */
struct nsc_call_pairs {
    struct nsc_call_pairs_function *functions; /* by function id */
    struct nsc_call_pair *pairs;
    uint32_t pair_count, pair_capacity;
    uint32_t *slots; /* index + 1, or 0; at most half full */
    size_t slot_count;
    struct nsc_call_pairs_call *open; /* innermost last */
    uint32_t *open_calls;             /* by function id: how many calls of it are open */
    size_t depth, open_capacity;
};

/* Adds the calls of one thread. Returns 0 or -errno with @diag. */
int nsc_call_pairs_take(struct nsc_call_pairs *t, struct nsc_export *job, uint32_t thread,
                        struct nsc_diag *diag);

/* Sorts pairs by caller, then callee. No calls may be added afterwards. */
void nsc_call_pairs_sort(struct nsc_call_pairs *t);

void nsc_call_pairs_free(struct nsc_call_pairs *t);

#endif
