/*
 * busy.c - threads that call without end, while functions are chosen and given up.
 *
 * usage: busy THREADS FILE   ends when FILE is there; "ok" if every call came to the right result
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define HERE     __asm__ volatile("")

static volatile int stop, wrong;

NOINLINE int leaf(int x)
{
    HERE;
    return x * 3;
}
NOINLINE int tail(int x)
{
    HERE;
    return leaf(x + 1);
}
NOINLINE int node(int x)
{
    int sum = leaf(x) + tail(x);

    HERE;
    return sum + 1;
}
NOINLINE int deep(int n)
{
    HERE;
    return n == 0 ? node(1) : deep(n - 1) + 1;
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; !stop; i++)
        if (node(i % 1000) != 6 * (i % 1000) + 4 || deep(i % 30) != 10 + i % 30)
            wrong = 1;
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc == 3 ? atoi(argv[1]) : 0, status = 0;
    pthread_t threads[64];

    if (count < 1 || count > 64)
        return 2;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    while (access(argv[2], F_OK) != 0) {
        pid_t child = fork();

        if (child == 0)
            _exit(node(7) == 46 ? 0 : 1);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            wrong = 1;
        usleep(20000);
    }
    wrong |= node(8) != 52;
    stop = 1;
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    puts(wrong ? "wrong" : "ok");
    return 0;
}
