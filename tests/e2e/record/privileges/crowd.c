/*
 * crowd.c - many processes that cost a list of all processes much time. usage: crowd KIND COUNT
 * silent: each has an endpoint whose queue is full and that does not reply.
 * open: each maps a memory file like a session's, and has 1,000 files open.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int fill_queue(const char *folder, struct sockaddr_un *address)
{
    int server = socket(AF_UNIX, SOCK_SEQPACKET, 0), i;

    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof address->sun_path, "%s/all", folder);
    if (bind(server, (struct sockaddr *)address, sizeof *address) != 0 || listen(server, 0) != 0)
        return -1;
    for (i = 0; i < 5; i++)
        (void)!connect(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0),
                       (struct sockaddr *)address, sizeof *address);
    return 0;
}

static void open_files(void)
{
    int memory = memfd_create("nanoscope", 0), i;

    if (ftruncate(memory, 4096) != 0 ||
        mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, 0) == MAP_FAILED)
        _exit(1);
    close(memory);
    for (i = 0; i < 1000; i++)
        (void)!open("/dev/null", O_RDONLY);
}

int main(int argc, char **argv)
{
    int silent = argc == 3 && strcmp(argv[1], "silent") == 0, count, i;
    struct sockaddr_un address = {0};
    char folder[64], path[128];

    if (argc != 3)
        return 2;
    count = atoi(argv[2]);
    snprintf(folder, sizeof folder, "/tmp/nanoscope-%u", getuid());
    if (silent && fill_queue(folder, &address) != 0)
        return 1;
    for (i = 0; i < count; i++) {
        pid_t child = fork();

        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (!silent)
                open_files();
            pause();
            _exit(0);
        }
        snprintf(path, sizeof path, "%s/%d.sock", folder, child);
        if (silent && link(address.sun_path, path) != 0)
            return 1;
    }
    sleep(1);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
