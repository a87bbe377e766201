/*
 * calibrate.c - nanoscope-calibrate: a program that makes empty calls, built for tracing by the
 * build's own `nanoscope cc`. The recorder runs it to measure the cost of a call
 * (record/budget/hook_cost.c).
 */
enum { CALLS = 3000 };

__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}

int main(void)
{
    int i;

    for (i = 0; i < CALLS; i++)
        nothing();
    return 0;
}
