/*
 * peer_owner.h - find the user who owns the client end of a loopback connection.
 *
 * Called by the server for each new connection, as every user of the machine can connect to a port.
 */
#ifndef NSC_VIEWER_SERVER_PEER_OWNER_H
#define NSC_VIEWER_SERVER_PEER_OWNER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returned in place of a user id. */
enum {
    NSC_PEER_UNKNOWN = -1, /* the kernel has no sock_diag, or 127.0.0.1 is forwarded from outside */
    NSC_PEER_CLOSED = -2,  /* no process of this network namespace has the socket open now */
};

/**
 * nsc_peer_find_owner - find the user who opened the client end of a connection.
 * @server: address of the server's end, and of its listening socket.
 * @client: address of the client's end.
 * Returns the user id, NSC_PEER_UNKNOWN or NSC_PEER_CLOSED. Context: any thread; some microseconds.
 */
int64_t nsc_peer_find_owner(const struct sockaddr_in *server, const struct sockaddr_in *client);

/**
 * nsc_peer_is_allowed - check that a connection of @owner may use a server that runs as @user.
 * @owner: result of nsc_peer_find_owner().
 * @user: the server's effective user.
 *
 * Allows that user, and root, who can read the trace anyway. An unknown owner is refused if the
 * server runs as root; other users' servers accept it and rely on the token.
 */
bool nsc_peer_is_allowed(int64_t owner, uid_t user);

#endif
