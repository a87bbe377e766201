/*
 * work.c - does what its arguments say, one after the other, and tells at the end what the kernel
 * counted of its main thread: "cpu_ns minor major switches"; then a line for each wait, "took WHAT
 * MS", how long it was in truth, on a machine that may have had other things to do.
 *
 *   busy MS      calls functions for that much CPU time
 *   sleep MS     sleeps; read MS: waits in read(2); poll MS, lock MS: likewise
 *   touch PAGES  writes into that many new pages
 *   kernel MS    is in system calls most of that CPU time
 *   yield N      sleeps so many times for a moment
 *   threads N    starts so many threads, each busy for 20 ms
 *   sleepers N   likewise, each asleep for 300 ms
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

static volatile unsigned sink;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2];

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void leaf(unsigned n)
{
    sink += n;
}

static void busy(uint64_t ms)
{
    uint64_t end = cpu_ns() + ms * MS;

    while (cpu_ns() < end)
        for (unsigned i = 0; i < 5000; i++)
            leaf(i);
}

static void in_kernel(uint64_t ms)
{
    static char buffer[1 << 16];
    uint64_t end = cpu_ns() + ms * MS;
    int fd = open("/dev/zero", O_RDONLY);

    while (cpu_ns() < end)
        if (read(fd, buffer, sizeof buffer) <= 0)
            exit(1);
    close(fd);
}

static void pause_ms(uint64_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * MS)};

    nanosleep(&t, NULL);
}

static void touch(uint64_t pages)
{
    char *p = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    madvise(p, pages * 4096, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < pages; i++)
        p[i * 4096] = 1;
}

/* Lets the main thread go on after a while. */
static void *releaser(void *argument)
{
    pause_ms(*(uint64_t *)argument);
    if (write(pipe_fds[1], "x", 1) != 1)
        exit(1);
    return NULL;
}

static void *holder(void *argument)
{
    pthread_mutex_lock(&mutex);
    if (write(pipe_fds[1], "x", 1) != 1)
        exit(1);
    pause_ms(*(uint64_t *)argument);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void wait_for_other(const char *how, uint64_t ms)
{
    struct pollfd set = {.events = POLLIN};
    pthread_t other;
    char byte;

    if (pipe(pipe_fds) != 0)
        exit(1);
    set.fd = pipe_fds[0];
    pthread_create(&other, NULL, strcmp(how, "lock") == 0 ? holder : releaser, &ms);
    if (strcmp(how, "poll") == 0)
        poll(&set, 1, -1);
    if (read(pipe_fds[0], &byte, 1) != 1)
        exit(1);
    if (strcmp(how, "lock") == 0) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    pthread_join(other, NULL);
}

static void *worker(void *argument)
{
    (void)argument;
    busy(20);
    return NULL;
}

static void *sleeper(void *argument)
{
    (void)argument;
    pause_ms(300);
    return NULL;
}

static void start_threads(uint64_t count, void *(*body)(void *))
{
    pthread_t *all = calloc(count, sizeof *all);

    for (uint64_t i = 0; i < count; i++)
        pthread_create(&all[i], NULL, body, NULL);
    for (uint64_t i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    free(all);
}

static void run_one(const char *what, uint64_t n)
{
    if (strcmp(what, "busy") == 0)
        busy(n);
    else if (strcmp(what, "sleep") == 0)
        pause_ms(n);
    else if (strcmp(what, "touch") == 0)
        touch(n);
    else if (strcmp(what, "kernel") == 0)
        in_kernel(n);
    else if (strcmp(what, "threads") == 0)
        start_threads(n, worker);
    else if (strcmp(what, "sleepers") == 0)
        start_threads(n, sleeper);
    else if (strcmp(what, "yield") == 0)
        for (uint64_t i = 0; i < n; i++)
            pause_ms(0), usleep(50);
    else
        wait_for_other(what, n);
}

static struct {
    const char *what;
    uint64_t ns;
} took[16];

static int took_count;

static void run(const char *what, uint64_t n)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    run_one(what, n);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (took_count == sizeof took / sizeof took[0])
        return;
    took[took_count].what = what;
    took[took_count++].ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000 * MS +
                            (uint64_t)end.tv_nsec - (uint64_t)begin.tv_nsec;
}

int main(int argc, char **argv)
{
    struct rusage usage;

    for (int i = 1; i + 1 < argc; i += 2)
        run(argv[i], strtoull(argv[i + 1], NULL, 10));
    getrusage(RUSAGE_THREAD, &usage);
    printf("%llu %ld %ld %ld\n", (unsigned long long)cpu_ns(), usage.ru_minflt, usage.ru_majflt,
           usage.ru_nvcsw + usage.ru_nivcsw);
    for (int i = 0; i < took_count; i++)
        printf("took %s %.3f\n", took[i].what, (double)took[i].ns / MS);
    return 0;
}
