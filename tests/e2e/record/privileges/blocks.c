/*
 * blocks.c - a process that keeps the kernel from answering about it. usage: blocks MODE [SECONDS]
 *
 * maps: who reads /proc/PID/maps waits, as the process holds the lock of its mappings.
 * exec: who opens it waits, as the process never ends an execve() and holds its exec_update_lock.
 *
 * Begins after SECONDS, prints "ready PID", and stays until it is killed; its children end with it.
 * The first process only watches. The holder never ends an mmap() of a packet socket: a thread of
 * it sends the frames of the socket's ring through a loopback device that passes one byte a second.
 * Meanwhile that thread holds the ring's mutex, for which mmap() waits with the lock of the
 * mappings held. In mode exec, a process that shares the holder's memory waits for that lock in
 * execve(). If the system forbids any of this, says why and exits with status 77.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    IMPOSSIBLE = 77,
    LOOPBACK = 1,       /* interface number of lo in any namespace */
    FRAME_ROOM = 65536, /* bytes of the ring per frame */
    FRAME_LEN = 60000,  /* one frame takes this many seconds to pass */
    FRAMES = 64,        /* so all of them take more than a month */
    RING = FRAMES * FRAME_ROOM
};

/* Below all other mappings, so it comes first in /proc/PID/maps. */
#define RING_PLACE ((void *)0x100000)

static _Noreturn void impossible(const char *why)
{
    printf("impossible: %s: %s\n", why, strerror(errno));
    fflush(stdout);
    _exit(IMPOSSIBLE);
}

/* Give lo a token bucket (tbf) that passes one frame, then 1 byte a second. */
static void send_tbf(int netlink)
{
    struct {
        struct nlmsghdr head;
        struct tcmsg tc;
        struct rtattr kind;
        char name[4];
        struct rtattr options, parms;
        struct tc_tbf_qopt tbf;
        struct rtattr burst;
        __u32 bytes;
    } msg = {{sizeof msg, RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE, 0, 0},
             {.tcm_ifindex = LOOPBACK, .tcm_parent = TC_H_ROOT},
             {RTA_LENGTH(4), TCA_KIND},
             "tbf",
             {RTA_LENGTH(RTA_SPACE(sizeof msg.tbf) + RTA_SPACE(4)), TCA_OPTIONS},
             {RTA_LENGTH(sizeof msg.tbf), TCA_TBF_PARMS},
             {.rate = {.rate = 1, .linklayer = TC_LINKLAYER_ETHERNET}, .limit = 1 << 30},
             {RTA_LENGTH(4), TCA_TBF_BURST},
             FRAME_ROOM};

    if (send(netlink, &msg, sizeof msg, 0) < 0)
        impossible("netlink");
}

static void slow_loopback(int fd)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr err;
    } ack;
    struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

    if (ioctl(fd, SIOCSIFFLAGS, &up) != 0)
        impossible("loopback up");
    send_tbf(netlink);
    if (recv(netlink, &ack, sizeof ack, 0) != sizeof ack)
        impossible("netlink");
    errno = -ack.err.error;
    if (errno != 0)
        impossible("tbf on loopback");
    close(netlink);
}

/* In fact the first call blocks until all frames of the ring have passed. */
static void *send_frames(void *arg)
{
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET, .sll_protocol = htons(0x88b5), .sll_ifindex = LOOPBACK};

    sendto(*(int *)arg, NULL, 0, 0, (struct sockaddr *)&to, sizeof to);
    _exit(1);
}

static char *map_ring(int fd)
{
    return mmap(RING_PLACE, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
}

/* Make a packet socket with a ring full of frames, ready to be sent. */
static int full_ring(void)
{
    struct tpacket_req req = {FRAME_ROOM, FRAMES, FRAME_ROOM, FRAMES};
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

    if (fd < 0)
        impossible("packet socket");
    if (setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof req) != 0)
        impossible("packet ring");
    char *ring = map_ring(fd);
    if (ring == MAP_FAILED)
        impossible("mmap of the ring");
    for (int i = 0; i < FRAMES; i++) {
        struct tpacket_hdr *frame = (void *)(ring + i * FRAME_ROOM);
        frame->tp_len = FRAME_LEN;
        frame->tp_status = TP_STATUS_SEND_REQUEST;
    }
    return fd;
}

struct execer {
    int line;
    atomic_int ready;
};

