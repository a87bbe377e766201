/* inherited.c - see inherited.h. */
#include "util/privileges/inherited.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FD_FIRST = 3 };

struct kept {
    const int *fds;
    size_t count;
};

static bool is_kept(const struct kept *keep, int fd)
{
    for (size_t i = 0; i < keep->count; i++)
        if (keep->fds[i] == fd)
            return true;
    return false;
}

/* Close descriptors one by one, on kernels without close_range(). */
static void close_listed(const struct kept *keep)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int fd = (int)strtol(entry->d_name, NULL, 10); /* 0 for "." and "..": below FD_FIRST */

        if (fd >= FD_FIRST && fd != dirfd(folder) && !is_kept(keep, fd))
            close(fd);
    }
    if (folder != NULL)
        closedir(folder);
}

static void close_others(const struct kept *keep)
{
    unsigned from = FD_FIRST;

    for (;;) {
        unsigned next = ~0u;

        for (size_t i = 0; i < keep->count; i++)
            if (keep->fds[i] >= 0 && (unsigned)keep->fds[i] >= from &&
                (unsigned)keep->fds[i] < next)
                next = (unsigned)keep->fds[i];
        if (next > from && syscall(SYS_close_range, from, next == ~0u ? next : next - 1, 0) != 0) {
            close_listed(keep);
            return;
        }
        if (next == ~0u)
            return;
        from = next + 1;
    }
}

/* Libraries print errors to stderr, which must not reach the user's terminal. */
static void replace_stdio(const struct kept *keep)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0) /* the parent cannot open files for writing: see confine_reader.h */
        null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    for (int fd = 0; fd < FD_FIRST; fd++)
        if (fd != null && !is_kept(keep, fd)) {
            if (null >= 0)
                (void)dup2(null, fd);
            else
                close(fd);
        }
    if (null >= FD_FIRST)
        close(null);
}

static void unmap_shared(const void *keep)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool is_start = true; /* of a line: names may be longer than @line */

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end;
        char rights[5];

        if (is_start && sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 &&
            rights[3] == 's' && start != (unsigned long)keep)
            munmap((void *)start, end - start); /* NOLINT(performance-no-int-to-ptr) */
        is_start = strchr(line, '\n') != NULL;
    }
    if (maps != NULL)
        fclose(maps);
}

void nsc_inherited_drop(const int *keep, size_t count, const void *shared)
{
    const struct kept kept = {keep, count};

    close_others(&kept);
    replace_stdio(&kept);
    unmap_shared(shared);
}
