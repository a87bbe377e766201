/*
 * same_function.h - which functions of different traces are the same; function ids of different
 * traces are unrelated.
 *
 * Called by trace_diff.c and run_statistics.c. Functions are the same if their names are equal. If
 * several functions of one trace share a name, their modules and source files (last path
 * components) must be equal as well. The program itself may have another name in each trace.
 * Functions that these do not tell apart are treated as one.
 */
#ifndef NSC_ANALYZE_COMPARE_SAME_FUNCTION_H
#define NSC_ANALYZE_COMPARE_SAME_FUNCTION_H

#include "trace/read/reader.h"

/* The properties that identify a function across traces. */
struct nsc_same_function {
    const char *name, *module, *file; /* borrowed from the trace; module and file may be "" */
};

/* The names of the modules, as nsc_same_function_find() needs them, to be released with free();
 * NULL if out of memory. */
const char **nsc_same_function_modules(const struct nsc_trace *t);

struct nsc_same_function nsc_same_function_find(const struct nsc_trace *t,
                                                const char *const *modules, uint32_t function);

/* Compare by module and file, like strcmp(). */
int nsc_same_function_compare_places(const struct nsc_same_function *x,
                                     const struct nsc_same_function *y);
/* Compare by name, then by module and file. */
int nsc_same_function_compare(const struct nsc_same_function *x, const struct nsc_same_function *y);

#endif
