/*
 * listener.h - the socket on which the server accepts connections.
 *
 * Called by the server at its start. Which address, and why: docs/adr/017-server.md.
 */
#ifndef NSC_VIEWER_SERVER_LISTENER_H
#define NSC_VIEWER_SERVER_LISTENER_H

#include <netinet/in.h>
#include <stdint.h>

#include "util/diag.h"

/**
 * nsc_listener_open - listen on the loopback interface.
 * @port: in host byte order: listen on this port of 127.0.0.1. 0: on a free port of a random
 * address of 127.0.0.0/8.
 * @address: receives the address and the port.
 * Returns a descriptor or -errno with @diag: -EADDRINUSE, and those of bind(2) and getrandom(2).
 */
int nsc_listener_open(uint16_t port, struct sockaddr_in *address, struct nsc_diag *diag);

#endif
