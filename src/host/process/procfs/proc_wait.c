/* proc_wait.c - see proc_wait.h. */
#include "process/procfs/proc_wait.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/procfs/procfs.h"

/* Which argument of a system call names the file. */
enum argument { DESCRIPTOR, FIRST, SECOND };

static const struct {
    long number;
    enum argument file;
} calls[] = {
    {SYS_read, DESCRIPTOR},       {SYS_pread64, DESCRIPTOR}, {SYS_pwrite64, DESCRIPTOR},
    {SYS_getdents64, DESCRIPTOR}, {SYS_openat, SECOND},      {SYS_readlinkat, SECOND},
    {SYS_newfstatat, SECOND},     {SYS_statx, SECOND},       {SYS_faccessat, SECOND},
#ifdef SYS_readlink
    {SYS_readlink, FIRST},
#endif
};

/* Parse "/proc/4711/maps". */
static pid_t process_of(const char *path)
{
    static const char folder[] = "/proc/";
    size_t bytes = sizeof folder - 1;

    return strncmp(path, folder, bytes) == 0 ? (pid_t)strtol(path + bytes, NULL, 10) : 0;
}

/* Read a descriptor's path. */
static void read_link(unsigned long long fd, char *path, size_t bytes)
{
    char link[48];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%llu", fd);
    length = readlink(link, path, bytes - 1);
    path[length > 0 ? length : 0] = 0;
}

/* Read a path that another thread has passed to the kernel. It may have gone on meanwhile. */
static void read_argument(unsigned long long address, char *path, size_t bytes)
{
    int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t length = memory >= 0 ? pread(memory, path, bytes - 1, (off_t)address) : 0;

    path[length > 0 ? length : 0] = 0;
    if (memory >= 0)
        close(memory);
}

static pid_t waits_for(pid_t tid)
{
    char name[48], text[256], path[32] = "";
    unsigned long long arguments[2];
    long number;

    snprintf(name, sizeof name, "task/%ld/syscall", (long)tid);
    if (nsc_procfs_read(getpid(), name, text, sizeof text) <= 0 ||
        sscanf(text, "%ld %llx %llx", &number, &arguments[0], &arguments[1]) != 3)
        return 0; /* it runs */
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (calls[i].number != number)
            continue;
        if (calls[i].file == DESCRIPTOR)
            read_link(arguments[0], path, sizeof path);
        else
            read_argument(arguments[calls[i].file == SECOND], path, sizeof path);
    }
    return process_of(path);
}

pid_t nsc_proc_wait_find(void)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    pid_t found = 0;

    while (threads != NULL && found == 0 && (entry = readdir(threads)) != NULL) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (tid > 0 && tid != gettid())
            found = waits_for(tid);
    }
    if (threads != NULL)
        closedir(threads);
    return found;
}
