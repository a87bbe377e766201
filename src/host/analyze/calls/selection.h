/*
 * selection.h - the part of a trace that a command analyses: window, threads, functions.
 *
 * Filled by cli/ from options, read by everything in analyze/ and by exports. The rules:
 *
 * - Window [from, to): calls that overlap it are included. Times that add up (total, self, shares)
 *   count the part inside the window. A call keeps its true start. The duration of a call that is
 *   still open at `to` ends there, and is marked as a bound.
 * - Threads: threads that are not selected are treated as if they had not run.
 * - Functions: hidden functions are treated as if they had not been recorded. Their callees become
 *   callees of their callers; their self time is added to their callers' self time.
 */
#ifndef NSC_ANALYZE_CALLS_SELECTION_H
#define NSC_ANALYZE_CALLS_SELECTION_H

#include "trace/read/reader.h"
#include "util/text/pattern.h"

/* Time that recording added to the program, in 1/256 ticks per call. */
struct nsc_hook_cost {
    /* between the two timer reads of a call: makes the call itself appear longer */
    uint32_t inner;
    uint32_t outer; /* the rest: makes the caller appear longer */
};

/* Whether an analysis may take sums from the trace's index instead of reading all events. All
 * results are exact except quantiles of durations, which are then within 1/16. */
enum nsc_selection_index {
    NSC_SELECTION_INDEX_LARGE, /* only for large traces: a million events or more */
    NSC_SELECTION_INDEX_NEVER,
    NSC_SELECTION_INDEX_ALWAYS,
};

struct nsc_selection {
    uint64_t from_ticks, to_ticks; /* 0, UINT64_MAX = everything */
    uint8_t *threads;              /* one byte per thread index, 0 = not selected; NULL = all */
    uint8_t *hidden;               /* one byte per function id, 1 = hidden; NULL = none */
    enum nsc_selection_index index;
    struct nsc_hook_cost cost; /* subtracted from all times; zeros: times stay as measured */
};

/* Select everything. */
void nsc_selection_init(struct nsc_selection *s);
void nsc_selection_free(struct nsc_selection *s);

/**
 * nsc_selection_compensate - subtract the cost of the hooks, as the recorder measured it, from all
 * times. Returns 0, -ENOENT (not measured) or -EOPNOTSUPP (ends of calls are bounds only).
 */
int nsc_selection_compensate(struct nsc_selection *s, const struct nsc_trace *t);

/* Set the window, in ns since the trace's origin; @to_ns UINT64_MAX = to the end. */
void nsc_selection_window(struct nsc_selection *s, const struct nsc_trace *t, uint64_t from_ns,
                          uint64_t to_ns);

/**
 * nsc_selection_thread - add threads to the selection (the first call deselects all others).
 * @which: a system thread id ("1234"), an index in the trace ("#2"), or a name, in which * matches
 *         any characters and ? one character.
 * Returns the number of matching threads, or -ENOMEM. A coroutine's stacks are selected with their
 * thread.
 */
int nsc_selection_thread(struct nsc_selection *s, const struct nsc_trace *t, const char *which);

/* The same for processes: a system process id, or the path of its program or the path's last
 * component. */
int nsc_selection_process(struct nsc_selection *s, const struct nsc_trace *t, const char *which);

/**
 * nsc_selection_filter - hide functions by patterns; may be called several times.
 * @only: if @only_count > 0, functions that match none of these are hidden.
 * @except: functions that match any of these are hidden.
 * Returns 0 or -ENOMEM.
 */
int nsc_selection_filter(struct nsc_selection *s, const struct nsc_trace *t,
                         struct nsc_pattern *const *only, size_t only_count,
                         struct nsc_pattern *const *except, size_t except_count);

/**
 * nsc_selection_functions - find the functions that match a pattern.
 * @found: receives their number.
 * Returns one byte per function id, 1 = matches, to be released with free(); NULL if out of memory.
 */
uint8_t *nsc_selection_functions(const struct nsc_trace *t, const struct nsc_pattern *pattern,
                                 size_t *found);

static inline bool nsc_selection_has_thread(const struct nsc_selection *s, uint32_t thread)
{
    return !s->threads || s->threads[thread];
}

#endif
