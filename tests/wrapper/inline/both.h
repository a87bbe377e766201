// both.h - functions that both sources define, so that the linker keeps one of each and drops the
// rest.
#ifndef BOTH_H
#define BOTH_H
__attribute__((noinline)) inline int shared_inline(int x)
{
    return x + 1;
}

template <class T> __attribute__((noinline)) T shared_template(T x)
{
    return x * 2;
}

__attribute__((noinline)) inline int never_called(int x)
{
    return x + 3;
}

int two(int x);
#endif