/* Exec when told to, which is once the memory we run in is locked. */
static int exec_when_told(void *arg)
{
    struct execer *self = arg;
    char path[] = "/bin/true", name[] = "true", go = 0;
    char *args[] = {name, NULL}, *none[] = {NULL};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* This one fails, but brings in the pages the other needs: a page fault
       of the kernel would wait for the lock. */
    execve("", args, none);
    self->ready = 1;
    if (read(self->line, &go, 1) == 1)
        execve(path, args, none);
    _exit(1);
}

/* Start the execer as a child of the watcher, which so sees its end. */
static pid_t start_execer(int line)
{
    static char stack[16384] __attribute__((aligned(16)));
    static struct execer execer;

    execer.line = line;
    pid_t pid =
        clone(exec_when_told, stack + sizeof stack, CLONE_VM | CLONE_PARENT | SIGCHLD, &execer);
    if (pid < 0)
        impossible("clone");
    while (!execer.ready)
        usleep(1000);
    return pid;
}

/* The holder: tell the watcher whom to look at, then block in mmap. */
static _Noreturn void hold(bool exec, int line)
{
    pthread_t sender;
    pid_t pid = getpid();
    int fd;

    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        impossible("user and network namespace");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fd = full_ring();
    slow_loopback(fd);
    if (exec)
        pid = start_execer(line);
    if (pthread_create(&sender, NULL, send_frames, &fd) != 0)
        impossible("thread");
    /* Fails if the watcher ended before we asked to be killed at its end. */
    if (write(line, &pid, sizeof pid) != sizeof pid)
        _exit(1);
    /* Again and again, because the sender may not have the mutex yet. */
    while (map_ring(fd) != MAP_FAILED)
        ;
    impossible("mmap of the ring");
}

/* Wait until PID sleeps in the named kernel function. */
static void wait_asleep_in(pid_t pid, const char *function)
{
    char path[64], now[128] = "";

    snprintf(path, sizeof path, "/proc/%d/wchan", (int)pid);
    for (int tries = 0; tries < 400; tries++) {
        FILE *file = fopen(path, "re");

        if (file == NULL || fgets(now, sizeof now, file) == NULL)
            impossible(path);
        fclose(file);
        if (strcmp(now, function) == 0)
            return;
        usleep(5000);
    }
    printf("impossible: %s is %s, not %s\n", path, now, function);
    exit(IMPOSSIBLE);
}

static void looked(int sig)
{
    _exit(sig);
}

/*
 * Wait until PID holds its exec_update_lock.  That stops all that look at it,
 * so let a child look, and look at that one.  The child ends when the lock is
 * let go, which tells the watcher that PID has been killed: PID itself cannot
 * end while the memory it shares is locked.
 */
static void wait_in_exec(pid_t pid)
{
    char path[64];
    pid_t looker = fork();

    if (looker < 0)
        impossible("fork");
    if (looker == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGUSR1, looked);
        snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
        for (;;)
            close(open(path, O_RDONLY));
    }
    wait_asleep_in(looker, "mm_access");
    kill(looker, SIGUSR1); /* handled only when its open returns */
}

/* The watcher: say when the lock is held, then stay until one is killed. */
static int watch(bool exec, pid_t holder, int line)
{
    pid_t victim;
    int status;

    if (read(line, &victim, sizeof victim) != sizeof victim) {
        waitpid(holder, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    wait_asleep_in(holder, "packet_mmap");
    if (exec) {
        if (write(line, "g", 1) != 1)
            impossible("socketpair");
        wait_in_exec(victim);
    }
    printf("ready %d\n", (int)victim);
    fflush(stdout);
    wait(NULL);
    kill(holder, SIGKILL);
    while (wait(NULL) > 0)
        ;
    return 1;
}

int main(int argc, char **argv)
{
    bool exec = argc > 1 && strcmp(argv[1], "exec") == 0;
    int line[2];
    pid_t holder;

    if (argc < 2 || (!exec && strcmp(argv[1], "maps") != 0))
        return 2;
    if (argc == 3)
        sleep((unsigned)atoi(argv[2]));
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0)
        impossible("socketpair");
    holder = fork();
    if (holder < 0)
        impossible("fork");
    if (holder == 0) {
        close(line[0]);
        hold(exec, line[1]);
    }
    close(line[1]);
    return watch(exec, holder, line[0]);
}
