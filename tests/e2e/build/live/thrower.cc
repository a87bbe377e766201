// A C++ plug-in that throws, for a C program that has no C++ library of its own (host.c).
#include <stdexcept>

extern "C" __attribute__((visibility("default"))) int plugin_work(int n)
{
    int caught = 0;

    while (n-- > 0) {
        try {
            throw std::runtime_error("thrown");
        } catch (const std::exception &) {
            caught++;
        }
    }
    return caught;
}
