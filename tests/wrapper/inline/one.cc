#include "both.h"

int (*volatile unused)(int) = never_called;

int main()
{
    return shared_inline(1) + shared_template<int>(1) + two(1) == 8 ? 0 : 1;
}
