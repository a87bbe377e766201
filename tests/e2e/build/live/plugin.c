/* A plug-in: plugin_work() calls plugin_step() as often as it is told. */
__attribute__((noinline)) static void plugin_step(volatile int *count)
{
    ++*count;
}

__attribute__((visibility("default"))) int plugin_work(int n);

int plugin_work(int n)
{
    volatile int count = 0;

    while (n-- > 0)
        plugin_step(&count);
    return count;
}
