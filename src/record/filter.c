/* filter.c - see filter.h. */
#include "record/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_MAX = 32 };

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

static int add_pattern(struct nsc_match ***list, const char *option, const char *pattern,
                       struct nsc_diag *diag)
{
    struct nsc_diag fault;
    struct nsc_match **longer, *match;
    size_t count = 0;
    int error = nsc_match_compile(pattern, &match, &fault);

    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "--%s: %s", option, fault.message);
    while (*list != NULL && (*list)[count] != NULL)
        count++;
    longer = realloc(*list, (count + 2) * sizeof(struct nsc_match *));
    if (longer == NULL) {
        nsc_match_free(match);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    longer[count] = match;
    longer[count + 1] = NULL;
    *list = longer;
    return 0;
}

int nsc_filter_add(struct nsc_filter *filter, const char *option, const char *value,
                   struct nsc_diag *diag)
{
    if (strcmp(option, "only") == 0)
        return add_pattern(&filter->include, option, value, diag);
    if (strcmp(option, "except") == 0)
        return add_pattern(&filter->exclude, option, value, diag);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT, "a filter has no option --%s", option);
}

static void free_patterns(struct nsc_match **list)
{
    size_t i;

    for (i = 0; list != NULL && list[i] != NULL; i++)
        nsc_match_free(list[i]);
    free(list);
}

void nsc_filter_free(struct nsc_filter *filter)
{
    free_patterns(filter->include);
    free_patterns(filter->exclude);
    *filter = (struct nsc_filter){0};
}

int nsc_filter_read(const char *text, size_t bytes, struct nsc_filter *filter,
                    struct nsc_diag *diag)
{
    const char *at = text, *end = text + bytes;
    struct nsc_filter read = {0};
    char option[OPTION_MAX];
    int error = 0;

    while (at < end && error == 0) {
        const char *stop = memchr(at, 0, (size_t)(end - at));
        const char *equals = stop != NULL ? memchr(at, '=', (size_t)(stop - at)) : NULL;

        if (equals == NULL || equals - at >= OPTION_MAX) {
            error = nsc_diag_set(diag, (uint64_t)(at - text), EINVAL,
                                 "name=value and a NUL was expected in a filter");
            break;
        }
        memcpy(option, at, (size_t)(equals - at));
        option[equals - at] = 0;
        error = nsc_filter_add(&read, option, equals + 1, diag);
        at = stop + 1;
    }
    if (error != 0)
        nsc_filter_free(&read);
    else
        *filter = read;
    return error;
}
