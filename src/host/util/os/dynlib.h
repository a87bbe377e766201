/*
 * dynlib.h - load optional shared libraries at run time.
 *
 * nanoscope starts without them; only the features that need them require them. Called by the
 * rooms that each wrap one library.
 */
#ifndef NSC_UTIL_OS_DYNLIB_H
#define NSC_UTIL_OS_DYNLIB_H

#include <stddef.h>

#include "util/diag.h"

/**
 * nsc_dynlib_load - load a library and look up functions in it. It stays loaded.
 * @file: "libfoo.so.1".
 * @need: its purpose and its package, for the message: "to do this (Debian: apt install libfoo1)".
 * @names: @count names of functions.
 * @functions: receives an array of @count function pointers.
 * Returns 0, or -ENOSYS with @diag: the library is not installed, or lacks a function.
 */
int nsc_dynlib_load(const char *file, const char *need, const char *const *names, size_t count,
                    void *functions, struct nsc_diag *diag);

#endif
