/*
 * mount_trust.h - tell whether a file lies on a mount that an unprivileged user cannot have made.
 *
 * In a user namespace of their own, all users can mount FUSE, and overlays over it. Such files may
 * block, change at any time and claim any owner. Called by credentials.c before it opens a file, by
 * own_path.c, and by process/find/user_folder.c.
 */
#ifndef NSC_UTIL_PRIVILEGES_MOUNT_TRUST_H
#define NSC_UTIL_PRIVILEGES_MOUNT_TRUST_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * nsc_mount_is_trusted - check the mount of the file @fd, which may be open with O_PATH only.
 * @pid: a process whose mounts are accepted, too, if they were made with the privileges of this
 * process's user namespace, or show a file system that this process has mounted; 0: none.
 *
 * Returns true if this process has the mount, or @pid has it. Asks the kernel only, not the file
 * system. Context: reads /proc; a process can have 100,000 mounts.
 */
bool nsc_mount_is_trusted(int fd, pid_t pid);

/* Return true if a file system of another user may be asked when the file is used: if its mount is
 * not trusted, or is FUSE. */
bool nsc_mount_may_block(int fd, pid_t pid);

/* Return true if no other user than root answers for what the file system of @fd says about owners
 * and names: this process has the mount, and it is not another user's FUSE. */
bool nsc_mount_is_own(int fd);

#endif
