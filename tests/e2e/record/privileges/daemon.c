/*
 * daemon.c - a program built for tracing, in three forms: a daemon of root's that works as another
 * user; with -DSHORT, one that works ten times and ends; with -DITSELF, one that records itself
 * (usage: itself FILE FILE_AT_THE_END).
 */
#include <nanoscope/nanoscope.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((noinline)) static void work(void)
{
    usleep(1000);
}

int main(int argc, char **argv)
{
    int i;

#ifdef ITSELF
    if (argc < 3 || nanoscope_start(argv[1]) != 0)
        return 1;
#else
    (void)argc;
    (void)argv;
#endif
#if defined SHORT || defined ITSELF
    for (i = 0; i < 10; i++)
        work();
#else
    /* Hooks are made ready through /proc/self/mem, which such a process may not open. */
    if (geteuid() == 0 && (seteuid(65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0))
        return 1;
    puts("ready");
    fflush(stdout);
    for (i = 0; i < 60000; i++)
        work();
#endif
#ifdef ITSELF
    return nanoscope_stop(argv[2]) != 0;
#else
    return 0;
#endif
}
