/*
 * serve.h - the server of `nanoscope open`: a trace and the page that shows it, over HTTP, for one
 * user of this machine.
 *
 * Called by cli/export/cmd_open.c. Who gets in and why is in docs/adr/017-server.md, what can be
 * asked in docs/viewer-protocol.md. Prints nothing.
 */
#ifndef NSC_VIEWER_SERVER_SERVE_H
#define NSC_VIEWER_SERVER_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/functions/category.h"
#include "util/diag.h"

struct nsc_serve;

/* A trace file; every worker reads it through a descriptor of its own. */
struct nsc_serve_trace {
    int fd;           /* of a .nst file */
    const char *name; /* as it is shown */
    bool growing;     /* somebody records into it: look again from time to time */
    /* Called with a growing trace that was just opened, to give its functions names; may be NULL.
     * Context: any thread, several at once. */
    void (*name_functions)(void *context, struct nsc_trace *t);
    void *context;
};

struct nsc_serve_options {
    size_t size;                          /* of this structure */
    const struct nsc_serve_trace *traces; /* borrowed until nsc_serve_stop() */
    size_t trace_count;                   /* 1, or 2 to compare */
    const char *const *source_folders;    /* where sources may be read, beside the working one */
    size_t source_folder_count;
    const struct nsc_category_rules *rules; /* of functions' categories; NULL: the ready ones */
    uint16_t port;                          /* 0: any that is free */
};

/**
 * nsc_serve_start - listen, and answer from now on, in threads of its own.
 * @out: receives the server; nsc_serve_stop() ends it.
 * Returns 0, or -errno with @diag: -EADDRINUSE, -ENOSYS (built without the client or the library,
 * or the library is not installed), -ENOMEM, and open(2)'s of a folder for sources.
 */
int nsc_serve_start(const struct nsc_serve_options *options, struct nsc_serve **out,
                    struct nsc_diag *diag);

/* "http://127.0.0.1:40123/#token=...": a secret, for the user only. */
const char *nsc_serve_address(const struct nsc_serve *server);

/* The same by way of another page: browsers send that they come from another site then, which only
 * this address allows. A secret, too. */
const char *nsc_serve_entry_address(const struct nsc_serve *server);

/* Whether a page has shown the token. */
bool nsc_serve_is_logged_in(struct nsc_serve *server);

/* In place of a user's number. */
enum {
    NSC_SERVE_REFUSED_NONE = -1,    /* no connection was refused */
    NSC_SERVE_REFUSED_UNKNOWN = -2, /* the kernel does not say whose it was */
};

/* The user whose connection was refused last, as it is not the server's. */
int64_t nsc_serve_refused_user(struct nsc_serve *server);

/* To be called about ten times a second: ends connections that are slow to say what they want, and
 * notices clients that went away. */
void nsc_serve_look_after(struct nsc_serve *server);

/* How long nobody has asked anything; 0 while something is being answered. */
uint64_t nsc_serve_idle_ns(struct nsc_serve *server);

/* End all connections and threads, and free everything. */
void nsc_serve_stop(struct nsc_serve *server);

#endif
