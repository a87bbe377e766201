/* connections.c - see connections.h. */
#include "viewer/server/connections.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "util/now.h"

void nsc_connections_init(struct nsc_connections *links)
{
    *links = (struct nsc_connections){0};
    pthread_mutex_init(&links->lock, NULL);
}

void nsc_connections_destroy(struct nsc_connections *links)
{
    while (links->oldest != NULL)
        nsc_connections_remove(links, links->oldest);
    pthread_mutex_destroy(&links->lock);
}

static bool is_stranger(const struct nsc_link *link)
{
    return !link->known && !link->shut;
}

static void unhook(struct nsc_connections *links, struct nsc_link *link)
{
    *(link->newer ? &link->newer->older : &links->newest) = link->older;
    *(link->older ? &link->older->newer : &links->oldest) = link->newer;
    links->strangers -= is_stranger(link);
}

static void hook(struct nsc_connections *links, struct nsc_link *link)
{
    link->newer = NULL;
    link->older = links->newest;
    *(link->older ? &link->older->newer : &links->oldest) = link;
    links->newest = link;
    links->strangers += is_stranger(link);
}

/* Shut a connection down; the HTTP library then closes it. */
static void shut(struct nsc_connections *links, struct nsc_link *link)
{
    shutdown(link->fd, SHUT_RDWR);
    links->strangers -= is_stranger(link);
    link->shut = true;
}

/* Shut down strangers with `since` < @before, oldest first, until at most @spared are left. */
static void shut_old(struct nsc_connections *links, uint64_t before, size_t spared)
{
    struct nsc_link *link = links->oldest;

    for (; link != NULL && link->since < before && links->strangers > spared; link = link->newer)
        if (is_stranger(link))
            shut(links, link);
}

struct nsc_link *nsc_connections_add(struct nsc_connections *links, int fd)
{
    struct nsc_link *link = calloc(1, sizeof *link);

    if (link == NULL)
        return NULL;
    link->fd = fd;
    link->since = nsc_now_ns();
    pthread_mutex_lock(&links->lock);
    hook(links, link);
    shut_old(links, UINT64_MAX, NSC_CONNECTIONS_STRANGERS);
    pthread_mutex_unlock(&links->lock);
    return link;
}

void nsc_connections_remove(struct nsc_connections *links, struct nsc_link *link)
{
    if (link == NULL)
        return;
    pthread_mutex_lock(&links->lock);
    unhook(links, link);
    pthread_mutex_unlock(&links->lock);
    free(link);
}

void nsc_connections_heard(struct nsc_connections *links, struct nsc_link *link, bool known)
{
    if (link == NULL)
        return;
    pthread_mutex_lock(&links->lock);
    unhook(links, link);
    link->since = nsc_now_ns();
    link->known |= known;
    hook(links, link);
    pthread_mutex_unlock(&links->lock);
}

void nsc_connections_look_after(struct nsc_connections *links)
{
    pthread_mutex_lock(&links->lock);
    shut_old(links, nsc_now_ns() - NSC_CONNECTIONS_PATIENCE_NS, 0);
    pthread_mutex_unlock(&links->lock);
}
