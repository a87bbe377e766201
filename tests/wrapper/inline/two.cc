#include "both.h"

int two(int x)
{
    return shared_inline(x) + shared_template<int>(x);
}
