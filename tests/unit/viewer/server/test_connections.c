/* test_connections.c - connections of strangers make room, those of our page stay. */
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"
#include "util/now.h"
#include "viewer/server/connections.h"

struct pair {
    int ours, theirs;
    struct nsc_link *link;
};

static struct pair connect_pair(struct nsc_connections *links)
{
    struct pair p = {0};
    int fds[2] = {-1, -1};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        abort();
    p.ours = fds[0];
    p.theirs = fds[1];
    p.link = nsc_connections_add(links, p.ours);
    return p;
}

static int is_shut(const struct pair *p)
{
    struct pollfd set = {.fd = p->theirs, .events = POLLRDHUP};

    return poll(&set, 1, 0) > 0;
}

static void end(struct nsc_connections *links, struct pair *p)
{
    nsc_connections_remove(links, p->link);
    close(p->ours);
    close(p->theirs);
}

static void test_flood(void)
{
    enum { FLOOD = NSC_CONNECTIONS_STRANGERS + 50 };
    static struct pair many[FLOOD];
    struct nsc_connections links;
    struct pair known, asking;
    size_t shut = 0;

    nsc_connections_init(&links);
    known = connect_pair(&links);
    nsc_connections_heard(&links, known.link, true);
    asking = connect_pair(&links);
    for (size_t i = 0; i < FLOOD; i++) {
        if (i == FLOOD / 2)
            nsc_connections_heard(&links, asking.link, false);
        many[i] = connect_pair(&links);
    }
    for (size_t i = 0; i < FLOOD; i++)
        shut += is_shut(&many[i]) != 0;
    CHECK_U64(shut, FLOOD + 1 - NSC_CONNECTIONS_STRANGERS);
    CHECK(is_shut(&many[0]) && !is_shut(&many[FLOOD - 1])); /* the oldest go first */
    CHECK(!is_shut(&known));
    CHECK(!is_shut(&asking)); /* has asked something meanwhile */
    CHECK_U64(links.strangers, NSC_CONNECTIONS_STRANGERS);
    for (size_t i = 0; i < FLOOD; i++)
        end(&links, &many[i]);
    CHECK_U64(links.strangers, 1);
    end(&links, &asking);
    end(&links, &known);
    CHECK(links.newest == NULL && links.oldest == NULL && links.strangers == 0);
    nsc_connections_destroy(&links);
}

static void test_patience(void)
{
    struct nsc_connections links;
    struct pair slow, known, fresh;

    nsc_connections_init(&links);
    slow = connect_pair(&links);
    known = connect_pair(&links);
    nsc_connections_heard(&links, known.link, true);
    fresh = connect_pair(&links);
    slow.link->since -= NSC_CONNECTIONS_PATIENCE_NS + 1;
    known.link->since -= NSC_CONNECTIONS_PATIENCE_NS + 1;
    nsc_connections_look_after(&links);
    CHECK(is_shut(&slow));
    CHECK(!is_shut(&known));
    CHECK(!is_shut(&fresh));
    nsc_connections_look_after(&links);
    CHECK_U64(links.strangers, 1);
    end(&links, &slow);
    end(&links, &known);
    end(&links, &fresh);
    nsc_connections_remove(&links, NULL);
    nsc_connections_heard(&links, NULL, true);
    nsc_connections_destroy(&links);
}

int main(void)
{
    test_flood();
    test_patience();
    return t_done();
}
