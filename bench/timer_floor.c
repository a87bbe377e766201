/*
 * timer_floor.c - what it costs that the kernel interrupts a program every millisecond of its
 * processor time, if nothing is stored: runs a program so.
 *
 * usage: timer_floor PROGRAM ARGUMENT...
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PERIOD_NS = 1000000 };

int main(int argc, char **argv)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = PERIOD_NS,
        .sample_type = PERF_SAMPLE_TIME,
        .disabled = 1,
        .enable_on_exec = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

    if (argc < 2 || fd < 0) {
        perror("timer_floor");
        return 1;
    }
    execv(argv[1], argv + 1);
    perror(argv[1]);
    return 1;
}
