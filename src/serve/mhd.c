/* mhd.c - libmicrohttpd by dlopen(); see mhd.h. */
#include "serve/mhd.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LIBRARY "libmicrohttpd.so.12"

int nsc_mhd_load(struct nsc_mhd *mhd, struct nsc_diag *diag)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *found = NULL;

    if (library == NULL)
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, ENOSYS,
            "%s is needed to serve the viewer (Debian: apt install libmicrohttpd12)", LIBRARY);
#define LOOK_UP(function)                                                                          \
    found = dlsym(library, "MHD_" #function);                                                      \
    if (found == NULL)                                                                             \
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS, "%s has no %s: it is too old",       \
                            LIBRARY, "MHD_" #function);                                            \
    memcpy(&mhd->function, &found, sizeof found);
    NSC_MHD_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return 0;
}
