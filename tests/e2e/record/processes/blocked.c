/*
 * A single-threaded program that waits in one system call, and knows what has to come out:
 *
 *   blocked KIND     0.6 s in that call; prints "ready" before, "KIND ok" or what was wrong after
 *   blocked --list   all kinds
 *
 * Whatever ends a wait (data, a child's end, a signal) comes from a child process, so that there is
 * no other thread that somebody might be called in.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 600

static volatile sig_atomic_t handled;
static pid_t self;
static int pipe_of[2], pair[2], listener, epoll_fd, file;
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void on_signal(int number)
{
    (void)number;
    handled++;
}

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct timespec span(long ms)
{
    return (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
}

/* A child that does @what after the wait. */
static void later(void (*what)(void))
{
    struct timespec t = span(WAIT_MS);

    if (fork() != 0)
        return;
    nanosleep(&t, NULL);
    what();
    _exit(7);
}

static void write_pipe(void)
{
    if (write(pipe_of[1], "x", 1) != 1)
        abort();
}
static void drain_pipe(void)
{
    char bytes[65536];

    if (read(pipe_of[0], bytes, sizeof bytes) < 0)
        abort();
}
static void write_pair(void)
{
    if (write(pair[1], "x", 1) != 1)
        abort();
}
static void connect_there(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
}
static void send_signal(void)
{
    kill(self, SIGUSR1);
}
static void signal_then_write(void)
{
    struct timespec t = span(50);

    send_signal();
    nanosleep(&t, NULL);
    write_pipe();
}
static void nothing(void) {}

/* ---- The kinds: each returns whether all came out as it should ------------------------------- */

