/* mount_trust.c - see mount_trust.h. */
#include "util/privileges/mount_trust.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define FUSE_SUPER_MAGIC 0x65735546 /* not defined in linux/magic.h */
#define NOBODY           ((uid_t)-1)

/* A mount and the device number of its file system, as in mountinfo. */
struct mount {
    int id;
    unsigned major_number, minor_number;
    bool is_fuse;
    uid_t server; /* FUSE: the user who answers for the file system */
};

/* Return the mount of @fd; -1 if unknown. */
static int mount_of(int fd)
{
    char path[64];
    FILE *info;
    int id = -1;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    info = fopen(path, "re");
    if (info == NULL)
        return -1;
    if (fscanf(info, "pos: %*d flags: %*o mnt_id: %d", &id) != 1)
        id = -1;
    fclose(info);
    return id;
}

/* Parse the file system's type and options, which end a line of mountinfo. Between them is the
 * source, which is of the server's choice. */
static void parse_type(const char *line, struct mount *m)
{
    static const char separator[] = " - "; /* no field before is "-" */
    const char *type = strstr(line, separator), *user;
    int options_at = 0;
    unsigned number;

    m->server = NOBODY;
    m->is_fuse = type == NULL || strncmp(type + strlen(separator), "fuse", strlen("fuse")) == 0;
    if (type == NULL || sscanf(type, " - %*s %*s %n", &options_at) != 0 || options_at == 0)
        return;
    user = strstr(type + options_at, ",user_id=");
    if (user != NULL && sscanf(user, ",user_id=%u", &number) == 1)
        m->server = number;
}

/* Read the next line of mountinfo into the getline() buffer @line. Returns false at the end. */
static bool next_mount(FILE *mounts, char **line, size_t *bytes, struct mount *m)
{
    if (getline(line, bytes, mounts) < 0 ||
        sscanf(*line, "%d %*d %u:%u", &m->id, &m->major_number, &m->minor_number) != 3)
        return false;
    parse_type(*line, m);
    return true;
}

/* Search the mounts of "self" or a process: for the id of @wanted, or else for its device number.
 * Sets the other members. */
static bool find(const char *whose, struct mount *wanted, bool by_id)
{
    struct mount m = {.id = -1};
    char path[64], *line = NULL;
    bool found = false;
    size_t bytes = 0;
    FILE *mounts;

    snprintf(path, sizeof path, "/proc/%s/mountinfo", whose);
    mounts = fopen(path, "re");
    if (mounts == NULL)
        return false;
    while (!found && next_mount(mounts, &line, &bytes, &m))
        found = by_id ? m.id == wanted->id
                      : m.major_number == wanted->major_number &&
                            m.minor_number == wanted->minor_number;
    free(line);
    fclose(mounts);
    if (found)
        *wanted = m;
    return found;
}

/* Return true if the mount namespace of the process belongs to the user namespace of this one. */
static bool has_our_owner(const char *whose)
{
    struct stat owner, own;
    int space, user = -1;
    bool same = false;
    char path[64];

    snprintf(path, sizeof path, "/proc/%s/ns/mnt", whose);
    space = open(path, O_RDONLY | O_CLOEXEC);
    if (space >= 0)
        user = ioctl(space, NS_GET_USERNS);
    if (user >= 0) {
        same = fstat(user, &owner) == 0 && stat("/proc/self/ns/user", &own) == 0 &&
               owner.st_dev == own.st_dev && owner.st_ino == own.st_ino;
        close(user);
    }
    if (space >= 0)
        close(space);
    return same;
}

/* Return true if "/" lies on the mount: in a chroot, mountinfo may not list it. Completes @m. */
static bool is_root(struct mount *m)
{
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool same = root >= 0 && mount_of(root) == m->id;
    struct statfs fs;

    if (same)
        m->is_fuse = fstatfs(root, &fs) != 0 || (unsigned long)fs.f_type == FUSE_SUPER_MAGIC;
    if (root >= 0)
        close(root);
    return same;
}

/* Find the mount of @fd, and return whether it is trusted. */
static bool find_trusted(int fd, pid_t pid, struct mount *mount)
{
    char whose[16];

    *mount = (struct mount){.id = mount_of(fd), .server = NOBODY};
    if (mount->id < 0)
        return false;
    if (find("self", mount, true) || is_root(mount))
        return true;
    snprintf(whose, sizeof whose, "%ld", (long)pid);
    return pid > 0 && find(whose, mount, true) &&
           (has_our_owner(whose) || find("self", mount, false));
}

bool nsc_mount_is_trusted(int fd, pid_t pid)
{
    struct mount mount;

    return find_trusted(fd, pid, &mount);
}

bool nsc_mount_may_block(int fd, pid_t pid)
{
    struct mount mount;

    return !find_trusted(fd, pid, &mount) || mount.is_fuse;
}

bool nsc_mount_is_own(int fd)
{
    struct mount mount;

    return find_trusted(fd, 0, &mount) &&
           (!mount.is_fuse || mount.server == geteuid() || mount.server == 0);
}
