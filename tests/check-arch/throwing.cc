// throwing.cc - exceptions through hooked frames, for make check-arch.
#include <cstdio>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

extern "C" NOINLINE int leaf(int x)
{
    return x + sink;
}

struct guard {
    int value;
    NOINLINE ~guard() { sink = sink + leaf(value) - value; }
};

extern "C" NOINLINE int thrower(int n)
{
    guard g = {n};

    if (n == 0)
        throw 7;
    return thrower(n - 1) + leaf(n);
}

extern "C" NOINLINE int catcher(int n)
{
    try {
        return thrower(n);
    } catch (int value) {
        return leaf(value);
    }
}

int main()
{
    int total = catcher(3) + leaf(1) + catcher(0);

    std::printf("total %d\n", total);
    return total;
}
