/*
 * crowd.c - many processes that cost a list of all processes much time. usage: crowd KIND COUNT
 * silent: each has an endpoint whose queue is full and that does not reply.
 * open: each maps a memory file like a session's, and has 1,000 files open.
 * mapped: one process instead, with COUNT mappings of a file whose path has 15,000 bytes.
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
#include <sys/stat.h>
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

/* In the working folder. The same page each time, so that the kernel does not merge them. */
static int map_file(int count)
{
    char name[251];
    int fd, i;

    memset(name, 'd', sizeof name - 1);
    name[sizeof name - 1] = 0;
    for (i = 0; i < 60; i++)
        if (mkdir(name, 0700) != 0 || chdir(name) != 0)
            return -1;
    fd = open(name, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return -1;
    for (i = 0; i < count; i++)
        if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    int silent = argc == 3 && strcmp(argv[1], "silent") == 0;
    int mapped = argc == 3 && strcmp(argv[1], "mapped") == 0, count, i;
    struct sockaddr_un address = {0};
    char folder[64], path[128];

    if (argc != 3)
        return 2;
    count = atoi(argv[2]);
    snprintf(folder, sizeof folder, "/tmp/nanoscope-%u", getuid());
    if (silent && fill_queue(folder, &address) != 0)
        return 1;
    if (mapped && map_file(count) != 0)
        return 1;
    for (i = 0; i < count && !mapped; i++) {
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
