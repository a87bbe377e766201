/*
 * same_function.h - which functions of different traces are the same; their ids say nothing about
 * that.
 *
 * Called by diff and runs. Functions are the same if their names are. Where several functions of
 * one of the traces share a name, their modules and source files (last parts of the paths) must be
 * the same, too; the program itself may be called differently. Those that even this does not tell
 * apart are taken for one.
 */
#ifndef NSC_ANALYZE_COMPARE_SAME_FUNCTION_H
#define NSC_ANALYZE_COMPARE_SAME_FUNCTION_H

#include "trace/read/reader.h"

/* What a function is recognised by. */
struct nsc_same_function {
    const char *name, *module, *file; /* borrowed from the trace; module and file may be "" */
};

/* The modules' names as nsc_same_function_find() wants them, for free(); NULL if there is no
 * memory. */
const char **nsc_same_function_modules(const struct nsc_trace *t);

struct nsc_same_function nsc_same_function_find(const struct nsc_trace *t,
                                                const char *const *modules, uint32_t function);

/* By module and file; as strcmp(). */
int nsc_same_function_compare_places(const struct nsc_same_function *x,
                                     const struct nsc_same_function *y);
/* By name, then by place. */
int nsc_same_function_compare(const struct nsc_same_function *x, const struct nsc_same_function *y);

#endif
