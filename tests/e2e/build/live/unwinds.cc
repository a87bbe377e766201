// Throws and catches through recursion, with calls afterwards; virtual and inline functions of
// several files, so that COMDAT groups meet.
#include <cstdio>
#include <stdexcept>

static volatile int sink;

__attribute__((noinline)) static void after(int n)
{
    sink = n;
}

__attribute__((noinline)) static int descend(int n, int to)
{
    if (n == to)
        throw std::runtime_error("bottom");
    return descend(n + 1, to) + 1;
}

template <int N> __attribute__((noinline)) int shared(int base)
{
    return base + N;
}
int other();

int main()
{
    for (int i = 0; i < 1000; i++) {
        try {
            descend(0, 10);
        } catch (const std::exception &) {
            after(i);
        }
        try {
            try {
                descend(0, 5);
            } catch (...) {
                after(i);
                throw;
            }
        } catch (const std::exception &) {
            after(i);
        }
    }
    return shared<1>(10) + other() == 11 + 21 + 22 ? 0 : 1;
}
