#include "greet.h"

static int greet_check(int a)
{
    return a < 0 ? 0 : a;
}

int greet_add(int a, int b)
{
    return greet_check(a) + greet_check(b);
}
