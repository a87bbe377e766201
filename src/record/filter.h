/*
 * filter.h - which functions the user wants: -F and -N of `nanoscope record`.
 *
 * A function is recorded if some -F pattern matches its name, or there is no -F, and no -N pattern
 * matches it. The order in which patterns are given does not matter.
 */
#ifndef NSC_RECORD_FILTER_H
#define NSC_RECORD_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "util/match.h"

struct nsc_filter {
    struct nsc_match **include, **exclude; /* each ends with NULL, or is NULL: none */
};

static inline bool nsc_filter_active(const struct nsc_filter *filter)
{
    return filter->include != NULL || filter->exclude != NULL;
}

/* @name: demangled; NULL: unknown (nothing matches it). */
bool nsc_filter_keeps(const struct nsc_filter *filter, const char *name);

#endif
