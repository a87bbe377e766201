/* A million frames deep, and frames that jump beyond an anchor's reach. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static long dive(long n)
{
    volatile long here = n;

    return n == 0 ? 0 : dive(n - 1) + here - here + 1;
}

__attribute__((noinline)) static void leaf(volatile char *at)
{
    *at = 1;
}

__attribute__((noinline)) static void wide(int n)
{
    volatile char frame[200 * 1024];

    leaf(frame);
    if (n > 0)
        wide(n - 1);
    leaf(frame);
}

static void *work(void *arg)
{
    long n = *(long *)arg;

    if (dive(n) != n)
        abort();
    wide(20);
    return NULL;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    pthread_attr_t large;
    pthread_t id;

    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, (size_t)1 << 30);
    if (pthread_create(&id, &large, work, &n) != 0)
        return 1;
    pthread_join(id, NULL);
    return 0;
}
