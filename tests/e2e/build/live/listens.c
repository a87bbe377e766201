/*
 * A program with an endpoint that must not notice it. Prints the number that its first own
 * descriptor gets, then `ready`; waits for a line on standard input, calls step() so often as that
 * says, and prints `sum N`.
 *
 * usage: listens [work | leave | close | setuid | fork]
 *   leave   main()'s thread ends; another one does the work, and the program ends with it
 *   close   closes every descriptor but the standard ones first
 *   setuid  changes its user id, which libc has every thread do
 *   fork    a child does the work
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <nanoscope/nanoscope.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTRACE NANOSCOPE_NOTRACE __attribute__((noinline))

__attribute__((noinline)) unsigned long step(unsigned long x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

NOTRACE static void *work(void *arg)
{
    unsigned long x = 0;
    char line[32];
    int n;

    if (fgets(line, sizeof line, stdin) == NULL)
        return arg;
    for (n = atoi(line); n > 0; n--)
        x = step(x);
    printf("sum %lu\n", x); /* not flushed: the end of the program does that */
    return arg;
}

NOTRACE int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "work";
    pthread_t id;
    int fd;

    usleep(100000); /* the endpoint is there by now */
    if (strcmp(mode, "close") == 0)
        for (fd = 3; fd < 1024; fd++)
            close(fd);
    fd = open("/dev/null", O_RDONLY);
    printf("%d\n", fd);
    if (strcmp(mode, "setuid") == 0 && setuid(getuid()) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    if (strcmp(mode, "leave") == 0) {
        if (pthread_create(&id, NULL, work, NULL) != 0)
            return 1;
        pthread_exit(NULL);
    }
    if (strcmp(mode, "fork") == 0 && fork() != 0)
        return wait(&fd) < 0 || fd != 0;
    work(NULL);
    return 0;
}
