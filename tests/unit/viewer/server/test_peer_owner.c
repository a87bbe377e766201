/* test_peer_owner.c - who owns the other end of a connection, and which owner is accepted. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"
#include "viewer/server/peer_owner.h"

static void test_rule(void)
{
    /* A server of root's is for root. */
    CHECK(nsc_peer_is_allowed(0, 0));
    CHECK(!nsc_peer_is_allowed(1000, 0));
    CHECK(!nsc_peer_is_allowed(65534, 0));
    CHECK(!nsc_peer_is_allowed(UINT32_MAX, 0));
    CHECK(!nsc_peer_is_allowed(NSC_PEER_UNKNOWN, 0));
    CHECK(!nsc_peer_is_allowed(NSC_PEER_CLOSED, 0));
    /* Another user's is for that user and root. */
    CHECK(nsc_peer_is_allowed(1000, 1000));
    CHECK(nsc_peer_is_allowed(0, 1000));
    CHECK(!nsc_peer_is_allowed(1001, 1000));
    CHECK(nsc_peer_is_allowed(NSC_PEER_UNKNOWN, 1000));
    CHECK(!nsc_peer_is_allowed(NSC_PEER_CLOSED, 1000));
}

static struct sockaddr_in address_of(int fd)
{
    struct sockaddr_in address = {0};
    socklen_t bytes = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
        abort();
    return address;
}

static void test_connection(void)
{
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in client, nowhere;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(bind(listener, (struct sockaddr *)&server, sizeof server) == 0);
    CHECK(listen(listener, 4) == 0);
    server = address_of(listener);
    CHECK(connect(fd, (struct sockaddr *)&server, sizeof server) == 0);
    client = address_of(fd);
    if (nsc_peer_find_owner(&server, &client) == NSC_PEER_UNKNOWN) {
        printf("# this kernel has no sock_diag\n");
    } else {
        CHECK_U64((uint64_t)nsc_peer_find_owner(&server, &client), geteuid());
        /* A socket that only listens is no other end. */
        nowhere = server;
        nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
        CHECK(nsc_peer_find_owner(&nowhere, &server) == NSC_PEER_UNKNOWN);
        CHECK(nsc_peer_find_owner(&server, &nowhere) == NSC_PEER_UNKNOWN);
        close(fd);
        /* One that is bound to the interface is found. */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0);
        CHECK(connect(fd, (struct sockaddr *)&server, sizeof server) == 0);
        client = address_of(fd);
        CHECK_U64((uint64_t)nsc_peer_find_owner(&server, &client), geteuid());
        close(fd);
        fd = -1;
        CHECK(nsc_peer_find_owner(&server, &client) == NSC_PEER_CLOSED);
    }
    if (fd >= 0)
        close(fd);
    close(listener);
}

/* At an address that nothing forwards, a client without an owner is none. */
static void test_other_address(void)
{
    struct sockaddr_in server = {.sin_family = AF_INET,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1)};
    struct sockaddr_in nowhere = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(1)};
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int64_t own;

    CHECK(bind(listener, (struct sockaddr *)&server, sizeof server) == 0);
    CHECK(listen(listener, 1) == 0);
    server = address_of(listener);
    own = nsc_peer_find_owner(&server, &nowhere);
    CHECK(own == NSC_PEER_CLOSED || own == NSC_PEER_UNKNOWN /* no sock_diag */);
    close(listener);
}

int main(void)
{
    test_rule();
    test_connection();
    test_other_address();
    return t_done();
}
