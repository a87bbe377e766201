/* filter.c - see filter.h. */
#include "record/filter.h"

static bool any_matches(struct nsc_match *const *patterns, const char *name)
{
    if (patterns == NULL || name == NULL)
        return false;
    for (; *patterns != NULL; patterns++)
        if (nsc_match_test(*patterns, name))
            return true;
    return false;
}

bool nsc_filter_keeps(const struct nsc_filter *filter, const char *name)
{
    if (filter->include != NULL && !any_matches(filter->include, name))
        return false;
    return !any_matches(filter->exclude, name);
}
