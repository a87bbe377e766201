/*
 * libmicrohttpd.h - libmicrohttpd, loaded at run time when a server is started.
 *
 * If it were linked, it and its ten dependencies would add two milliseconds to every start of
 * `nanoscope`, including the recorder's. Also, nanoscope would not start where it is not installed.
 */
#ifndef NSC_VIEWER_SERVER_LIBMICROHTTPD_LIBMICROHTTPD_H
#define NSC_VIEWER_SERVER_LIBMICROHTTPD_LIBMICROHTTPD_H

#include <microhttpd.h>

#include "util/diag.h"

#define NSC_MHD_FUNCTIONS(x)                                                                       \
    x(start_daemon) x(stop_daemon) x(get_connection_info) x(get_connection_values)                 \
        x(suspend_connection) x(resume_connection) x(queue_response) x(add_response_header)        \
            x(create_response_from_buffer) x(destroy_response)

struct nsc_mhd {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member */
#define NSC_MHD_MEMBER(name) __typeof__(MHD_##name) *name;
    NSC_MHD_FUNCTIONS(NSC_MHD_MEMBER)
#undef NSC_MHD_MEMBER
};

/**
 * nsc_libmicrohttpd_load - load the library and look up its functions. It stays loaded.
 * @mhd: receives the functions.
 * Returns 0, or -ENOSYS with @diag: the library is not installed, or lacks a function.
 */
int nsc_libmicrohttpd_load(struct nsc_mhd *mhd, struct nsc_diag *diag);

#endif