static int k_nanosleep(void)
{
    struct timespec t = span(WAIT_MS);

    return nanosleep(&t, NULL) == 0;
}
static int k_clock_absolute(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += WAIT_MS * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == 0;
}
static int k_poll(void)
{
    struct pollfd p = {.fd = pipe_of[0], .events = POLLIN};

    return poll(&p, 1, WAIT_MS) == 0;
}
static int k_poll_event(void)
{
    struct pollfd p = {.fd = pipe_of[0], .events = POLLIN};

    later(write_pipe);
    return poll(&p, 1, -1) == 1;
}
static int k_ppoll(void)
{
    struct pollfd p = {.fd = pipe_of[0], .events = POLLIN};
    struct timespec t = span(WAIT_MS);
    sigset_t none;

    sigemptyset(&none);
    return ppoll(&p, 1, &t, &none) == 0;
}
static int k_select(void)
{
    struct timeval t = {.tv_usec = WAIT_MS * 1000};

    return select(0, NULL, NULL, NULL, &t) == 0;
}
static int k_pselect_event(void)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(pipe_of[0], &set);
    later(write_pipe);
    return pselect(pipe_of[0] + 1, &set, NULL, NULL, NULL, NULL) == 1;
}
static int k_futex(void)
{
    struct timespec t = span(WAIT_MS);
    static uint32_t word;

    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0) == -1 &&
           errno == ETIMEDOUT;
}
static int k_read(void)
{
    char byte;

    later(write_pipe);
    return read(pipe_of[0], &byte, 1) == 1 && byte == 'x';
}
static int k_write(void)
{
    static const char bytes[4096];

    fcntl(pipe_of[1], F_SETFL, O_NONBLOCK);
    while (write(pipe_of[1], bytes, sizeof bytes) > 0)
        ;
    fcntl(pipe_of[1], F_SETFL, 0);
    later(drain_pipe);
    return write(pipe_of[1], bytes, sizeof bytes) == sizeof bytes;
}
static int k_recv_timeout(void)
{
    struct timeval t = {.tv_sec = 5};
    char byte;

    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    later(write_pair);
    return recv(pair[0], &byte, 1, 0) == 1;
}
static int k_accept(void)
{
    later(connect_there);
    return accept(listener, NULL, NULL) >= 0;
}
static int k_epoll_wait(void)
{
    struct epoll_event event;

    later(write_pipe);
    return epoll_wait(epoll_fd, &event, 1, -1) == 1;
}
static int k_epoll_timeout(void)
{
    struct epoll_event event;

    return epoll_wait(epoll_fd, &event, 1, WAIT_MS) == 0;
}
static int k_epoll_pwait(void)
{
    struct epoll_event event;
    sigset_t none;

    sigemptyset(&none);
    later(write_pipe);
    return epoll_pwait(epoll_fd, &event, 1, -1, &none) == 1;
}
static int k_epoll_signal(void)
{
    struct epoll_event event;

    later(send_signal);
    return epoll_wait(epoll_fd, &event, 1, -1) == -1 && errno == EINTR && handled == 1;
}
static int k_epoll_pwait_signal(void)
{
    struct epoll_event event;
    sigset_t none, usr1;

    sigemptyset(&none);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    later(send_signal);
    return epoll_pwait(epoll_fd, &event, 1, -1, &none) == -1 && errno == EINTR && handled == 1;
}
static int k_wait4(void)
{
    int status;

    later(nothing);
    return wait4(-1, &status, 0, NULL) > 0 && WEXITSTATUS(status) == 7;
}
static int k_waitid(void)
{
    siginfo_t info;

    later(nothing);
    return waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_status == 7;
}
static int k_sigsuspend(void)
{
    sigset_t none, usr1, after;

    sigemptyset(&none);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    later(send_signal);
    return sigsuspend(&none) == -1 && errno == EINTR && handled == 1 &&
           sigprocmask(SIG_SETMASK, NULL, &after) == 0 && sigismember(&after, SIGUSR1);
}
static int k_pause(void)
{
    later(send_signal);
    return pause() == -1 && errno == EINTR && handled == 1;
}
static int k_sigtimedwait(void)
{
    sigset_t usr1;

    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    later(send_signal);
    return sigwaitinfo(&usr1, NULL) == SIGUSR1 && handled == 0;
}
static int k_restarted(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    char byte;

    sigaction(SIGUSR1, &action, NULL);
    later(signal_then_write);
    return read(pipe_of[0], &byte, 1) == 1 && handled == 1;
}
static int k_flock(void)
{
    char path[64];
    int other;

    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    other = open(path, O_RDWR);
    if (fork() == 0) {
        struct timespec t = span(WAIT_MS);

        flock(file, LOCK_EX);
        write_pipe();
        nanosleep(&t, NULL);
        _exit(0);
    }
    close(file); /* the lock is the child's alone */
    drain_pipe();
    return flock(other, LOCK_EX) == 0;
}
static int set_lock(int command, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(file, command, &lock);
}
static int k_setlkw(void)
{
    if (fork() == 0) {
        struct timespec t = span(WAIT_MS);

        set_lock(F_SETLK, F_WRLCK);
        write_pipe();
        nanosleep(&t, NULL);
        _exit(0);
    }
    drain_pipe();
    return set_lock(F_SETLKW, F_WRLCK) == 0;
}
static int semaphore(int timed)
{
    struct sembuf take = {.sem_op = -1};
    struct timespec t = span(WAIT_MS);
    int id = semget(IPC_PRIVATE, 1, 0600), got, error;

    if (!timed && fork() == 0) {
        struct sembuf give = {.sem_op = 1};

        nanosleep(&t, NULL);
        semop(id, &give, 1);
        _exit(0);
    }
    got = timed ? semtimedop(id, &take, 1, &t) : semop(id, &take, 1);
    error = errno;
    semctl(id, 0, IPC_RMID);
    return timed ? got == -1 && error == EAGAIN : got == 0;
}
static int k_semop(void)
{
    return semaphore(0);
}
static int k_semtimedop(void)
{
    return semaphore(1);
}
static int k_msgrcv(void)
{
    struct {
        long type;
        char text[8];
    } message = {.type = 1};
    int id = msgget(IPC_PRIVATE, 0600), got;

    if (fork() == 0) {
        struct timespec t = span(WAIT_MS);

        nanosleep(&t, NULL);
        msgsnd(id, &message, 4, 0);
        _exit(0);
    }
    got = (int)msgrcv(id, &message, sizeof message.text, 0, 0);
    msgctl(id, IPC_RMID, NULL);
    return got == 4;
}
static int k_io_getevents(void)
{
    struct timespec t = span(WAIT_MS);
    aio_context_t context = 0;
    struct io_event event;

    if (syscall(SYS_io_setup, 1, &context) != 0)
        return errno == ENOSYS ? 2 : 0;
    return syscall(SYS_io_getevents, context, 1, 1, &event, &t) == 0;
}

