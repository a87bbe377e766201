/*
 * trace_diff.h - two traces side by side: what got slower and faster, by function and by path of
 * calls.
 *
 * Called by cli/ and answer/. Takes a report and a tree of each trace (report.h, call_tree.h say
 * what their numbers count), reads nothing else.
 *
 * same_function.h says which functions are the same; those that are taken for one are one row, with
 * the sums of their numbers. Paths are the same if their functions are.
 */
#ifndef NSC_ANALYZE_COMPARE_TRACE_DIFF_H
#define NSC_ANALYZE_COMPARE_TRACE_DIFF_H

#include "analyze/calls/selection.h"

#define NSC_DIFF_SIDES 2

struct nsc_diff_sums {
    uint64_t calls, total_ns, self_ns;
};

struct nsc_diff_row {
    const char *name; /* borrowed from a trace */
    uint32_t
        functions[NSC_DIFF_SIDES]; /* the least id of each trace; NSC_NO_ID: not called there */
    bool shared;                   /* other rows have the same name */
    struct nsc_diff_sums sums[NSC_DIFF_SIDES];
};

struct nsc_diff_node {
    uint32_t row;
    uint32_t parent; /* index; NSC_NO_ID: called by nothing that was recorded */
    uint32_t depth;  /* 0 for those */
    struct nsc_diff_sums sums[NSC_DIFF_SIDES];
};

/* One trace as a whole. */
struct nsc_diff_side {
    uint64_t calls, bounds;
    uint64_t self_ns;      /* of all functions: the time in calls */
    uint64_t folded_calls; /* calls on paths that have no node */
};

struct nsc_diff {
    struct nsc_diff_row *rows; /* functions with a call in either trace, by name */
    uint32_t row_count;
    struct nsc_diff_node *nodes; /* paths, depth first, of siblings the longest total first */
    uint32_t node_count;
    struct nsc_diff_side sides[NSC_DIFF_SIDES];
};

enum nsc_diff_key { NSC_DIFF_BY_SELF, NSC_DIFF_BY_TOTAL, NSC_DIFF_BY_CALLS, NSC_DIFF_BY_NAME };

/**
 * nsc_diff_make - compare two traces.
 * @traces, @selections: of both; may be the same trace twice. The traces must stay open as long as
 *                       the result is used.
 * @out: filled on success; free with nsc_diff_free().
 * @failed: receives, on failure, which trace it was (0 or 1); may be NULL.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_diff_make(struct nsc_trace *const traces[NSC_DIFF_SIDES],
                  const struct nsc_selection *const selections[NSC_DIFF_SIDES],
                  struct nsc_diff *out, unsigned *failed, struct nsc_diag *diag);
void nsc_diff_free(struct nsc_diff *diff);

/* What is compared by @key, of one trace; by name, self time is. */
uint64_t nsc_diff_value(const struct nsc_diff_sums *sums, enum nsc_diff_key key);

/* How far the two are apart. */
uint64_t nsc_diff_distance(const struct nsc_diff_sums sums[NSC_DIFF_SIDES], enum nsc_diff_key key);

/* The rows' indexes, those that differ most by @key first, equal ones by name; by name, in
 * alphabetical order. For free(); NULL if there is no memory. */
uint32_t *nsc_diff_order(const struct nsc_diff *diff, enum nsc_diff_key key);

/**
 * nsc_diff_choose - the paths that differ most by @key, and what is above them.
 * @limit: so many of those that do differ at all.
 * @longest: so many of those with the longest total in either trace as well.
 * Returns a byte per node for free(), NSC_DIFF_CHOSEN, NSC_DIFF_ABOVE or 0; NULL if there is no
 * memory.
 */
enum nsc_diff_choice { NSC_DIFF_CHOSEN = 1, NSC_DIFF_ABOVE = 2 };
uint8_t *nsc_diff_choose(const struct nsc_diff *diff, enum nsc_diff_key key, size_t limit,
                         size_t longest);

#endif
