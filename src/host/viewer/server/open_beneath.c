/*
 * open_beneath.c - see open_beneath.h.
 *
 * A name is resolved to an O_PATH descriptor first, which has no side effects on devices and pipes.
 * A regular file is then opened for reading through that descriptor, so that it cannot be replaced
 * by another file of the same name in between.
 *
 * The folders on the path stay open, and ".." returns to the previous one. So the path never leaves
 * the first folder, even if folders are renamed meanwhile. (openat2() with RESOLVE_BENEATH does the
 * same, but the seccomp filter refuses it: a filter cannot inspect its arguments in memory.)
 */
#include "viewer/server/open_beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/os/regular_file.h"

enum { DEPTH_MAX = 64, LINKS_MAX = 40 };

struct way {
    int places[DEPTH_MAX + 1]; /* open folders; the first is owned by the caller */
    unsigned depth;            /* index of the current folder */
    unsigned links;            /* symbolic links followed so far */
    char rest[2][PATH_MAX];    /* the remaining path: one to read, one to write */
    unsigned now;              /* index of the one to read */
};

/* Follow a symbolic link: the remaining path becomes the link's target, then @left. */
static int follow(struct way *w, int link, const char *left)
{
    char text[PATH_MAX], *to = w->rest[1 - w->now];
    ssize_t length = readlinkat(link, "", text, sizeof text - 1);
    int written;

    if (length < 0)
        return -errno;
    text[length] = '\0';
    if (text[0] == '/' || ++w->links > LINKS_MAX)
        return -EXDEV;
    written = snprintf(to, sizeof w->rest[0], "%s/%s", text, left);
    if (written < 0 || (size_t)written >= sizeof w->rest[0])
        return -ENAMETOOLONG;
    w->now = 1 - w->now;
    return 0;
}

/* Resolve one component of the path. @left: the path after it. */
static int step(struct way *w, const char *name, const char *left)
{
    struct stat st;
    int fd, error;

    if (strcmp(name, "..") == 0) {
        if (w->depth == 0)
            return -EXDEV;
        close(w->places[w->depth--]);
        return 0;
    }
    if (w->depth == DEPTH_MAX)
        return -ENAMETOOLONG;
    fd = openat(w->places[w->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode)) {
        w->places[++w->depth] = fd;
        return 0;
    }
    error = follow(w, fd, left);
    close(fd);
    return error;
}

static int walk(struct way *w)
{
    const char *at = w->rest[w->now];
    int error = 0;

    while (error == 0 && *(at += strspn(at, "/")) != '\0') {
        size_t length = strcspn(at, "/");
        unsigned before = w->now;
        char name[NAME_MAX + 1];

        if (length > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(name, at, length);
        name[length] = '\0';
        at += length;
        if (strcmp(name, ".") != 0)
            error = step(w, name, at);
        if (w->now != before)
            at = w->rest[w->now];
    }
    return error;
}

/* Return an O_PATH descriptor of @path, or -errno. */
static int find(int folder, const char *path)
{
    struct way w = {.places = {folder}};
    size_t bytes = strlen(path) + 1;
    int found;

    if (*path == '/')
        return -EXDEV;
    if (bytes > sizeof w.rest[0])
        return -ENOENT;
    memcpy(w.rest[0], path, bytes);
    found = walk(&w);
    if (found == 0)
        found = w.depth > 0 ? w.places[w.depth--] : openat(folder, ".", O_PATH | O_CLOEXEC);
    while (w.depth > 0)
        close(w.places[w.depth--]);
    return found == -ENOTDIR || found == -ENAMETOOLONG ? -ENOENT : found;
}

int nsc_beneath_open(int folder, const char *path, struct stat *st)
{
    int found = find(folder, path), fd;

    if (found < 0)
        return found;
    fd = fstat(found, st) == 0 ? nsc_regular_file_reopen(found) : -errno;
    close(found);
    return fd;
}
