/* procfs.c - see procfs.h. */
#include "process/procfs/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A flag in /proc/PID/stat. Source: include/linux/sched.h. */
#define PF_EXITING 4u

/* Threads may end, and others begin, while one that lives is searched. */
#define THREAD_TRIES 10
#define MAPS_BYTES   (32 << 10) /* buffer for reading maps */

int nsc_procfs_read(pid_t pid, const char *name, char *text, size_t bytes)
{
    char path[64];
    size_t length = 0;
    ssize_t n = 0;
    int fd, error;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    while (length < bytes - 1) {
        n = read(fd, text + length, bytes - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        length += (size_t)n;
    }
    error = n < 0 ? -errno : 0;
    close(fd);
    text[length] = 0;
    return length > 0 || error == 0 ? (int)length : error;
}

bool nsc_procfs_field(const char *status, const char *key, int base, uint64_t *value)
{
    size_t length = strlen(key);
    const char *line = status;

    while (line != NULL) {
        if (strncmp(line, key, length) == 0 && line[length] == ':') {
            *value = strtoull(line + length + 1, NULL, base);
            return true;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return false;
}

char nsc_procfs_state(const char *stat)
{
    const char *end = strrchr(stat, ')');

    return (char)(end != NULL && end[1] == ' ' ? end[2] : 0);
}

int64_t nsc_procfs_age_ms(const char *stat)
{
    const char *end = strrchr(stat, ')');
    long ticks = sysconf(_SC_CLK_TCK);
    unsigned long long began;
    struct timespec now;

    /* After the name: state, 12 numbers up to the CPU times, 6 more, then the start time. */
    if (end == NULL || ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0 ||
        sscanf(end + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &began) != 1)
        return INT64_MAX;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 -
           (int64_t)(began * 1000 / (unsigned long)ticks);
}

bool nsc_procfs_is_exiting(const char *stat)
{
    const char *end = strrchr(stat, ')');
    unsigned flags = 0;
    char state = 0;

    /* After the name: state, parent, group, session, terminal, its group, flags. */
    return end == NULL || sscanf(end + 1, " %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2 ||
           state == 'Z' || state == 'X' || (flags & PF_EXITING) != 0;
}

bool nsc_procfs_has_thread(pid_t pid, pid_t tid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld/task/%ld", (long)pid, (long)tid);
    return tid > 0 && access(path, F_OK) == 0;
}

static bool is_alive(pid_t pid, const char *name)
{
    char stat[512];

    return nsc_procfs_read(pid, name, stat, sizeof stat) > 0 && !nsc_procfs_is_exiting(stat);
}

/* Returns a living thread of process @pid; 0: none. @others: receives whether there are threads
 * other than the first. */
static pid_t find_living(pid_t pid, bool *others)
{
    const struct dirent *entry;
    pid_t found = 0;
    char path[64];
    DIR *tasks;

    *others = false;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    tasks = opendir(path);
    while (tasks != NULL && found == 0 && (entry = readdir(tasks)) != NULL) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

        *others |= tid > 0 && tid != pid;
        snprintf(path, sizeof path, "task/%ld/stat", (long)tid);
        if (tid > 0 && is_alive(pid, path))
            found = tid;
    }
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

pid_t nsc_procfs_memory_thread(pid_t pid)
{
    bool others = true;
    pid_t found = 0;
    int tries;

    if (is_alive(pid, "stat"))
        return pid;
    for (tries = 0; tries < THREAD_TRIES && found == 0 && others; tries++)
        found = find_living(pid, &others);
    return found > 0 ? found : pid;
}

/* Store the path of a file of a thread of the process. */
static void path_of(pid_t pid, pid_t tid, const char *name, char *path, size_t bytes)
{
    if (tid == pid)
        snprintf(path, bytes, "/proc/%ld/%s", (long)pid, name);
    else
        snprintf(path, bytes, "/proc/%ld/task/%ld/%s", (long)pid, (long)tid, name);
}

void nsc_procfs_memory_path(pid_t pid, const char *name, char *path, size_t bytes)
{
    path_of(pid, nsc_procfs_memory_thread(pid), name, path, bytes);
}

FILE *nsc_procfs_open_maps(pid_t pid)
{
    pid_t tid = pid;
    int tries, byte, error;
    char path[64];
    FILE *maps;

    for (tries = 0;; tries++) {
        path_of(pid, tid, "maps", path, sizeof path);
        maps = fopen(path, "re");
        error = errno;
        if (maps != NULL) {
            setvbuf(maps, NULL, _IOFBF, MAPS_BYTES); /* the default is 1 KiB */
            byte = getc(maps);
            if (byte != EOF) {
                ungetc(byte, maps);
                return maps;
            }
        }
        /* Only the memory of an ended thread is not shown; the next one may end before its maps are
         * opened. */
        tid = nsc_procfs_memory_thread(pid);
        if (tid == pid || tries == THREAD_TRIES)
            break;
        if (maps != NULL)
            fclose(maps);
    }
    errno = error;
    return maps;
}
