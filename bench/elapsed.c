/*
 * elapsed.c - runs a program and writes how long it took, from its start to its end.
 *
 * usage: elapsed RESULT PROGRAM ARGS...   RESULT: "wall_s cpu_s". Not traced itself: put between a
 * tracer and a program, it leaves the tracer's own start and end out of the measure.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct rusage usage;
    int status = 0;
    double start, wall;
    pid_t pid;
    FILE *out;

    if (argc < 3)
        return 2;
    start = now_s();
    pid = fork();
    if (pid == 0) {
        execv(argv[2], argv + 2);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
        return 1;
    wall = now_s() - start;
    out = fopen(argv[1], "w");
    if (out == NULL)
        return 1;
    fprintf(out, "%.6f %.6f\n", wall,
            (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
