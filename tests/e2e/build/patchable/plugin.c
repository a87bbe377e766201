/* plugin.c - see reload.c */
long entry(long x);
static __attribute__((noinline)) long inner(long x)
{
    __asm__ volatile("");
    return x + 1;
}
long entry(long x)
{
    __asm__ volatile("");
    return inner(x) + inner(x);
}
