/* regular_file.c - see regular_file.h. */
#include "util/os/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int nsc_regular_file_reopen(int place)
{
    struct stat st;
    char self[32];
    int fd;

    if (fstat(place, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    /* O_NONBLOCK: do not wait for the holder of a lease. */
    snprintf(self, sizeof self, "/proc/self/fd/%d", place);
    fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? -EIO /* no /proc */ : -errno;
    return fd;
}

static int open_as(const char *path, int flags)
{
    int place = open(path, O_PATH | O_CLOEXEC | flags), fd;

    if (place < 0)
        return -errno;
    fd = nsc_regular_file_reopen(place);
    close(place);
    return fd;
}

int nsc_regular_file_open(const char *path)
{
    return open_as(path, 0);
}

int nsc_regular_file_open_beside(const char *path)
{
    return open_as(path, O_NOFOLLOW);
}
