/* credentials.c - see credentials.h. */
#include "util/privileges/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/hash.h"
#include "util/os/regular_file.h"
#include "util/privileges/child_open.h"
#include "util/privileges/mount_trust.h"

#define FUSE_SUPER_MAGIC 0x65735546 /* not defined in linux/magic.h */

#define NAMESPACE_UNKNOWN UINT64_MAX

/* A line of 65,536 groups, and the rest. */
enum { STATUS_BYTES_MAX = 1 << 20 };

/* ---- Reading --------------------------------------------------------------------------------- */

/* Return the text after "\n@key:", or NULL. */
static const char *field(const char *status, const char *key)
{
    char label[32];
    const char *found;

    snprintf(label, sizeof label, "\n%s:", key);
    found = strstr(status, label);
    return found != NULL ? found + strlen(label) : NULL;
}

static bool read_ids(const char *status, const char *key, struct nsc_process_ids *ids)
{
    const char *line = field(status, key);

    return line != NULL && sscanf(line, "%u %u %u %u", &ids->real, &ids->effective, &ids->saved,
                                  &ids->file_system) == 4;
}

static bool read_groups(const char *status, struct nsc_credentials *c)
{
    const char *at = field(status, "Groups");
    char *end;

    if (at == NULL)
        return false;
    for (;;) {
        at += strspn(at, " \t");
        if (*at < '0' || *at > '9')
            return true;
        if (c->group_count == NSC_CREDENTIALS_GROUPS_MAX) {
            c->more_groups = nsc_hash_bytes(nsc_hash_seed(), at, strcspn(at, "\n"));
            return true;
        }
        c->groups[c->group_count++] = (gid_t)strtoul(at, &end, 10);
        at = end;
    }
}

int nsc_credentials_parse(const char *status, struct nsc_credentials *out)
{
    struct nsc_credentials c = {0};
    const char *permitted = field(status, "CapPrm");

    if (permitted == NULL || !read_ids(status, "Uid", &c.user) ||
        !read_ids(status, "Gid", &c.group) || !read_groups(status, &c))
        return -EBADMSG;
    c.capabilities = strtoull(permitted, NULL, 16);
    *out = c;
    return 0;
}

/* Return the inode number of a process's user namespace. 0: it is this process's, or the system has
 * no user namespaces; NAMESPACE_UNKNOWN: /proc does not show it. */
static uint64_t user_namespace(pid_t pid)
{
    struct stat own, theirs;
    char path[48];

    snprintf(path, sizeof path, "/proc/%ld/ns/user", (long)pid);
    if (stat("/proc/self/ns/user", &own) != 0)
        return 0;
    if (stat(path, &theirs) != 0)
        return NAMESPACE_UNKNOWN;
    return own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino ? 0 : theirs.st_ino;
}

/* Read /proc/PID/status; to be freed. NULL with errno on failure. */
static char *read_text(pid_t pid)
{
    char path[48] = "/proc/self/status", *text;
    size_t length = 0;
    ssize_t got = 0;
    int fd;

    if (pid != 0)
        snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    text = malloc(STATUS_BYTES_MAX);
    while (text != NULL && length < STATUS_BYTES_MAX - 1 &&
           (got = read(fd, text + length, STATUS_BYTES_MAX - 1 - length)) > 0)
        length += (size_t)got;
    close(fd);
    if (text != NULL)
        text[length] = 0;
    return text;
}

int nsc_credentials_read(pid_t pid, struct nsc_credentials *out)
{
    char *text = read_text(pid);
    int error = errno == EMFILE || errno == ENOMEM ? -errno : -ESRCH;

    *out = nsc_credentials_unknown();
    if (text != NULL)
        error = text[0] != 0 ? nsc_credentials_parse(text, out) : -ESRCH;
    free(text);
    /* After the text: no process comes back from a user namespace with more than it had before. */
    if (error == 0 && pid != 0 && (out->user_namespace = user_namespace(pid)) != 0)
        out->capabilities = 0;
    return error;
}

struct nsc_credentials nsc_credentials_of_user(uid_t user, gid_t group)
{
    return (struct nsc_credentials){.user = {user, user, user, user},
                                    .group = {group, group, group, group}};
}

