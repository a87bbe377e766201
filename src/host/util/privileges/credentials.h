/*
 * credentials.h - read, compare and assume the user, groups and capabilities of a process.
 *
 * Used where nanoscope handles data of another user. Files that a traced program names are opened
 * with that program's credentials, never with those of nanoscope. Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_CREDENTIALS_H
#define NSC_UTIL_PRIVILEGES_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A process can have 65,536 groups. */
#define NSC_CREDENTIALS_GROUPS_MAX 256

/* User ids or group ids of a process. */
struct nsc_process_ids {
    uint32_t real, effective, saved, file_system;
};

struct nsc_credentials {
    struct nsc_process_ids user, group;
    /* Inode number of the user namespace; 0: that of this process. Capabilities in another user
     * namespace do not apply in this one. */
    uint64_t user_namespace;
    uint32_t group_count;
    gid_t groups[NSC_CREDENTIALS_GROUPS_MAX]; /* as the kernel lists them: ascending */
    uint64_t more_groups;  /* hash of those beyond, which are never assumed; 0: none */
    uint64_t capabilities; /* permitted, one bit each */
};

/* Return the credentials of a user without supplementary groups and capabilities. */
struct nsc_credentials nsc_credentials_of_user(uid_t user, gid_t group);

/* Return credentials that no process has or can assume: they cover none but their like, and with
 * them no file is opened. */
struct nsc_credentials nsc_credentials_unknown(void);

/* Parse credentials from the text of /proc/PID/status. Returns 0, or -EBADMSG (a line is missing),
 * @out untouched. */
int nsc_credentials_parse(const char *status, struct nsc_credentials *out);

/* Read the credentials of process @pid (0: this one). Returns 0, or -ESRCH, -ENOMEM, -EMFILE or
 * -EBADMSG, @out being nsc_credentials_unknown(). */
int nsc_credentials_read(pid_t pid, struct nsc_credentials *out);

/**
 * nsc_credentials_cover - check that @process has no privilege that @holder lacks.
 * Returns true if @process has no capability that @holder lacks, and either all user ids of @holder
 * are root's in this user namespace, or both have the same ids, groups and user namespace.
 */
bool nsc_credentials_cover(const struct nsc_credentials *holder,
                           const struct nsc_credentials *process);

/* Return true if this process is root and one of the user ids in @credentials is another user's, or
 * if they belong to another user namespace, or to root with fewer capabilities than this process
 * (in a container). */
bool nsc_credentials_are_foreign(const struct nsc_credentials *credentials);

/* Return true if nsc_credentials_assume() can succeed: this process may change its ids and groups,
 * and its user namespace maps those of @credentials. */
bool nsc_credentials_can_be_assumed(const struct nsc_credentials *credentials);

/**
 * nsc_credentials_assume - permanently become the user of @credentials (its effective ids), in a
 * forked child.
 *
 * Sets groups, user and no_new_privs, drops the capabilities that @credentials lack, and forbids
 * ptrace by other processes of that user. If @credentials are not foreign and the user is that of
 * this process, ids and capabilities are unchanged.
 * Returns 0 or -errno; after an error the caller must exit.
 */
int nsc_credentials_assume(const struct nsc_credentials *credentials);

/* As nsc_regular_file_open(), but a file system that may never reply is not asked: -EOPNOTSUPP.
 * @pid: as in nsc_mount_may_block(). @path: must not lead through one; a link in /proc does not. */
int nsc_privileges_open_prompt(const char *path, pid_t pid);

/**
 * nsc_credentials_open - open a regular file with the credentials of another user.
 * @credentials: NULL: those of this process.
 * @pid: a process whose mounts are accepted, see nsc_mount_is_trusted(); 0: none.
 *
 * A forked child opens the file, as a file system of that user may block forever. Returns as
 * nsc_regular_file_open(); -EPERM if @credentials have more groups than are known; -ETIMEDOUT after
 * two seconds, -EOPNOTSUPP for files on FUSE, on the kernel's own file systems, such as /proc, and
 * on mounts that another user made.
 */
int nsc_credentials_open(const struct nsc_credentials *credentials, pid_t pid, const char *path);

#endif
