/*
 * Everything that a call can carry through registers arrives, in both directions, whether hooks are
 * on or off: arguments, variable arguments, all kinds of return values, a nested function's static
 * chain, errno, targets of tail calls. Prints what went wrong; exits 1 if anything did.
 */
#include <complex.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#ifdef __clang__
#undef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif

static int failures;

#define CHECK(e)                                                                                   \
    do {                                                                                           \
        if (!(e)) {                                                                                \
            printf("line %d: %s\n", __LINE__, #e);                                                 \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

struct pair {
    long first;
    double second;
};
struct triple {
    long a, b, c;
};

NOINLINE static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

NOINLINE static double floats(float a, double b, float c, double d, double e, double f, double g,
                              double h, double i)
{
    return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + i * 9;
}

NOINLINE static double sum(int count, ...)
{
    double total = 0;
    va_list ap;

    va_start(ap, count);
    for (int i = 0; i < count; i++)
        total += i % 2 ? va_arg(ap, double) : va_arg(ap, int);
    va_end(ap);
    return total;
}

NOINLINE static long double extended(long double x)
{
    return x / 3;
}
NOINLINE static __int128 wide(__int128 x)
{
    return x * 3 + 1;
}
NOINLINE static struct pair pair(long a, double b)
{
    return (struct pair){a + 1, b * 2};
}
NOINLINE static struct triple triple(long a)
{
    return (struct triple){a, a + 1, a + 2};
}
NOINLINE static double complex root(double complex z)
{
    return z * z;
}
NOINLINE static int touch_errno(int x)
{
    return x + 1;
}

NOINLINE static long target(long a, long b, long c, long d, long e, long f)
{
    return a - b + c - d + e - f;
}

typedef long (*function)(long, long, long, long, long, long);
static function volatile chosen = target;

/* A tail call through a register, with every argument register in use. */
NOINLINE static long tail(long a, long b, long c, long d, long e, long f)
{
    return chosen(f, e, d, c, b, a);
}

#ifdef __SSE2__
typedef float vector __attribute__((vector_size(16)));

NOINLINE static vector vectors(vector a, vector b, vector c)
{
    return a * b + c;
}
#endif

#ifndef __clang__
NOINLINE static long apply(long (*f)(long), long n)
{
    return f(n);
}

NOINLINE static long nested(long base)
{
    long add(long x)
    {
        return x + base;
    }

    return apply(add, 5) + add(7);
}
#endif

int main(void)
{
    for (long i = 0; i < 100; i++) {
        struct pair p = pair(i, 0.5);
        struct triple t = triple(i);

        CHECK(many(1, 2, 3, 4, 5, 6, 7, i) == 140 + 8 * i);
        CHECK(floats(1, 2, 3, 4, 5, 6, 7, 8, (double)i) == 204 + 9 * (double)i);
        CHECK(sum(4, 1, 2.5, 3, 4.5) == 11);
        CHECK(sum(9, 1, .5, 1, .5, 1, .5, 1, .5, 1) == 7);
        CHECK(extended(3.0L * i) == (long double)i);
        CHECK(wide((__int128)1 << 100) == ((__int128)3 << 100) + 1);
        CHECK(p.first == i + 1 && p.second == 1);
        CHECK(t.a == i && t.b == i + 1 && t.c == i + 2);
        CHECK(creal(root(2 + 1 * I)) == 3 && cimag(root(2 + 1 * I)) == 4);
        CHECK(tail(1, 2, 3, 4, 5, 6) == 6 - 5 + 4 - 3 + 2 - 1);
        errno = (int)i;
        CHECK(touch_errno(1) == 2 && errno == i);
#ifdef __SSE2__
        vector v = vectors((vector){1, 2, 3, 4}, (vector){2, 2, 2, 2}, (vector){1, 1, 1, 1});
        CHECK(v[0] == 3 && v[1] == 5 && v[2] == 7 && v[3] == 9);
#endif
#ifndef __clang__
        CHECK(nested(i) == 12 + 2 * i);
#endif
    }
    return failures != 0;
}
