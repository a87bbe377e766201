/*
 * peer.c - the owner of a socket of this machine, as the kernel tells it; see peer.h.
 *
 * Called by the server. Must not wait for anybody: the kernel answers at once.
 */
#include "serve/peer.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 of;
};

static struct question make_question(const struct sockaddr_in *socket,
                                     const struct sockaddr_in *other)
{
    struct question q = {
        .head = {.nlmsg_len = sizeof q,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .of = {.sdiag_family = AF_INET,
               .sdiag_protocol = IPPROTO_TCP,
               .idiag_states = UINT32_MAX,
               .id = {.idiag_sport = socket->sin_port,
                      .idiag_dport = other->sin_port,
                      .idiag_src = {socket->sin_addr.s_addr},
                      .idiag_dst = {other->sin_addr.s_addr},
                      .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };

    return q;
}

/* Returns the user of the answer, or -1 if there is none in it. */
static int64_t read_answer(int netlink)
{
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    ssize_t got = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);

    if (got < (ssize_t)(sizeof answer.head + sizeof(struct inet_diag_msg)) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return -1;
    return ((const struct inet_diag_msg *)NLMSG_DATA(&answer.head))->idiag_uid;
}

static int64_t owner_of(const struct sockaddr_in *socket_address, const struct sockaddr_in *other)
{
    struct question question = make_question(socket_address, other);
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int64_t owner = -1;

    if (netlink < 0)
        return -1;
    if (send(netlink, &question, sizeof question, 0) == (ssize_t)sizeof question)
        owner = read_answer(netlink);
    close(netlink);
    return owner;
}

bool nsc_peer_is_allowed(const struct sockaddr_in *server, const struct sockaddr_in *client)
{
    int64_t owner;

    if (geteuid() == 0)
        return true;
    owner = owner_of(client, server);
    return owner < 0 || owner == 0 || owner == (int64_t)geteuid();
}
