/*
 * spin.c - a fixed amount of work in few calls: what sampling costs, not what recording does.
 *
 * usage: spin ROUNDS   of about a millisecond each.
 */
#include <stdlib.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void round_of_work(unsigned long seed)
{
    unsigned long x = seed | 1;

    for (int i = 0; i < 700000; i++)
        x = x * 6364136223846793005ul + 1442695040888963407ul;
    sink += x;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;

    for (long i = 0; i < rounds; i++)
        round_of_work((unsigned long)i);
    return 0;
}
