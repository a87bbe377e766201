/*
 * user_folder.h - the per-user folder for the sockets of programs and recorders; abi/control.h
 * defines its names.
 *
 * Used to create sockets there and to find them. Must not print.
 */
#ifndef NSC_PROCESS_USER_FOLDER_H
#define NSC_PROCESS_USER_FOLDER_H

#include <glob.h>
#include <stdbool.h>
#include <sys/types.h>

#include "abi/control.h"
#include "util/diag.h"

#define NSC_USER_FOLDER_MAX 48

/* Store the path of a candidate, 0 <= @candidate < NSC_CONTROL_FOLDERS; 0 is the usual one. */
void nsc_user_folder_path(unsigned long uid, unsigned candidate, char path[NSC_USER_FOLDER_MAX]);
/* Return true if @path is a folder, not a link, that belongs to @uid and is closed to others. */
bool nsc_user_folder_is_private(const char *path, uid_t uid);
/* Find the files that match @pattern in the private folders of this user. @found: release with
 * globfree(). Returns 0 or -ENOMEM. */
int nsc_user_folder_glob(const char *pattern, glob_t *found);

/**
 * nsc_user_folder_open - open the folder of this user; creates it if necessary.
 * @path: receives its path.
 * Returns a descriptor or -errno with @diag: -EACCES (every candidate belongs to another user or is
 * accessible to others), or mkdir(2)'s and open(2)'s for the first candidate.
 */
int nsc_user_folder_open(char path[NSC_USER_FOLDER_MAX], struct nsc_diag *diag);

#endif
