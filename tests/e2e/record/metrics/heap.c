/*
 * heap.c - allocates in every way there is, and says what came of it; run with and without the
 * library that counts, it must say the same. A thread that does nothing else tells what it
 * allocated and freed by its own account: "thread TID ALLOCATED FREED", on standard error. A forked
 * child tells its id: "child TID".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned long long allocated, freed;
static volatile size_t huge = SIZE_MAX / 2; /* no compiler may know better */

static void *got(void *at)
{
    allocated += malloc_usable_size(at);
    return at;
}

static void give(void *at)
{
    freed += malloc_usable_size(at);
    free(at);
}

__attribute__((noinline)) static void spin(unsigned ms)
{
    struct timespec t;
    uint64_t end;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    end = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + ms * 1000000ull;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec < end);
}

static void *worker(void *argument)
{
    void *all[1000], *at;

    (void)argument;
    for (int i = 0; i < 1000; i++)
        all[i] = got(malloc((size_t)i * 7));
    for (int i = 0; i < 1000; i += 2)
        give(all[i]);
    for (int i = 1; i < 1000; i += 4) {
        freed += malloc_usable_size(all[i]);
        all[i] = got(realloc(all[i], (size_t)i * 20));
    }
    at = got(calloc(100, 30));
    give(at);
    give(got(aligned_alloc(64, 640)));
    give(got(memalign(4096, 100)));
    give(got(valloc(100)));
    give(got(reallocarray(NULL, 10, 10)));
    if (posix_memalign(&at, 256, 1000) == 0)
        give(got(at));
    spin(30); /* until it has been seen */
    fprintf(stderr, "thread %ld %llu %llu\n", (long)gettid(), allocated, freed);
    spin(10);
    return NULL;
}

static int is_zero(const unsigned char *at, size_t bytes)
{
    while (bytes > 0 && *at == 0) {
        at++;
        bytes--;
    }
    return bytes == 0;
}

static void semantics(void)
{
    void *at = (void *)1;
    char *text;

    errno = 0;
    printf("malloc of too much: %d", malloc(huge) == NULL);
    printf(" errno %d\n", errno);
    errno = 0;
    printf("calloc of too much: %d", calloc(huge, 4) == NULL);
    printf(" errno %d\n", errno);
    errno = 0;
    printf("reallocarray of too much: %d", reallocarray(NULL, huge, 4) == NULL);
    printf(" errno %d\n", errno);
    errno = 77;
    printf("posix_memalign: %d %d", posix_memalign(&at, 3, 8), posix_memalign(&at, 64, huge));
    printf(" %d errno %d\n", at == (void *)1, errno);
    at = malloc(0);
    printf("malloc(0): %d\n", at != NULL);
    free(at);
    free(NULL);
    printf("free: errno %d\n", errno);
    text = strcpy(malloc(6), "hello");
    text = realloc(text, 100000);
    printf("realloc keeps: %s\n", text);
    printf("realloc of too much: %d %s\n", realloc(text, huge) == NULL, text);
    printf("realloc to nothing: %d\n", realloc(text, 0) == NULL);
    at = calloc(1000, 10);
    printf("calloc: %d\n", is_zero(at, 10000));
    free(at);
    printf("alignment: %d", (int)((uintptr_t)aligned_alloc(512, 512) % 512));
    printf(" %d %d\n", (int)((uintptr_t)memalign(2048, 5) % 2048),
           (int)((uintptr_t)pvalloc(1) % 4096));
    printf("usable: %d\n", malloc_usable_size(pvalloc(1)) >= 4096);
}

/* The child's counts must not go to its parent's thread. */
static void fork_child(void)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            if (malloc(10000) == NULL)
                _exit(1);
        spin(50);
        fprintf(stderr, "child %ld\n", (long)gettid());
        printf("child\n");
        exit(0);
    }
    waitpid(child, &status, 0);
    printf("child's status: %d\n", status);
}

/* Holds 20 MB, then becomes another program, which holds nothing of it. */
static void become(char *path)
{
    for (int i = 0; i < 2000; i++)
        if (malloc(10000) == NULL)
            exit(1);
    spin(20);
    execl(path, path, "small", (char *)NULL);
    exit(1);
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc > 1 && strcmp(argv[1], "exec") == 0)
        become(argv[0]);
    if (argc > 1) {
        spin(50);
        return 0;
    }
    semantics();
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    fork_child();
    spin(20);
    return 0;
}
