/*
 * libmicrohttpd.h - libmicrohttpd, loaded when a server is started and not before.
 *
 * Linked, it and the ten libraries that it brings would cost each start of `nanoscope` two
 * milliseconds, also the recorder's; and a program without it would not start at all.
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
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name */
#define NSC_MHD_MEMBER(name) __typeof__(MHD_##name) *name;
    NSC_MHD_FUNCTIONS(NSC_MHD_MEMBER)
#undef NSC_MHD_MEMBER
};

/**
 * nsc_libmicrohttpd_load - the library's functions.
 * Returns 0, or -ENOSYS with @diag: it is not installed, or has not what is needed. It stays
 * loaded.
 */
int nsc_libmicrohttpd_load(struct nsc_mhd *mhd, struct nsc_diag *diag);

#endif
