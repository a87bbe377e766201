/*
 * filter_history.h - a filter prepared for the recorder, and the history of a session's filters.
 *
 * A session begins with one filter. Each change adds one, which applies to the events from its time
 * on, whenever they are read. Created by recorder.c; used by address_space.c, filter_bitmap.c and
 * call_filter.c.
 */
#ifndef NSC_RECORD_OPTIONS_FILTER_HISTORY_H
#define NSC_RECORD_OPTIONS_FILTER_HISTORY_H

#include "record/options/filter.h"

struct nsc_filter_rules {
    const struct nsc_filter *filter;
    struct nsc_filter own;                    /* target of `filter`, except in the first entry */
    uint64_t since_ticks, until_ticks;        /* in force; half open; UINT64_MAX: still */
    struct nsc_filter_rules *previous, *next; /* neighbours in time; NULL: none */
    /* The rules that select calls. */
    bool trigger, stopper, under;
    uint32_t nth;       /* number of the trigger's call; 0: each */
    uint32_t depth;     /* UINT32_MAX: no limit */
    uint64_t min_ticks; /* 0: no minimum */
};

/* All filters of a session, oldest first. */
struct nsc_filter_history {
    struct nsc_filter_rules *first, *last; /* never NULL */
};

/**
 * nsc_filter_rules_begin - set the first filter of a session.
 * @filter: borrowed until nsc_filter_rules_free().
 * Returns 0 or -ENOMEM. Context: may measure the timer, which takes 10 ms.
 */
int nsc_filter_rules_begin(struct nsc_filter_history *history, const struct nsc_filter *filter);
/* Add a filter for events from @ticks on. @filter: takes ownership of its contents. Returns 0 or
 * -ENOMEM. */
int nsc_filter_rules_add(struct nsc_filter_history *history, const struct nsc_filter *filter,
                         uint64_t ticks);
void nsc_filter_rules_free(struct nsc_filter_history *history);

/* The rules that apply to an event at @ticks. */
const struct nsc_filter_rules *nsc_filter_rules_at(const struct nsc_filter_history *history,
                                                   uint64_t ticks);

/* True if each call must be filtered on its own: there are rules for calls, or the rules have
 * changed. */
static inline bool nsc_filter_rules_sift(const struct nsc_filter_history *history)
{
    return history->first != history->last || nsc_filter_by_call(history->last->filter);
}

#endif
