/*
 * without.c - stub of serve.h for builds without libmicrohttpd: starting a server fails.
 *
 * The Makefile uses it in place of http_server.c.
 */
#include <errno.h>

#include "viewer/server/serve.h"

int nsc_serve_start(const struct nsc_serve_options *options, struct nsc_serve **out,
                    struct nsc_diag *diag)
{
    (void)options;
    (void)out;
    return nsc_diag_set(
        diag, NSC_DIAG_NO_OFFSET, ENOSYS,
        "nanoscope was built without libmicrohttpd: install it (Debian: apt install "
        "libmicrohttpd-dev) and build again");
}

const char *nsc_serve_address(const struct nsc_serve *server)
{
    (void)server;
    return "";
}

const char *nsc_serve_entry_address(const struct nsc_serve *server)
{
    (void)server;
    return "";
}

bool nsc_serve_is_logged_in(struct nsc_serve *server)
{
    (void)server;
    return false;
}

int64_t nsc_serve_refused_user(struct nsc_serve *server)
{
    (void)server;
    return NSC_SERVE_REFUSED_NONE;
}

void nsc_serve_look_after(struct nsc_serve *server)
{
    (void)server;
}

uint64_t nsc_serve_idle_ns(struct nsc_serve *server)
{
    (void)server;
    return 0;
}

void nsc_serve_stop(struct nsc_serve *server)
{
    (void)server;
}
