/*
 * wrap.h - how libnanoscope.so takes the place of functions of other libraries, at run time only;
 * see libnanoscope.map. Internal to runtime/.
 */
#ifndef NSC_RUNTIME_WRAP_H
#define NSC_RUNTIME_WRAP_H

/* Versions that the C library's functions have had since it knows the machine. */
#if defined(__x86_64__)
#define NSC_WRAP_GLIBC     "GLIBC_2.2.5"
#define NSC_WRAP_GLIBC_CHK "GLIBC_2.11"
#else
#define NSC_WRAP_GLIBC     "GLIBC_2.17"
#define NSC_WRAP_GLIBC_CHK "GLIBC_2.17"
#endif
#define NSC_WRAP_CXXABI "CXXABI_1.3"

/* Exports @function, which must have default visibility, as @name of @version. */
#define NSC_WRAP(function, name, version)                                                          \
    __asm__(".symver " #function ", " name "@" version ", remove")

#endif