static const struct {
    const char *name;
    int (*run)(void);
    int anew; /* its time may begin again when somebody was called in the thread */
} kinds[] = {
    {"nanosleep", k_nanosleep, 0},
    {"clock_nanosleep", k_clock_absolute, 0},
    {"poll", k_poll, 0},
    {"poll-event", k_poll_event, 0},
    {"ppoll", k_ppoll, 0},
    {"select", k_select, 0},
    {"pselect-event", k_pselect_event, 0},
    {"futex", k_futex, 0},
    {"read", k_read, 0},
    {"write", k_write, 0},
    {"recv-timeout", k_recv_timeout, 0},
    {"accept", k_accept, 0},
    {"epoll_wait", k_epoll_wait, 0},
    {"epoll-timeout", k_epoll_timeout, 1},
    {"epoll_pwait", k_epoll_pwait, 0},
    {"epoll-signal", k_epoll_signal, 0},
    {"epoll_pwait-signal", k_epoll_pwait_signal, 0},
    {"wait4", k_wait4, 0},
    {"waitid", k_waitid, 0},
    {"sigsuspend", k_sigsuspend, 0},
    {"pause", k_pause, 0},
    {"sigtimedwait", k_sigtimedwait, 0},
    {"restarted", k_restarted, 0},
    {"flock", k_flock, 0},
    {"setlkw", k_setlkw, 0},
    {"semop", k_semop, 0},
    {"semtimedop", k_semtimedop, 1},
    {"msgrcv", k_msgrcv, 0},
    {"io_getevents", k_io_getevents, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void prepare(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    struct epoll_event event = {.events = EPOLLIN};
    char path[] = "/tmp/nsc-blocked-XXXXXX";

    self = getpid();
    sigaction(SIGUSR1, &action, NULL);
    file = mkstemp(path);
    unlink(path);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "nsc-blocked-%ld", (long)self);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    epoll_fd = epoll_create1(0);
    if (file < 0 || pipe(pipe_of) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 4) != 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_of[0], &event) != 0)
        abort();
}

int main(int argc, char **argv)
{
    for (int i = 0; i < KINDS; i++) {
        double begin, took;
        int good;

        if (argc > 1 && strcmp(argv[1], "--list") == 0)
            puts(kinds[i].name);
        if (argc < 2 || strcmp(argv[1], kinds[i].name) != 0)
            continue;
        prepare();
        puts("ready");
        fflush(stdout);
        begin = now_ms();
        good = kinds[i].run();
        took = now_ms() - begin;
        if (good == 2)
            puts("skipped");
        else if (!good)
            printf("%s: wrong result (errno %d)\n", argv[1], errno);
        else if (took < WAIT_MS - 30)
            printf("%s: over after %.0f ms\n", argv[1], took);
        else if (took > WAIT_MS + (kinds[i].anew ? 5000 : 2000))
            printf("%s: took %.0f ms\n", argv[1], took);
        else
            printf("%s ok\n", argv[1]);
        return 0;
    }
    return argc < 2;
}
