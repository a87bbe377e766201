/*
 * serve.h - the HTTP server of `nanoscope open`: serves a trace and the viewer to one user of this
 * machine.
 *
 * Called by cli/export/cmd_open.c. Access rules: docs/adr/017-server.md; requests:
 * docs/viewer-protocol.md. Must not print.
 */
#ifndef NSC_VIEWER_SERVER_SERVE_H
#define NSC_VIEWER_SERVER_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/functions/category.h"
#include "util/diag.h"

struct nsc_serve;

/* A trace file. Each worker reads it through its own copy of the descriptor. */
struct nsc_serve_trace {
    int fd;           /* of a .nst file */
    const char *name; /* shown to the user */
    bool growing;     /* a recorder may be writing it: reopen it when it has grown */
    /* Called with a growing trace after it was opened, to look up function names; may be NULL.
     * Context: any thread, several at a time. */
    void (*name_functions)(void *context, struct nsc_trace *t);
    void *context;
};

struct nsc_serve_options {
    size_t size;                          /* of this structure */
    const struct nsc_serve_trace *traces; /* borrowed until nsc_serve_stop() */
    size_t trace_count;                   /* 1, or 2 to compare */
    const char *const *source_folders;    /* with source files, in addition to the working folder */
    size_t source_folder_count;
    const struct nsc_category_rules *rules; /* of function categories; NULL: the built-in ones */
    uint16_t port; /* of 127.0.0.1; 0: a free port of a random loopback address */
};

/**
 * nsc_serve_start - start the server: listens, and answers requests in its own threads.
 * @out: receives the server; stop it with nsc_serve_stop().
 * Returns 0, or -errno with @diag: those of nsc_listener_open(), -ENOSYS (built without the viewer
 * or libmicrohttpd, or that library is not installed), -ENOMEM, and open(2)'s of a folder with
 * sources.
 */
int nsc_serve_start(const struct nsc_serve_options *options, struct nsc_serve **out,
                    struct nsc_diag *diag);

/* Return the address, "http://127.9.8.7:40123/#token=...": secret, only for the user. */
const char *nsc_serve_address(const struct nsc_serve *server);

/* Return the address for a redirect from another page (entry_file.h). Browsers mark such a request
 * as cross-site, which the server accepts for this address only. It is secret, too. */
const char *nsc_serve_entry_address(const struct nsc_serve *server);

/* Return true if a page has sent the token. */
bool nsc_serve_is_logged_in(struct nsc_serve *server);

/* Returned in place of a user id. */
enum {
    NSC_SERVE_REFUSED_NONE = -1,    /* no connection was refused */
    NSC_SERVE_REFUSED_UNKNOWN = -2, /* the kernel does not report the user */
};

/* Return the user whose connection was refused last, for not being the server's user. */
int64_t nsc_serve_refused_user(struct nsc_serve *server);

/* Close connections that send no complete request in time, cancel requests of clients that closed
 * their connection, and return free memory to the system. Call it about ten times per second. */
void nsc_serve_look_after(struct nsc_serve *server);

/* Return the time since the last request in ns; 0 while a request is being answered. */
uint64_t nsc_serve_idle_ns(struct nsc_serve *server);

/* Close all connections, end all threads, and free the server. */
void nsc_serve_stop(struct nsc_serve *server);

#endif
