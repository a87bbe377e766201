/*
 * filter_history.h - a filter as the recorder works with it, and the filters that were in force one
 * after the other.
 *
 * A session begins with one; each change of the filter adds one, which holds for the events from
 * then on, whenever they are read. Made by recorder.c, asked by address_space.c, filter_bitmap.c
 * and call_filter.c.
 */
#ifndef NSC_RECORD_OPTIONS_FILTER_HISTORY_H
#define NSC_RECORD_OPTIONS_FILTER_HISTORY_H

#include "record/options/filter.h"

struct nsc_filter_rules {
    const struct nsc_filter *filter;
    struct nsc_filter own;                    /* where `filter` points, but for the first ones */
    uint64_t since_ticks, until_ticks;        /* in force: half open; UINT64_MAX: till now */
    struct nsc_filter_rules *previous, *next; /* that came before and after them; NULL: none */
    /* The filter's rules for calls. */
    bool trigger, stopper, under;
    uint32_t nth;       /* call of the trigger; 0: each */
    uint32_t depth;     /* UINT32_MAX: any */
    uint64_t min_ticks; /* 0: any */
};

/* All filters of a session, the oldest first. */
struct nsc_filter_history {
    struct nsc_filter_rules *first, *last; /* never NULL */
};

/**
 * nsc_filter_rules_begin - the filter that a session begins with.
 * @filter: borrowed until nsc_filter_rules_free().
 * Returns 0 or -ENOMEM. Context: measures the timer if that is needed, 10 ms.
 */
int nsc_filter_rules_begin(struct nsc_filter_history *history, const struct nsc_filter *filter);
/* Another filter, for events from @ticks on; 0 or -ENOMEM. @filter: its contents are taken over. */
int nsc_filter_rules_add(struct nsc_filter_history *history, const struct nsc_filter *filter,
                         uint64_t ticks);
void nsc_filter_rules_free(struct nsc_filter_history *history);

/* The rules for an event at @ticks. */
const struct nsc_filter_rules *nsc_filter_rules_at(const struct nsc_filter_history *history,
                                                   uint64_t ticks);

/* Is each call to be looked at by itself: are there rules for calls, or have the rules changed? */
static inline bool nsc_filter_rules_sift(const struct nsc_filter_history *history)
{
    return history->first != history->last || nsc_filter_by_call(history->last->filter);
}

#endif
