// Exceptions, jumps and a thread that ends by unwinding, with calls through untraced code after
// each.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <vector>

#define CALLED __attribute__((noinline))

struct Guard {
    int depth;
    CALLED ~Guard() { std::printf("~Guard %d\n", depth); }
};

CALLED int thrower(int n)
{
    Guard guard{n};

    if (n == 0)
        throw std::runtime_error("thrown");
    return thrower(n - 1) + 1;
}

CALLED bool before(int a, int b)
{
    return a < b;
}

CALLED int catcher(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &) {
        std::vector<int> v{3, 1, 2};
        std::sort(v.begin(), v.end(), before);
        return v[0];
    }
}

static jmp_buf env;

CALLED void jumper(int n)
{
    if (n == 0)
        longjmp(env, 1);
    jumper(n - 1);
}

CALLED void leave(int n)
{
    Guard guard{n};

    if (n == 0)
        pthread_exit(nullptr);
    leave(n - 1);
}

static void *body(void *)
{
    leave(2);
    return nullptr;
}

int main()
{
    pthread_t thread;
    int sum = catcher(3);

    if (setjmp(env) == 0)
        jumper(3);
    sum += catcher(2);
    pthread_create(&thread, nullptr, body, nullptr);
    pthread_join(thread, nullptr);
    std::printf("%d\n", sum);
}
