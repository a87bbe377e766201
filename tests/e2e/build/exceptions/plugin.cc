// Throws and catches inside a plug-in.
#include <stdexcept>

__attribute__((noinline)) int thrower(int n)
{
    if (n == 0)
        throw std::runtime_error("thrown");
    return thrower(n - 1) + 1;
}

extern "C" int plugin(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &) {
        return 42;
    }
}
