/*
 * peer_owner.c - the owner of the other end of a connection, by sock_diag(7); see peer_owner.h.
 *
 * Called by the server. Does not block: the kernel answers within send().
 */
#include "viewer/server/peer_owner.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK_IFINDEX 1 /* in every network namespace */

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
                      /* Else sockets that are bound to this interface are not found. */
                      .idiag_if = LOOPBACK_IFINDEX,
                      .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };

    return q;
}

/* @other: the answer must be about a connection to it. If there is no such connection, the kernel
 * returns a listening socket with the same port instead. */
static int64_t read_answer(int netlink, const struct sockaddr_in *other)
{
    union {
        struct nlmsghdr head;
        char bytes[1024];
    } answer;
    const struct inet_diag_msg *found = NLMSG_DATA(&answer.head);
    ssize_t got = recv(netlink, &answer, sizeof answer, MSG_DONTWAIT);

    if (got < (ssize_t)(sizeof answer.head + sizeof *found) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY || found->id.idiag_dport != other->sin_port)
        return NSC_PEER_UNKNOWN;
    /* The kernel reports root as the owner of a socket that its last process has closed. */
    return found->idiag_inode != 0 ? (int64_t)found->idiag_uid : NSC_PEER_CLOSED;
}

/* Return the owner of a socket by its address and that of its other end. */
static int64_t ask(int netlink, const struct sockaddr_in *socket, const struct sockaddr_in *other)
{
    struct question question = make_question(socket, other);

    return send(netlink, &question, sizeof question, 0) == (ssize_t)sizeof question
               ? read_answer(netlink, other)
               : NSC_PEER_UNKNOWN;
}

int64_t nsc_peer_find_owner(const struct sockaddr_in *server, const struct sockaddr_in *client)
{
    const struct sockaddr_in nobody = {.sin_family = AF_INET};
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    int64_t owner;

    if (netlink < 0)
        return NSC_PEER_UNKNOWN;
    owner = ask(netlink, client, server);
    /* A kernel that knows our listening socket knows a client's, too, unless that is outside of the
     * network namespace: some virtual machines forward 127.0.0.1. */
    if (owner == NSC_PEER_UNKNOWN && server->sin_addr.s_addr != htonl(INADDR_LOOPBACK) &&
        ask(netlink, server, &nobody) != NSC_PEER_UNKNOWN)
        owner = NSC_PEER_CLOSED;
    close(netlink);
    return owner;
}

bool nsc_peer_is_allowed(int64_t owner, uid_t user)
{
    if (owner == NSC_PEER_UNKNOWN)
        return user != 0;
    return owner == 0 || owner == (int64_t)user;
}
