/* A function whose entry belongs to somebody else: clang gives it exits, but no entry sled. */
__attribute__((noinline, patchable_function_entry(9))) static int taken(volatile int *x)
{
    return ++*x;
}

__attribute__((noinline)) static int free_one(volatile int *x)
{
    return ++*x;
}

int main(void)
{
    volatile int x = 0;
    int i;

    for (i = 0; i < 3; i++)
        if (taken(&x) == free_one(&x))
            return 1;
    return 0;
}
