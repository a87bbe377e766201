/* own_path.c - see own_path.h. */
#include "util/privileges/own_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/path.h"
#include "util/privileges/mount_trust.h"

#define LINKS_MAX 40 /* as in the kernel */
#define NOBODY    ((uid_t)-1)

/* A walk to a file, folder by folder. */
struct walk {
    int folder; /* O_PATH */
    unsigned links;
    char rest[2 * PATH_MAX];
};

bool nsc_own_path_has_acl(int fd, const char *kind)
{
    char path[48], name[48];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd); /* as it may be open with O_PATH */
    snprintf(name, sizeof name, "system.posix_acl_%s", kind);
    return getxattr(path, name, NULL, 0) >= 0 || (errno != ENODATA && errno != EOPNOTSUPP);
}

/* Fills @st. With an access control list, the mode shows rights of other users as the group's. */
static bool keeps_names(int folder, struct stat *st)
{
    if (!nsc_mount_is_own(folder) || fstat(folder, st) != 0 ||
        (st->st_uid != geteuid() && st->st_uid != 0))
        return false;
    return (st->st_mode & S_ISVTX) != 0 ||
           ((st->st_mode & S_IWOTH) == 0 &&
            ((st->st_mode & S_IWGRP) == 0 ||
             (st->st_gid == getegid() && !nsc_own_path_has_acl(folder, "access"))));
}

bool nsc_own_path_keeps_names(int folder)
{
    struct stat st;

    return keeps_names(folder, &st);
}

/* Return true if no other user can exchange an entry of the folder that belongs to @owner. NOBODY:
 * if none can create one. */
static bool keeps(const struct walk *w, uid_t owner)
{
    struct stat folder;

    return keeps_names(w->folder, &folder) &&
           ((folder.st_mode & S_ISVTX) == 0 || owner == geteuid() || owner == 0);
}

static bool enter(struct walk *w, const char *name)
{
    int next = openat(w->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (next < 0)
        return false;
    close(w->folder);
    w->folder = next;
    return true;
}

/* Put the target of a link before the rest. */
static bool follow(struct walk *w, const char *name)
{
    char target[2 * PATH_MAX];
    ssize_t length = readlinkat(w->folder, name, target, PATH_MAX);

    if (length <= 0 || length == PATH_MAX || ++w->links > LINKS_MAX)
        return false;
    if (snprintf(target + length, sizeof target - (size_t)length, "/%s", w->rest) >=
        (int)(sizeof target - (size_t)length))
        return false;
    memcpy(w->rest, target, strlen(target) + 1);
    return w->rest[0] != '/' || enter(w, "/");
}

/* Return who can rename @name. If something is mounted there, it hides whose the folder below is:
 * its owner may rename it in another mount namespace, which takes the mount away here. */
static uid_t owner_of(const struct statx *st)
{
    return (st->stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 ? NOBODY : st->stx_uid;
}

/* Take the next folder of the rest. Returns false if another user can exchange it. */
static bool step(struct walk *w)
{
    char name[NAME_MAX + 1];
    size_t length = strcspn(w->rest, "/"), skipped;
    struct statx st;

    if (length > NAME_MAX)
        return false;
    memcpy(name, w->rest, length);
    name[length] = 0;
    skipped = length + strspn(w->rest + length, "/");
    memmove(w->rest, w->rest + skipped, strlen(w->rest + skipped) + 1);
    if (length == 0 || strcmp(name, ".") == 0)
        return true;
    if (statx(w->folder, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &st) != 0) {
        w->rest[0] = 0;
        return errno == ENOENT && keeps(w, NOBODY);
    }
    if (!keeps(w, owner_of(&st)))
        return false;
    return S_ISLNK(st.stx_mode) ? follow(w, name) : enter(w, name);
}

bool nsc_own_path_is_own(const char *path)
{
    struct walk w = {.links = 0};
    bool own;

    if (strlen(path) >= PATH_MAX)
        return false;
    memcpy(w.rest, path, strlen(path) + 1);
    w.folder = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    own = w.folder >= 0;
    while (own && strchr(w.rest, '/') != NULL)
        own = step(&w);
    own = own && nsc_own_path_keeps_names(w.folder);
    if (w.folder >= 0)
        close(w.folder);
    return own;
}

bool nsc_own_path_is_shared(const char *path)
{
    char *folder = nsc_path_folder(path);
    struct stat st;
    bool is_shared = folder == NULL || stat(folder, &st) != 0 || (st.st_mode & S_ISVTX) != 0;

    free(folder);
    return is_shared;
}
