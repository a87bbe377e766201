/*
 * credentials.h - the user, groups and capabilities of a process: read, compared, taken on.
 *
 * Used where one program handles data of another user: files that a traced program names are opened
 * with that program's credentials, never with ours. Must not print.
 */
#ifndef NSC_UTIL_CREDENTIALS_H
#define NSC_UTIL_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NSC_CREDENTIALS_GROUPS_MAX 256

struct nsc_credentials {
    uid_t uid;
    gid_t gid;
    bool mixed; /* real, effective, saved and file system ids differ: @uid and @gid are effective */
    uint32_t group_count;
    gid_t groups[NSC_CREDENTIALS_GROUPS_MAX]; /* as the kernel lists them: ascending */
    uint64_t capabilities;                    /* permitted, one bit each */
};

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
 * True if @process has no capability that @holder lacks, and @holder is root or both have the same
 * user and groups, unmixed.
 */
bool nsc_credentials_cover(const struct nsc_credentials *holder,
                           const struct nsc_credentials *process);

/* Is this process root, and are they another user's, or root's with less than our capabilities (in
 * a container)? */
bool nsc_credentials_are_foreign(const struct nsc_credentials *credentials);

/**
 * nsc_credentials_assume - become that user for good; for a child that is to do nothing else.
 * Sets groups, user and no_new_privs; capabilities that they lack go. Where they are not foreign
 * and the user is this process's own, only no_new_privs is set.
 * Returns 0 or -errno; then the caller must exit.
 */
int nsc_credentials_assume(const struct nsc_credentials *credentials);

/* Open a regular file for reading. Nothing else is opened, as that may have effects. Returns a
 * descriptor, close-on-exec, or -errno: -EINVAL (no regular file), what open() says. */
int nsc_open_regular(const char *path);

/**
 * nsc_credentials_open - the same with the credentials of another user.
 * @credentials: NULL: those of this process.
 *
 * A forked child opens the file: a file system of that user's may block for ever, and after two
 * seconds counts as not there (-ETIMEDOUT); what is known to be one (FUSE) is not opened
 * (-EOPNOTSUPP).
 */
int nsc_credentials_open(const struct nsc_credentials *credentials, const char *path);

#endif
