/* filter_history.c - see filter_history.h. */
#include "record/options/filter_history.h"

#include <errno.h>
#include <stdlib.h>

#include "record/session/clock_reading.h"

#define NS 1000000000u

/* Converts a duration to ticks, rounded up: a call of exactly that duration passes. */
static uint64_t ticks_of(uint64_t ns)
{
    uint64_t rate = ns != 0 ? nsc_clock_reading_rate() : 1;
    uint64_t seconds = ns / NS, rest = ns % NS;

    if (seconds >= UINT64_MAX / rate - 1)
        return UINT64_MAX;
    return seconds * rate + (uint64_t)((double)rest * (double)rate / NS + 0.999);
}

static struct nsc_filter_rules *make(const struct nsc_filter *filter, uint64_t since_ticks)
{
    struct nsc_filter_rules *rules = calloc(1, sizeof *rules);

    if (rules == NULL)
        return NULL;
    rules->filter = filter;
    rules->since_ticks = since_ticks;
    rules->until_ticks = UINT64_MAX;
    rules->trigger = filter->trigger != NULL;
    rules->stopper = filter->stoppers != NULL;
    rules->under = filter->under != NULL;
    rules->nth = filter->trigger_nth;
    rules->depth = filter->depth != 0 ? filter->depth : UINT32_MAX;
    rules->min_ticks = ticks_of(filter->min_duration_ns);
    return rules;
}

int nsc_filter_rules_begin(struct nsc_filter_history *history, const struct nsc_filter *filter)
{
    struct nsc_filter_rules *rules = make(filter, 0);

    if (rules == NULL)
        return -ENOMEM;
    *history = (struct nsc_filter_history){rules, rules};
    return 0;
}

int nsc_filter_rules_add(struct nsc_filter_history *history, const struct nsc_filter *filter,
                         uint64_t ticks)
{
    struct nsc_filter_rules *rules = make(filter, ticks);

    if (rules == NULL)
        return -ENOMEM;
    rules->own = *filter;
    rules->filter = &rules->own;
    history->last->until_ticks = ticks;
    history->last->next = rules;
    rules->previous = history->last;
    history->last = rules;
    return 0;
}

void nsc_filter_rules_free(struct nsc_filter_history *history)
{
    struct nsc_filter_rules *rules = history->first, *next;

    for (; rules != NULL; rules = next) {
        next = rules->next;
        nsc_filter_free(&rules->own);
        free(rules);
    }
    *history = (struct nsc_filter_history){0};
}

const struct nsc_filter_rules *nsc_filter_rules_at(const struct nsc_filter_history *history,
                                                   uint64_t ticks)
{
    const struct nsc_filter_rules *rules = history->last; /* most events are recent */

    while (ticks < rules->since_ticks && rules->previous != NULL)
        rules = rules->previous;
    return rules;
}
