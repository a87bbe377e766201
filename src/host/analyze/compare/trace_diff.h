/*
 * trace_diff.h - compare two traces: what became slower and faster, by function and by call path.
 *
 * Called by cli/ and viewer/engine/. Makes a report and a call tree of each trace (report.h and
 * call_tree.h define what they count); reads nothing else.
 *
 * same_function.h defines which functions are the same. Functions that are treated as one share a
 * row, with the sums of their numbers. Paths are the same if all their functions are.
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
    /* the lowest id in each trace; NSC_NO_ID: not called there */
    uint32_t functions[NSC_DIFF_SIDES];
    bool shared; /* other rows have the same name */
    struct nsc_diff_sums sums[NSC_DIFF_SIDES];
};

struct nsc_diff_node {
    uint32_t row;
    uint32_t parent; /* index; NSC_NO_ID: no recorded caller */
    uint32_t depth;  /* 0 for nodes without parent */
    struct nsc_diff_sums sums[NSC_DIFF_SIDES];
};

/* Totals of one trace. */
struct nsc_diff_side {
    uint64_t calls, bounds;
    uint64_t self_ns;      /* of all functions: the time in calls */
    uint64_t folded_calls; /* calls on paths that have no node */
};

struct nsc_diff {
    struct nsc_diff_row *rows; /* functions with a call in either trace, by name */
    uint32_t row_count;
    struct nsc_diff_node *nodes; /* paths, depth first; siblings by longest total */
    uint32_t node_count;
    struct nsc_diff_side sides[NSC_DIFF_SIDES];
};

enum nsc_diff_key { NSC_DIFF_BY_SELF, NSC_DIFF_BY_TOTAL, NSC_DIFF_BY_CALLS, NSC_DIFF_BY_NAME };

/**
 * nsc_diff_make - compare two traces.
 * @traces, @selections: of both; may be the same trace twice. The traces must stay open as long as
 *                       the result is used.
 * @out: filled on success; free with nsc_diff_free().
 * @failed: on failure receives the index of the trace that failed (0 or 1); may be NULL.
 * Returns 0 or -errno with @diag filled.
 */
int nsc_diff_make(struct nsc_trace *const traces[NSC_DIFF_SIDES],
                  const struct nsc_selection *const selections[NSC_DIFF_SIDES],
                  struct nsc_diff *out, unsigned *failed, struct nsc_diag *diag);
void nsc_diff_free(struct nsc_diff *diff);

/* The value of one trace that @key compares; NSC_DIFF_BY_NAME returns the self time. */
uint64_t nsc_diff_value(const struct nsc_diff_sums *sums, enum nsc_diff_key key);

/* The absolute difference of the two values. */
uint64_t nsc_diff_distance(const struct nsc_diff_sums sums[NSC_DIFF_SIDES], enum nsc_diff_key key);

/* The rows' indexes, largest difference by @key first, equal ones by name; NSC_DIFF_BY_NAME: in
 * alphabetical order. Release with free(); NULL if out of memory. */
uint32_t *nsc_diff_order(const struct nsc_diff *diff, enum nsc_diff_key key);

/**
 * nsc_diff_choose - choose the paths that differ most by @key, and their ancestors.
 * @limit: maximum number of paths with a difference.
 * @longest: additionally this many paths with the longest total in either trace.
 * Returns one byte per node (NSC_DIFF_CHOSEN, NSC_DIFF_ABOVE or 0), to be released with free();
 * NULL if out of memory.
 */
enum nsc_diff_choice { NSC_DIFF_CHOSEN = 1, NSC_DIFF_ABOVE = 2 };
uint8_t *nsc_diff_choose(const struct nsc_diff *diff, enum nsc_diff_key key, size_t limit,
                         size_t longest);

#endif
