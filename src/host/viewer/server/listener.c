/*
 * listener.c - see listener.h.
 *
 * Every local user can listen on any loopback address, and a browser keeps what a page of an origin
 * (address and port) left there: service workers, cached scripts. At an address that other users
 * could foresee, such a worker would read the token and the trace.
 */
#include "viewer/server/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* Excludes 127.0.0.0/16, which has the addresses that systems use by name (127.0.0.1, 127.0.1.1,
 * 127.0.0.53), and those that look like the address of a network or of all its hosts. */
static int draw_address(struct in_addr *address)
{
    unsigned char bytes[4];

    do {
        if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
            return -EIO;
        bytes[0] = IN_LOOPBACKNET;
    } while (bytes[1] == 0 || bytes[3] == 0 || bytes[3] == UINT8_MAX);
    memcpy(address, bytes, sizeof bytes);
    return 0;
}

/* Returns a listening socket or -errno; replaces a port of 0 in @address. */
static int listen_on(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, error;
    socklen_t bytes = sizeof *address;

    /* Allows a port whose last server has just ended. */
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
        bind(fd, (struct sockaddr *)address, sizeof *address) == 0 && listen(fd, SOMAXCONN) == 0 &&
        getsockname(fd, (struct sockaddr *)address, &bytes) == 0)
        return fd;
    error = -errno;
    if (fd >= 0)
        close(fd);
    return error;
}

int nsc_listener_open(uint16_t port, struct sockaddr_in *address, struct nsc_diag *diag)
{
    char text[INET_ADDRSTRLEN];
    int fd = 0;

    *address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (port == 0)
        fd = draw_address(&address->sin_addr);
    if (fd == 0)
        fd = listen_on(address);
    if (fd >= 0)
        return fd;
    if (fd == -EADDRINUSE)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, fd, "port %u is taken: give another, or none",
                            port);
    inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    return nsc_diag_set(
        diag, NSC_DIAG_NO_OFFSET, fd, "cannot listen on %s: %s%s", text, strerror(-fd),
        fd == -EADDRNOTAVAIL && port == 0 ? ": give --port N to listen on 127.0.0.1" : "");
}
