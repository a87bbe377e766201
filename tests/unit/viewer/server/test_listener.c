/* test_listener.c - the address that the viewer's server listens on. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "viewer/server/listener.h"

/* Return a socket that listens on an address, or -errno. */
static int squat(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 && listen(fd, 1) == 0)
        return fd;
    close(fd);
    return -errno;
}

static void test_random(void)
{
    uint32_t previous = 0;

    for (int i = 0; i < 100; i++) {
        struct sockaddr_in server;
        int fd = nsc_listener_open(0, &server, NULL);
        uint32_t address = ntohl(server.sin_addr.s_addr), last = address & 0xff;

        CHECK(fd >= 0 && server.sin_port != 0);
        CHECK(address >> 24 == 127 && (address >> 16 & 0xff) != 0 && last != 0 && last != 255);
        CHECK(address != previous);
        previous = address;
        close(fd);
    }
}

/* The port of 127.0.0.1 is left alone. */
static void test_others(void)
{
    struct sockaddr_in address, other;
    int fd = nsc_listener_open(0, &address, NULL), free_port;

    other = address;
    CHECK(squat(&other) == -EADDRINUSE);
    other.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    free_port = squat(&other);
    CHECK(free_port >= 0);
    close(free_port);
    close(fd);
}

/* A port that the user names is one of 127.0.0.1, so that it can be forwarded. */
static void test_port(void)
{
    struct nsc_diag diag = {0};
    struct sockaddr_in address;
    uint16_t port;
    int fd = nsc_listener_open(0, &address, NULL);

    port = ntohs(address.sin_port);
    close(fd);
    fd = nsc_listener_open(port, &address, NULL);
    CHECK(fd >= 0 && ntohs(address.sin_port) == port);
    CHECK(address.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    CHECK(nsc_listener_open(port, &address, &diag) == -EADDRINUSE);
    CHECK(strstr(diag.message, "is taken: give another, or none") != NULL);
    close(fd);
}

/* Become a machine that has no loopback address but 127.0.0.1. Returns whether this is permitted.
 */
static bool lose_addresses(void)
{
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP}, narrow = {.ifr_name = "lo"};
    const struct sockaddr_in mask = {.sin_family = AF_INET, .sin_addr.s_addr = INADDR_BROADCAST};
    int fd = unshare(CLONE_NEWNET) == 0 ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

    memcpy(&narrow.ifr_netmask, &mask, sizeof mask);
    return fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &up) == 0 && ioctl(fd, SIOCSIFNETMASK, &narrow) == 0;
}

static int listen_without_addresses(void)
{
    struct nsc_diag diag = {0};
    struct sockaddr_in address;

    if (!lose_addresses())
        return 77;
    return nsc_listener_open(0, &address, &diag) == -EADDRNOTAVAIL &&
                   strstr(diag.message, "cannot listen on 127.") != NULL &&
                   strstr(diag.message, ": give --port N to listen on 127.0.0.1") != NULL &&
                   nsc_listener_open(4711, &address, NULL) >= 0
               ? 0
               : 1;
}

static void test_no_addresses(void)
{
    pid_t pid = fork();
    int status;

    if (pid == 0)
        _exit(listen_without_addresses());
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        printf("# no new network namespaces here\n");
    else
        CHECK(WEXITSTATUS(status) == 0);
}

int main(void)
{
    test_random();
    test_others();
    test_port();
    test_no_addresses();
    return t_done();
}
