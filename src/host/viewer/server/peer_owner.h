/*
 * peer_owner.h - which user owns the other end of a connection over the loopback interface?
 *
 * Called by the server for each new connection: every user of the machine can connect to a port.
 */
#ifndef NSC_VIEWER_SERVER_PEER_OWNER_H
#define NSC_VIEWER_SERVER_PEER_OWNER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In place of a user's number. */
enum {
    NSC_PEER_UNKNOWN = -1, /* the kernel has no sock_diag, or does not find the socket */
    NSC_PEER_CLOSED = -2,  /* no process has the socket open any more */
};

/**
 * nsc_peer_find_owner - find the user who opened the other end of a connection.
 * @server: our end of the connection.
 * @client: the other end.
 * Returns the user's number, NSC_PEER_UNKNOWN or NSC_PEER_CLOSED. Context: any thread; some
 * microseconds.
 */
int64_t nsc_peer_find_owner(const struct sockaddr_in *server, const struct sockaddr_in *client);

/**
 * nsc_peer_is_allowed - may a connection of @owner use a server that runs as @user?
 * @owner: what nsc_peer_find_owner() returned.
 * @user: the server's effective user.
 *
 * Only that user and root, who can read the trace anyway. An unknown owner is refused if the server
 * runs as root; other users' servers accept it, and rely on the token.
 */
bool nsc_peer_is_allowed(int64_t owner, uid_t user);

#endif
