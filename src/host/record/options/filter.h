/*
 * filter.h - the filter of a recording: the options that `nanoscope record`, `start` and `filter`
 * share, and their parser.
 *
 * A function is recorded if it passes three tests: by name (-F, -N), by source file (--file,
 * --no-file) and by module (--module, --no-module). A test is passed if some pattern of the first
 * option matches, or if there is none, and no pattern of the second option matches. The order of
 * the patterns does not matter.
 *
 * The other options select among the calls of these functions: see filter_history.h.
 */
#ifndef NSC_RECORD_OPTIONS_FILTER_H
#define NSC_RECORD_OPTIONS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"
#include "util/text/pattern.h"

/* Lists of patterns end with NULL; NULL: no patterns. */
struct nsc_filter_test {
    struct nsc_pattern **include, **exclude;
};

struct nsc_filter {
    struct nsc_filter_test names, files, modules;
    struct nsc_pattern *trigger; /* NULL: record from the start */
    uint32_t trigger_nth;        /* which call of the trigger in a thread, from 1; 0: each */
    struct nsc_pattern **stoppers, **under;
    struct nsc_pattern **threads; /* by name, or by thread id */
    uint32_t depth;               /* 0: any */
    uint64_t min_duration_ns;
};

/* True if the filter selects functions. */
static inline bool nsc_filter_by_function(const struct nsc_filter *filter)
{
    return filter->names.include != NULL || filter->names.exclude != NULL ||
           filter->files.include != NULL || filter->files.exclude != NULL ||
           filter->modules.include != NULL || filter->modules.exclude != NULL;
}

/* True if the filter selects calls. */
static inline bool nsc_filter_by_call(const struct nsc_filter *filter)
{
    return filter->trigger != NULL || filter->under != NULL || filter->threads != NULL ||
           filter->depth != 0 || filter->min_duration_ns != 0;
}

/* The duration in ns below which a call and everything that it called can be dropped at once,
 * without another lookup of their functions; 0: there is none. */
static inline uint64_t nsc_filter_rewind_ns(const struct nsc_filter *filter)
{
    return filter->trigger == NULL && filter->stoppers == NULL && filter->under == NULL
               ? filter->min_duration_ns
               : 0;
}

/**
 * nsc_filter_add - add one option.
 * @filter: zero-initialized at first; release with nsc_filter_free(), after a failure too.
 * @option: its long name, as in docs/man/filters.md.
 * @value: copied.
 * Returns 0 or -errno with @diag: -ENOENT (no such option), -EINVAL (the value), -ENOMEM.
 */
int nsc_filter_add(struct nsc_filter *filter, const char *option, const char *value,
                   struct nsc_diag *diag);
/* Checks the options together: -EINVAL with @diag for a stopper without a trigger. */
int nsc_filter_check(const struct nsc_filter *filter, struct nsc_diag *diag);
void nsc_filter_free(struct nsc_filter *filter);

/**
 * nsc_filter_read - parse a whole filter from the text form in which it is sent to a recorder: the
 * options, each as `name=value` and a NUL.
 * @text, @bytes: untrusted; 0 bytes: everything is recorded.
 * @filter: receives it; untouched on failure.
 * Returns 0 or -errno with @diag: -EINVAL, -ENOENT, -ENOMEM.
 */
int nsc_filter_read(const char *text, size_t bytes, struct nsc_filter *filter,
                    struct nsc_diag *diag);

/* Formats the filter as command line options, for display and for the trace. Returns a malloc'ed
 * string, "" for a filter that excludes nothing; NULL if memory runs out. */
char *nsc_filter_text(const struct nsc_filter *filter);

/* True if a name, a source file or a module's path passes its test. NULL: unknown, and no pattern
 * matches it. */
bool nsc_filter_keeps_name(const struct nsc_filter *filter, const char *name);
bool nsc_filter_keeps_file(const struct nsc_filter *filter, const char *path);
bool nsc_filter_keeps_module(const struct nsc_filter *filter, const char *path);
/* True if the filter keeps a thread with that name and id. */
bool nsc_filter_keeps_thread(const struct nsc_filter *filter, const char *name, uint32_t tid);

/* The roles of a function in the filter; a set. */
enum nsc_filter_role {
    NSC_FILTER_KEPT = 1, /* it passes the three tests */
    NSC_FILTER_TRIGGER = 2,
    NSC_FILTER_STOPPER = 4,
    NSC_FILTER_CALLER = 8, /* matches --under */
};

/* Returns the roles that depend on the name: all but KEPT. NULL: the name is unknown. */
uint8_t nsc_filter_roles(const struct nsc_filter *filter, const char *name);

#endif
