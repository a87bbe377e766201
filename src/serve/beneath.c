/*
 * beneath.c - regular files below a folder; see beneath.h.
 *
 * A name is resolved to an O_PATH descriptor first, which has no side effect on devices and pipes.
 * Only what turns out to be a regular file is opened for reading, through that descriptor, so that
 * another file under the same name cannot take its place in between.
 */
#include "serve/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTEMPTS 16 /* at a path whose folders are being renamed */

static int find_by_openat2(int folder, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};

    for (int i = 0; i < ATTEMPTS; i++) {
        long fd = syscall(SYS_openat2, folder, path, &how, sizeof how);

        if (fd >= 0)
            return (int)fd;
        if (errno != EAGAIN && errno != EINTR)
            break;
    }
    return -errno;
}

/* One name in @folder. */
static int step(int folder, const char *name)
{
    int fd =
        strcmp(name, "..") == 0 ? -EXDEV : openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return fd == -EXDEV ? fd : -errno;
    if (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))
        return fd;
    close(fd);
    return -EXDEV;
}

int nsc_beneath_walk(int folder, const char *path)
{
    int at = *path == '/' ? -EXDEV : openat(folder, ".", O_PATH | O_CLOEXEC);

    if (at < 0)
        return at == -EXDEV ? at : -errno;
    while (at >= 0 && *path != '\0') {
        char name[NAME_MAX + 1];
        size_t length = strcspn(path, "/");
        int next = -ENAMETOOLONG;

        if (length < sizeof name) {
            memcpy(name, path, length);
            name[length] = '\0';
            next = step(at, length > 0 ? name : ".");
        }
        close(at);
        at = next;
        path += length + (path[length] == '/');
    }
    return at;
}

static int find(int folder, const char *path)
{
    int fd = find_by_openat2(folder, path);

    /* EPERM: sandboxes that do not know the call. */
    if (fd == -ENOSYS || fd == -EPERM || fd == -EINVAL)
        fd = nsc_beneath_walk(folder, path);
    if (fd == -ELOOP)
        return -EXDEV;
    return fd == -ENOTDIR || fd == -ENAMETOOLONG ? -ENOENT : fd;
}

int nsc_beneath_open(int folder, const char *path, struct stat *st)
{
    char self[32];
    int found = find(folder, path), fd;

    if (found < 0)
        return found;
    if (fstat(found, st) != 0) {
        fd = -errno;
    } else if (!S_ISREG(st->st_mode)) {
        fd = -EINVAL;
    } else {
        /* O_NONBLOCK: does not wait for the holder of a lease. */
        snprintf(self, sizeof self, "/proc/self/fd/%d", found);
        fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
            fd = errno == ENOENT ? -EIO /* without /proc */ : -errno;
    }
    close(found);
    return fd;
}
