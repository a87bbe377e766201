/*
 * connections.h - list of open connections, which closes those that send no complete request.
 *
 * Called by the server. The HTTP library limits the number of connections. It closes idle ones, but
 * not a client that sends one byte per second (slowloris): that could lock out all others.
 */
#ifndef NSC_VIEWER_SERVER_CONNECTIONS_H
#define NSC_VIEWER_SERVER_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_CONNECTIONS_MAX         256u        /* open connections */
#define NSC_CONNECTIONS_STRANGERS   192u        /* of these, unauthenticated ones */
#define NSC_CONNECTIONS_PATIENCE_NS 5000000000u /* for a stranger to send a complete request */

struct nsc_link {
    int fd;         /* owned by the HTTP library; open as long as the link is in the list */
    uint64_t since; /* time of its start or of its last request; nsc_now_ns() */
    bool known;     /* authenticated: has sent the cookie or the token */
    bool shut;      /* shut down by this room; the HTTP library will close it */
    struct nsc_link *newer, *older;
};

struct nsc_connections {
    pthread_mutex_t lock;
    struct nsc_link *newest, *oldest; /* by `since` */
    size_t strangers;                 /* number of links that are neither known nor shut */
};

void nsc_connections_init(struct nsc_connections *links);
void nsc_connections_destroy(struct nsc_connections *links);

/* Add a new connection; if there are too many strangers, shut down the oldest. Returns the link, or
 * NULL if out of memory. */
struct nsc_link *nsc_connections_add(struct nsc_connections *links, int fd);
/* Remove and free a connection before the HTTP library closes it. @link may be NULL. */
void nsc_connections_remove(struct nsc_connections *links, struct nsc_link *link);
/* Note that a connection sent a complete request. @known: it was authenticated. @link may be NULL.
 */
void nsc_connections_heard(struct nsc_connections *links, struct nsc_link *link, bool known);
/* Shut down strangers without a complete request for NSC_CONNECTIONS_PATIENCE_NS. Call it regularly
 * (nsc_serve_look_after()). */
void nsc_connections_look_after(struct nsc_connections *links);

#endif