struct nsc_credentials nsc_credentials_unknown(void)
{
    return nsc_credentials_of_user((uid_t)-1, (gid_t)-1);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool are_equal(const struct nsc_process_ids *a, const struct nsc_process_ids *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool is_root(const struct nsc_credentials *c)
{
    static const struct nsc_process_ids root = {0};

    return are_equal(&c->user, &root) && c->user_namespace == 0;
}

bool nsc_credentials_cover(const struct nsc_credentials *holder,
                           const struct nsc_credentials *process)
{
    if ((process->capabilities & ~holder->capabilities) != 0)
        return false;
    return is_root(holder) ||
           (are_equal(&holder->user, &process->user) &&
            are_equal(&holder->group, &process->group) &&
            holder->user_namespace == process->user_namespace &&
            holder->user_namespace != NAMESPACE_UNKNOWN &&
            holder->group_count == process->group_count &&
            holder->more_groups == process->more_groups &&
            memcmp(holder->groups, process->groups, holder->group_count * sizeof(gid_t)) == 0);
}

bool nsc_credentials_are_foreign(const struct nsc_credentials *credentials)
{
    struct nsc_credentials own;

    return geteuid() == 0 && (!is_root(credentials) || nsc_credentials_read(0, &own) != 0 ||
                              (own.capabilities & ~credentials->capabilities) != 0);
}

/* Return true if the user namespace of this process maps @id. @map: "uid_map" or "gid_map". */
static bool is_mapped(const char *map, uint32_t id)
{
    unsigned first, count;
    bool found = false;
    char path[32];
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/%s", map);
    file = fopen(path, "re");
    if (file == NULL)
        return true; /* a system without user namespaces */
    while (!found && fscanf(file, "%u %*u %u", &first, &count) == 2)
        found = id >= first && id - first < count;
    fclose(file);
    return found;
}

/* Return true if this process may change its user and its groups. */
static bool may_change_ids(void)
{
    const uint32_t needed = 1u << CAP_SETUID | 1u << CAP_SETGID;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};
    char groups[8] = "";
    FILE *file;

    if (syscall(SYS_capget, &head, sets) != 0 || (sets[0].effective & needed) != needed)
        return false;
    file = fopen("/proc/self/setgroups", "re");
    if (file == NULL)
        return true; /* a system without user namespaces */
    (void)!fread(groups, 1, sizeof groups - 1, file);
    fclose(file);
    return strncmp(groups, "deny", 4) != 0;
}

bool nsc_credentials_can_be_assumed(const struct nsc_credentials *credentials)
{
    if (!nsc_credentials_are_foreign(credentials))
        return geteuid() == credentials->user.effective;
    return may_change_ids() && is_mapped("uid_map", credentials->user.effective) &&
           is_mapped("gid_map", credentials->group.effective);
}

/* ---- Assuming -------------------------------------------------------------------------------- */

/* Drop the capabilities that @c lacks: needed when root remains root. */
static int keep_capabilities(const struct nsc_credentials *c)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

    if (syscall(SYS_capget, &head, sets) != 0)
        return -errno;
    for (unsigned i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        sets[i].permitted &= (uint32_t)(c->capabilities >> 32 * i);
        sets[i].effective = sets[i].permitted;
        sets[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, sets) == 0 ? 0 : -errno;
}

int nsc_credentials_assume(const struct nsc_credentials *c)
{
    uid_t user = c->user.effective;
    gid_t group = c->group.effective;

    /* Must precede the change of user: afterwards processes of that user might attach. */
    if (prctl(PR_SET_DUMPABLE, 0) != 0)
        return -errno;
    if (nsc_credentials_are_foreign(c) &&
        (setgroups(c->group_count, c->groups) != 0 || setresgid(group, group, group) != 0 ||
         setresuid(user, user, user) != 0 || (user == 0 && keep_capabilities(c) != 0)))
        return -errno;
    if (geteuid() != user)
        return -EPERM;
    /* Again, because a change of user sets it to fs.suid_dumpable. */
    if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -errno;
    return 0;
}

/* Return true if the file @fd is on a file system whose files may block, or have effects when they
 * are read. */
static bool is_special(int fd)
{
    static const unsigned long special[] = {FUSE_SUPER_MAGIC, PROC_SUPER_MAGIC, SYSFS_MAGIC,
                                            DEBUGFS_MAGIC, TRACEFS_MAGIC};
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return true;
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if ((unsigned long)fs.f_type == special[i])
            return true;
    return false;
}

static bool is_untrusted(int fd, pid_t pid)
{
    return !nsc_mount_is_trusted(fd, pid) || is_special(fd);
}

/* @refuses: which files are refused, by a descriptor (O_PATH) and @pid. */
static int open_regular(const char *path, bool (*refuses)(int fd, pid_t pid), pid_t pid)
{
    int place = open(path, O_PATH | O_CLOEXEC), fd;

    if (place < 0)
        return -errno;
    fd = refuses(place, pid) ? -EOPNOTSUPP : nsc_regular_file_reopen(place);
    close(place);
    return fd;
}

int nsc_privileges_open_prompt(const char *path, pid_t pid)
{
    return open_regular(path, nsc_mount_may_block, pid);
}

struct opening {
    const struct nsc_credentials *credentials;
    pid_t pid;
    const char *path;
};

static int open_as(const void *context)
{
    const struct opening *o = context;
    int error = 0;

    /* A group that is not assumed may be one that a file's mode excludes. */
    if (o->credentials != NULL)
        error = o->credentials->more_groups != 0 ? -EPERM : nsc_credentials_assume(o->credentials);
    return error != 0 ? error : open_regular(o->path, is_untrusted, o->pid);
}

int nsc_credentials_open(const struct nsc_credentials *credentials, pid_t pid, const char *path)
{
    const struct opening opening = {credentials, pid, path};

    return nsc_child_open(open_as, &opening, -1);
}
