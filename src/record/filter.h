/*
 * filter.h - which functions the user wants: the options that `nanoscope record`, `start` and
 * `filter` share, and the one parser for them.
 *
 * A function is recorded if some -F pattern matches its name, or there is no -F, and no -N pattern
 * matches it. The order in which patterns are given does not matter.
 */
#ifndef NSC_RECORD_FILTER_H
#define NSC_RECORD_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"
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

/**
 * nsc_filter_add - one more option.
 * @filter: zeroed at first; release with nsc_filter_free(), after a failure too.
 * @option: its long name: `only` or `except`.
 * @value: copied.
 * Returns 0 or -errno with @diag: -ENOENT (no such option), -EINVAL (the value), -ENOMEM.
 */
int nsc_filter_add(struct nsc_filter *filter, const char *option, const char *value,
                   struct nsc_diag *diag);
void nsc_filter_free(struct nsc_filter *filter);

/**
 * nsc_filter_read - a whole filter from its text form, in which it travels to a recorder: the
 * options, each as `name=value` and a NUL.
 * @text, @bytes: hostile; 0 bytes: everything is recorded.
 * @filter: receives it; untouched on failure.
 * Returns 0 or -errno with @diag: -EINVAL, -ENOENT, -ENOMEM.
 */
int nsc_filter_read(const char *text, size_t bytes, struct nsc_filter *filter,
                    struct nsc_diag *diag);

#endif
