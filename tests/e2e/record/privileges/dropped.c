/*
 * dropped.c - a program of root's that records itself. A child that has given up its user ends the
 * recording by the memory that it shares, and writes a path where earlier programs wrote the
 * trace's new name. usage: dropped TRACE PATH
 */
#include <nanoscope/nanoscope.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/live.h"
#include "session_memory.h"

__attribute__((noinline)) static void work(void)
{
    usleep(1000);
}

int main(int argc, char **argv)
{
    struct nsc_live_header *header;
    int status = 0;
    pid_t child;

    if (argc != 3 || nanoscope_start(argv[1]) != 0)
        return 2;
    header = session_memory();
    work();
    child = fork();
    if (child == 0) {
        if (header == NULL || setresgid(65534, 65534, 65534) != 0 ||
            setresuid(65534, 65534, 65534) != 0)
            _exit(3);
        snprintf((char *)header->reserved, sizeof header->reserved, "%s", argv[2]);
        __atomic_store_n(&header->request, NSC_LIVE_REQUEST_STOP, __ATOMIC_RELEASE);
        _exit(0);
    }
    waitpid(child, &status, 0);
    usleep(300000);
    return WEXITSTATUS(status);
}
