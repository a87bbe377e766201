/*
 * connections.h - the connections that are open, so that those who only hold them do not keep
 * others out.
 *
 * Called by the server. The HTTP library ends connections that are silent, but not those that say
 * one byte a second; and it has room for so many only.
 */
#ifndef NSC_VIEWER_SERVER_CONNECTIONS_H
#define NSC_VIEWER_SERVER_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_CONNECTIONS_MAX         256u        /* connections at a time */
#define NSC_CONNECTIONS_STRANGERS   192u        /* of these, ones of which nobody knows who it is */
#define NSC_CONNECTIONS_PATIENCE_NS 5000000000u /* to say a request as a whole */

struct nsc_link {
    int fd;         /* the HTTP library's; open as long as the link is in the list */
    uint64_t since; /* when it began, or asked last; by nsc_now_ns() */
    bool known;     /* has shown the cookie or the token */
    bool shut;      /* by us; the library will notice */
    struct nsc_link *newer, *older;
};

struct nsc_connections {
    pthread_mutex_t lock;
    struct nsc_link *newest, *oldest; /* by `since` */
    size_t strangers;                 /* neither known nor shut */
};

void nsc_connections_init(struct nsc_connections *links);
void nsc_connections_destroy(struct nsc_connections *links);

/* A new connection; the oldest stranger has to go if there are too many. NULL without memory. */
struct nsc_link *nsc_connections_add(struct nsc_connections *links, int fd);
/* It is about to be closed. @link may be NULL. */
void nsc_connections_remove(struct nsc_connections *links, struct nsc_link *link);
/* A whole request has come by it. @known: from our page. @link may be NULL. */
void nsc_connections_heard(struct nsc_connections *links, struct nsc_link *link, bool known);
/* End those that have been at it for too long. */
void nsc_connections_look_after(struct nsc_connections *links);

#endif
