/* Calls of a known number: fib(n) is called 2 * fib(n + 1) - 1 times. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(int argc, char **argv)
{
    return printf("%d\n", fib(argc > 1 ? atoi(argv[1]) : 10)) < 0;
}
