/*
 * wrap.h - how libnanoscope.so takes the place of functions of other libraries, at run time only;
 * see libnanoscope.map. Internal to runtime/.
 */
#ifndef NSC_LINUX_INTERPOSE_WRAP_H
#define NSC_LINUX_INTERPOSE_WRAP_H

#include <dlfcn.h>

#include "linux/session/current_session.h"

/* Weak: libnanoscope.so names no libc as its dependency, the program brings one. */
#pragma weak dlerror
#pragma weak dlsym

/* Versions that the C library's functions have had since it knows the machine. */
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

/* Exports @function, which must have default visibility, as @name of @version. */
#define NSC_WRAP(function, name, version)                                                          \
    __asm__(".symver " #function ", " name "@" version ", remove")

/*
 * The next definition of @name behind libnanoscope.so, or NULL; remembered in @cache.
 *
 * Constructors ask for every name, because dlsym() is not for the middle of a program: it waits for
 * whoever is loading a library, who may be waiting for us (a constructor that joins a thread), and
 * it resets the program's dlerror(). Several threads may ask at once, with the same result.
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

/* What could not be found is no business of the program's. */
static inline void nsc_wrap_forget_errors(void)
{
    (void)dlerror();
}

#endif
