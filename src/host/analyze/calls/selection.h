/*
 * selection.h - the part of a trace that a command looks at: window, threads, functions.
 *
 * Filled by cli/ from options, read by everything in analyze/ (and by exports). One rule for each:
 *
 * - Window [from, to): calls that overlap it are seen. Times that add up (total, self, shares)
 * count the part inside the window. A call keeps its true start; one still open at `to` has, as its
 *   duration, the time it had run by then, and is marked as a bound.
 * - Threads: the others might as well not have run.
 * - Functions: as if the hidden ones had not been recorded. Their callees are their callers'
 *   callees, their own time is their callers' own time.
 */
#ifndef NSC_ANALYZE_CALLS_SELECTION_H
#define NSC_ANALYZE_CALLS_SELECTION_H

#include "trace/read/reader.h"
#include "util/text/pattern.h"

/* What recording added to the program's time, in 1/256 ticks. */
struct nsc_hook_cost {
    uint32_t
        inner; /* of a call: between the two readings of the timer, so that the call seems longer */
    uint32_t outer; /* the rest, by which its caller seems longer */
};

/* May an analysis take sums from the trace's index instead of reading all events? All is exact but
 * the quantiles of durations, which are then within 1/16. */
enum nsc_selection_index {
    NSC_SELECTION_INDEX_LARGE, /* where reading would take long: from a million events on */
    NSC_SELECTION_INDEX_NEVER,
    NSC_SELECTION_INDEX_ALWAYS,
};

struct nsc_selection {
    uint64_t from_ticks, to_ticks; /* 0, UINT64_MAX = everything */
    uint8_t *threads;              /* a byte per thread id, 0 = left out; NULL = all */
    uint8_t *hidden;               /* a byte per function id, 1 = hidden; NULL = none */
    enum nsc_selection_index index;
    struct nsc_hook_cost cost; /* taken out of all times; zeros: times are as measured */
};

/* Everything. */
void nsc_selection_init(struct nsc_selection *s);
void nsc_selection_free(struct nsc_selection *s);

/**
 * nsc_selection_compensate - have the cost of the hooks taken out of the times, as the recorder
 * measured it. Returns 0, -ENOENT (it did not) or -EOPNOTSUPP (ends of calls are bounds only).
 */
int nsc_selection_compensate(struct nsc_selection *s, const struct nsc_trace *t);

/* Narrow to a window in ns since the trace's origin; @to_ns UINT64_MAX = to the end. */
void nsc_selection_window(struct nsc_selection *s, const struct nsc_trace *t, uint64_t from_ns,
                          uint64_t to_ns);

/**
 * nsc_selection_thread - add threads to those seen (the first call leaves out all others).
 * @which: a thread id of the system ("1234"), an index in the trace ("#2"), or a name, in which
 *         * and ? stand for any characters and any one character.
 * Returns the number of threads that fit, or -ENOMEM. A coroutine's stacks come with their thread.
 */
int nsc_selection_thread(struct nsc_selection *s, const struct nsc_trace *t, const char *which);

/* The same for processes: a process id of the system, or the path of its program or the path's last
 * part. */
int nsc_selection_process(struct nsc_selection *s, const struct nsc_trace *t, const char *which);

/**
 * nsc_selection_filter - hide functions by patterns, each of which may be given several times.
 * @only: if @only_count > 0, functions that fit none of these are hidden.
 * @except: functions that fit one of these are hidden.
 * Returns 0 or -ENOMEM.
 */
int nsc_selection_filter(struct nsc_selection *s, const struct nsc_trace *t,
                         struct nsc_pattern *const *only, size_t only_count,
                         struct nsc_pattern *const *except, size_t except_count);

/**
 * nsc_selection_functions - the functions that a pattern fits.
 * @found: receives how many.
 * Returns a byte per function id, 1 = fits, for free(); NULL if there is no memory.
 */
uint8_t *nsc_selection_functions(const struct nsc_trace *t, const struct nsc_pattern *pattern,
                                 size_t *found);

static inline bool nsc_selection_has_thread(const struct nsc_selection *s, uint32_t thread)
{
    return !s->threads || s->threads[thread];
}

#endif
