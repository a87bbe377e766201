/*
 * wrap.h - interposes functions of other libraries, at run time only; see libnanoscope.map.
 * Internal to target/linux.
 */
#ifndef NSC_LINUX_INTERPOSE_WRAP_H
#define NSC_LINUX_INTERPOSE_WRAP_H

#include <dlfcn.h>

#include "linux/session/current_session.h"

/* Weak: libnanoscope.so does not depend on a libc; the program brings one. */
#pragma weak dlerror
#pragma weak dlsym

/* Symbol versions of the C library's functions since it supports the machine. */
#if defined(__x86_64__)
#define NSC_WRAP_GLIBC         "GLIBC_2.2.5"
#define NSC_WRAP_GLIBC_CHK     "GLIBC_2.11"
#define NSC_WRAP_GLIBC_SETNAME "GLIBC_2.12"
#else
#define NSC_WRAP_GLIBC         "GLIBC_2.17"
#define NSC_WRAP_GLIBC_CHK     "GLIBC_2.17"
#define NSC_WRAP_GLIBC_SETNAME "GLIBC_2.17"
#endif
#define NSC_WRAP_CXXABI "CXXABI_1.3"

/* Export @function, which must have default visibility, as @name of @version. */
#define NSC_WRAP(function, name, version)                                                          \
    __asm__(".symver " #function ", " name "@" version ", remove")

/*
 * Return the next definition of @name after libnanoscope.so, or NULL; caches it in @cache.
 *
 * Constructors look up every name, because dlsym() should not be called later. It waits for a
 * thread that loads a library, which may itself wait for the caller (a constructor that joins a
 * thread). It also resets the program's dlerror(). Several threads may do this at once, with the
 * same result.
 */
static inline void *nsc_wrap_real(void **cache, const char *name)
{
    void *found = NSC_LOAD(cache);

    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        NSC_STORE(cache, found);
    }
    return found;
}

/* Clear dlerror(): the program must not see failures of lookups here. */
static inline void nsc_wrap_forget_errors(void)
{
    (void)dlerror();
}

#endif
