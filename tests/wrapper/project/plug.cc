// A plug-in, loaded with dlopen(); throws through its own frames.
#include <vector>

#include "greet.h"

static int plug_throw(int value)
{
    std::vector<int> values(static_cast<unsigned>(value), 1);

    if (values.size() > 2)
        throw value;
    return value;
}

extern "C" __attribute__((visibility("default"))) int plug_mul(int value)
{
    try {
        return plug_throw(value);
    } catch (int caught) {
        return greet_add(caught, caught);
    }
}
