/*
 * dynlib.h - shared libraries that are loaded when they are needed, and not linked: where nobody
 * needs them, they need not be there.
 *
 * Called by the rooms that each wrap one library.
 */
#ifndef NSC_UTIL_OS_DYNLIB_H
#define NSC_UTIL_OS_DYNLIB_H

#include <stddef.h>

#include "util/diag.h"

/**
 * nsc_dynlib_load - load a library and find functions in it. It stays loaded.
 * @file: "libfoo.so.1".
 * @need: what for, and what has it: "to do this (Debian: apt install libfoo1)".
 * @names: @count names of functions.
 * @functions: receives them: @count pointers, one behind the other.
 * Returns 0, or -ENOSYS with @diag: it is not installed, or lacks one.
 */
int nsc_dynlib_load(const char *file, const char *need, const char *const *names, size_t count,
                    void *functions, struct nsc_diag *diag);

#endif
