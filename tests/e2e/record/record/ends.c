/*
 * ends HOW MICROSECONDS FILE - calls in two threads until it ends by itself, after that time and at
 * whatever instruction that meets; test_record_ends records it.
 *
 * FILE then holds two counts of 64 bits, a thread each, of the events that were emitted: each is
 * counted just before it happens, so that the last one of a thread may not have.
 */
#include <fcntl.h>
#include <nanoscope/nanoscope.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

/* Counts as one call, at any optimisation. */
#ifdef __clang__
#define CALL __attribute__((noinline))
#else
#define CALL __attribute__((noipa))
#endif

static volatile uint64_t *emitted;
static volatile unsigned sink;
static const char *how;

CALL void leaf(volatile uint64_t *count)
{
    sink++;
    ++*count;
}

CALL void node(volatile uint64_t *count, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        ++*count;
        leaf(count);
    }
    ++*count;
}

/* Emits nothing itself, so that its entry need not be counted before there is a count. */
NANOSCOPE_NOTRACE static void *run(void *at)
{
    volatile uint64_t *count = at;

    for (;;) {
        ++*count;
        node(count, 100);
    }
    return NULL;
}

NANOSCOPE_NOTRACE static void on_alarm(int number)
{
    (void)number;
    if (strcmp(how, "segv") == 0)
        *(volatile int *)(uintptr_t)8 = 1;
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "_exit") == 0)
        _exit(7);
    else if (strcmp(how, "quick_exit") == 0)
        quick_exit(8);
    kill(getpid(), SIGKILL);
}

NANOSCOPE_NOTRACE int main(int argc, char **argv)
{
    /* strtol, as glibc's atoi is inlined from a header, and then has a hook. */
    struct itimerval end = {.it_value = {0, argc > 3 ? (int)strtol(argv[2], NULL, 10) : 1}};
    pthread_t thread;
    int fd;

    if (argc < 4 || (fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600)) < 0 ||
        ftruncate(fd, 4096) != 0)
        return 1;
    emitted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (emitted == MAP_FAILED)
        return 1;
    how = argv[1];
    signal(SIGALRM, on_alarm);
    if (strcmp(how, "outside") == 0)
        end.it_value = (struct timeval){20, 0}; /* should nobody come */
    setitimer(ITIMER_REAL, &end, NULL);
    if (pthread_create(&thread, NULL, run, (void *)(emitted + 1)) != 0)
        return 1;
    run((void *)emitted);
}
