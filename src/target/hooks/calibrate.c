/*
 * calibrate.c - a program of calls that do nothing: nanoscope-calibrate, built for tracing by the
 * build's own `nanoscope cc`. The recorder runs it to measure what a call costs
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
