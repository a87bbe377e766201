/* program.cc - calls of many kinds in two threads: recursion, exceptions, the C++ library, and
 * phases in which other functions are called, for enough events that a thread has several chunks.
 */
#include <pthread.h>
#include <stdexcept>
#include <vector>

#define KEEP __attribute__((noinline))

static volatile unsigned sink;

KEEP unsigned leaf(unsigned n)
{
    return sink += n;
}

KEEP unsigned rare(unsigned n)
{
    return leaf(n) + 1;
}

KEEP unsigned tree(unsigned depth)
{
    return depth == 0 ? leaf(1) : tree(depth - 1) + tree(depth - 1);
}

KEEP void thrower(unsigned depth)
{
    if (depth == 0)
        throw std::runtime_error("here");
    thrower(depth - 1);
}

KEEP void catcher(unsigned depth)
{
    try {
        thrower(depth);
    } catch (const std::exception &) {
        leaf(2);
    }
}

KEEP void phase(unsigned number, unsigned turns)
{
    std::vector<unsigned> values;

    for (unsigned i = 0; i < turns; i++) {
        tree(number % 5);
        values.push_back(leaf(i));
        if (number == 3 && i % 100 == 0)
            rare(i);
        if (number % 4 == 1 && i % 50 == 0)
            catcher(5);
    }
    sink += values.back();
}

KEEP void *work(void *turns)
{
    for (unsigned i = 0; i < 8; i++)
        phase(i, *(unsigned *)turns);
    return nullptr;
}

int main()
{
    unsigned turns = 700;
    pthread_t thread;

    pthread_create(&thread, nullptr, work, &turns);
    work(&turns);
    pthread_join(thread, nullptr);
    return 0;
}
