/*
 * peer.h - whose is the other end of a connection over the loopback interface?
 *
 * Called by the server for each new connection: a port of this machine is open to all of its users,
 * and the address with the token stands in the command line of the browser that is started.
 */
#ifndef NSC_SERVE_PEER_H
#define NSC_SERVE_PEER_H

#include <netinet/in.h>
#include <stdbool.h>

/**
 * nsc_peer_is_allowed - is the peer this process's own user?
 * @server: our end of the connection.
 * @client: the other end.
 * Also true for root, whom nothing keeps from reading the trace; if we are root ourselves; and
 * where the kernel does not tell (the token still protects then). Context: any thread; some
 * microseconds.
 */
bool nsc_peer_is_allowed(const struct sockaddr_in *server, const struct sockaddr_in *client);

#endif
