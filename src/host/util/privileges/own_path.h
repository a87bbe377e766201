/*
 * own_path.h - tell whether another user can make a path lead somewhere else.
 *
 * Called before a file is created whose folder and name come from an input that may be another
 * user's.
 */
#ifndef NSC_UTIL_PRIVILEGES_OWN_PATH_H
#define NSC_UTIL_PRIVILEGES_OWN_PATH_H

#include <stdbool.h>

/**
 * nsc_own_path_keeps_names - check whether this user's files in a folder keep their names.
 * @folder: descriptor, which may be open with O_PATH only.
 *
 * Returns true if no other user than root can rename or remove them. In sticky folders only their
 * owners can. The own primary group is often private, and umask 002 relies on it: it may write,
 * unless an access control list says who else may. False on errors, and on a FUSE of another user.
 */
bool nsc_own_path_keeps_names(int folder);

/**
 * nsc_own_path_is_own - check the way to a file, which need not exist.
 *
 * Returns true if every folder that the kernel looks in, those behind links included, keeps its
 * names, so that only this user and root can exchange one of them; or if one is missing that nobody
 * else can create. The folder of the file counts, too, also if it is the current one. False on
 * errors.
 */
bool nsc_own_path_is_own(const char *path);

/* Return true if other users can create files beside @path, whose folder keeps its names: the
 * folder is sticky. True on errors. */
bool nsc_own_path_is_shared(const char *path);

/* Return true if a file or folder has an access control list. @fd: may be open with O_PATH only.
 * @kind: "access", or "default" for that of new files in a folder. True on errors. */
bool nsc_own_path_has_acl(int fd, const char *kind);

#endif
