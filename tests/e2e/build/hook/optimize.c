/*
 * optimize.c - functions with optimisation options of their own. gcc works these out anew for each,
 * and may then keep values in registers that the called function is known to leave alone.
 *
 * usage: optimize ROUNDS   prints a number that all registers have a part in
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-ipa-pure-const")
#define FAST __attribute__((noinline, optimize("O3")))
#else
#define FAST __attribute__((noinline))
#endif

static volatile uint64_t seed = 88172645463325252u;

static __attribute__((noinline)) uint64_t leaf(uint64_t x)
{
    return x ^ seed;
}

static FAST uint64_t twice(uint64_t x)
{
    return leaf(x) + x;
}

/* More values live over each call than there are registers that every function keeps. */
static __attribute__((noinline)) uint64_t many(const uint64_t *v)
{
    uint64_t a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];

    for (int i = 0; i < 3; i++) {
        a += leaf(b);
        c ^= leaf(d) * 3;
        e += twice(f) ^ a;
        g ^= leaf(h) + c;
        b = b * 5 + g;
        d += h ^ e;
        f = f * 7 + a;
        h += b ^ d;
    }
    return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

static FAST uint64_t also_many(const uint64_t *v)
{
    uint64_t a = v[7], b = v[6], c = v[5], d = v[4], e = v[3], f = v[2], g = v[1], h = v[0];

    for (int i = 0; i < 3; i++) {
        a = a * 3 + twice(c ^ d);
        b += leaf(a) ^ e;
        c ^= leaf(b) + f;
        d = d * 9 + leaf(g);
        e += twice(h) ^ b;
        f ^= a + c;
        g += d ^ e;
        h = h * 11 + f;
    }
    return a + b + c + d + e + f + g + h;
}

int main(int argc, char **argv)
{
    uint64_t v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, sum = 0;
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;

    for (int i = 0; i < rounds; i++) {
        sum = sum * 31 + many(v) + also_many(v);
        v[i % 8] ^= sum;
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
