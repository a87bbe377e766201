/* libmicrohttpd.c - see libmicrohttpd.h. */
#include "viewer/server/libmicrohttpd/libmicrohttpd.h"

#include "util/os/dynlib.h"

int nsc_libmicrohttpd_load(struct nsc_mhd *mhd, struct nsc_diag *diag)
{
    static const char *const names[] = {
#define NAME(function) "MHD_" #function,
        NSC_MHD_FUNCTIONS(NAME)
#undef NAME
    };

    _Static_assert(sizeof *mhd == sizeof names, "a pointer for each name");
    return nsc_dynlib_load("libmicrohttpd.so.12",
                           "to serve the viewer (Debian: apt install libmicrohttpd12)", names,
                           sizeof names / sizeof names[0], mhd, diag);
}
