/*
 * credentials.h - read, compare and assume the user, groups and capabilities of a process.
 *
 * Used where one program handles data of another user: files that a traced program names are opened
 * with that program's credentials, never with ours. Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_CREDENTIALS_H
#define NSC_UTIL_PRIVILEGES_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NSC_CREDENTIALS_GROUPS_MAX 256

/* A process's ids of one kind. */
struct nsc_process_ids {
    uint32_t real, effective, saved, file_system;
};

struct nsc_credentials {
    struct nsc_process_ids user, group;
    /* Inode number of the user namespace; 0: that of this process. Capabilities in another one are
     * none here. */
    uint64_t user_namespace;
    uint32_t group_count;
    gid_t groups[NSC_CREDENTIALS_GROUPS_MAX]; /* as the kernel lists them: ascending */
    uint64_t capabilities;                    /* permitted, one bit each */
};

/* The credentials of a user without supplementary groups and capabilities. */
struct nsc_credentials nsc_credentials_of_user(uid_t user, gid_t group);

/**
 * nsc_credentials_parse - read them from the text of /proc/PID/status.
 * Returns 0, -EBADMSG (a line is missing) or -E2BIG (more than NSC_CREDENTIALS_GROUPS_MAX groups);
 * @out is untouched then.
 */
int nsc_credentials_parse(const char *status, struct nsc_credentials *out);

/* Those of process @pid (0: this one). Returns 0, -ESRCH, or as nsc_credentials_parse(). */
int nsc_credentials_read(pid_t pid, struct nsc_credentials *out);

/**
 * nsc_credentials_cover - does @holder hold all that @process holds?
 * True if @process has no capability that @holder lacks, and either all user ids of @holder are
 * root's in our user namespace, or both have the same ids, groups and user namespace.
 */
bool nsc_credentials_cover(const struct nsc_credentials *holder,
                           const struct nsc_credentials *process);

/* True if this process is root and @credentials belong to another user, to another user namespace,
 * or to root with fewer capabilities than this process has (in a container). */
bool nsc_credentials_are_foreign(const struct nsc_credentials *credentials);

/* True if nsc_credentials_assume() can succeed: this process may change its ids and groups, and the
 * user namespace has those. */
bool nsc_credentials_can_be_assumed(const struct nsc_credentials *credentials);

/**
 * nsc_credentials_assume - become that user (the effective ids) for good, in a forked child.
 * Sets groups, user and no_new_privs, drops the capabilities that @credentials lack, and forbids
 * ptrace by other processes of that user. Where @credentials are not foreign and the user is this
 * process's own, ids and capabilities stay.
 * Returns 0 or -errno; then the caller must exit.
 */
int nsc_credentials_assume(const struct nsc_credentials *credentials);

/* Open a regular file for reading. Nothing else is opened, as that may have effects. Returns a
 * descriptor, close-on-exec, or -errno: -EINVAL (no regular file), what open() says. */
int nsc_privileges_open_regular(const char *path);

/**
 * nsc_credentials_open - the same with the credentials of another user.
 * @credentials: NULL: those of this process.
 *
 * A forked child opens the file, as a file system of that user may block for ever: after two
 * seconds the result is -ETIMEDOUT. Files on FUSE are refused (-EOPNOTSUPP).
 */
int nsc_credentials_open(const struct nsc_credentials *credentials, const char *path);

#endif
