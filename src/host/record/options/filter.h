/*
 * filter.h - what the user wants recorded: the options that `nanoscope record`, `start` and
 * `filter` share, and the one parser for them.
 *
 * A function is recorded if it passes all three tests: by its name (-F, -N), by its source file
 * (--file, --no-file) and by its module (--module, --no-module). A test is passed by what some
 * pattern of the first option fits, or by everything if there is none, unless a pattern of the
 * second fits. The order in which patterns are given does not matter.
 *
 * The other options choose among the calls of these functions: see filter_history.h.
 */
#ifndef NSC_RECORD_OPTIONS_FILTER_H
#define NSC_RECORD_OPTIONS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"
#include "util/text/pattern.h"

/* Lists end with NULL, or are NULL: none. */
struct nsc_filter_test {
    struct nsc_pattern **include, **exclude;
};

struct nsc_filter {
    struct nsc_filter_test names, files, modules;
    struct nsc_pattern *trigger; /* NULL: record from the start */
    uint32_t trigger_nth;        /* which call of it in a thread, from 1; 0: each */
    struct nsc_pattern **stoppers, **under;
    struct nsc_pattern **threads; /* by name, or by number */
    uint32_t depth;               /* 0: any */
    uint64_t min_duration_ns;
};

/* Does it choose among functions? */
static inline bool nsc_filter_by_function(const struct nsc_filter *filter)
{
    return filter->names.include != NULL || filter->names.exclude != NULL ||
           filter->files.include != NULL || filter->files.exclude != NULL ||
           filter->modules.include != NULL || filter->modules.exclude != NULL;
}

/* Does it choose among calls? */
static inline bool nsc_filter_by_call(const struct nsc_filter *filter)
{
    return filter->trigger != NULL || filter->under != NULL || filter->threads != NULL ||
           filter->depth != 0 || filter->min_duration_ns != 0;
}

/* The duration below which a call and all that it called can be forgotten at once, without another
 * look at their functions; 0: there is none. */
static inline uint64_t nsc_filter_rewind_ns(const struct nsc_filter *filter)
{
    return filter->trigger == NULL && filter->stoppers == NULL && filter->under == NULL
               ? filter->min_duration_ns
               : 0;
}

/**
 * nsc_filter_add - one more option.
 * @filter: zeroed at first; release with nsc_filter_free(), after a failure too.
 * @option: its long name, as in docs/man/filters.md.
 * @value: copied.
 * Returns 0 or -errno with @diag: -ENOENT (no such option), -EINVAL (the value), -ENOMEM.
 */
int nsc_filter_add(struct nsc_filter *filter, const char *option, const char *value,
                   struct nsc_diag *diag);
/* What no single option shows: -EINVAL with @diag for a stopper that nothing can start. */
int nsc_filter_check(const struct nsc_filter *filter, struct nsc_diag *diag);
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

/* The filter as options on a command line, for people and for the trace; malloc'ed, "" if nothing
 * is left out; NULL without memory. */
char *nsc_filter_text(const struct nsc_filter *filter);

/* Does a name, a source file or a module's path pass its test? NULL: it is unknown, and no pattern
 * fits. */
bool nsc_filter_keeps_name(const struct nsc_filter *filter, const char *name);
bool nsc_filter_keeps_file(const struct nsc_filter *filter, const char *path);
bool nsc_filter_keeps_module(const struct nsc_filter *filter, const char *path);
/* Is a thread of that name and number wanted? */
bool nsc_filter_keeps_thread(const struct nsc_filter *filter, const char *name, uint32_t tid);

/* What a function is to the filter, as a set. */
enum nsc_filter_role {
    NSC_FILTER_KEPT = 1, /* it passes the three tests */
    NSC_FILTER_TRIGGER = 2,
    NSC_FILTER_STOPPER = 4,
    NSC_FILTER_CALLER = 8, /* of --under */
};

/* The roles that go by name: all but KEPT. NULL: the name is unknown. */
uint8_t nsc_filter_roles(const struct nsc_filter *filter, const char *name);

#endif
