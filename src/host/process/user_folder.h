/*
 * user_folder.h - the folder of a user in which programs and recorders listen: control.h has the
 * rule.
 *
 * Used by whoever makes a socket there or looks for one. Must not print.
 */
#ifndef NSC_PROCESS_USER_FOLDER_H
#define NSC_PROCESS_USER_FOLDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "abi/control.h"
#include "util/diag.h"

#define NSC_USER_FOLDER_MAX 48

/* The candidates, below NSC_CONTROL_FOLDERS; the first is the usual one. */
void nsc_user_folder_path(unsigned long uid, unsigned candidate, char path[NSC_USER_FOLDER_MAX]);
/* Is a folder at @path, no link, of that user, and closed to all others? */
bool nsc_user_folder_is_private(const char *path, uid_t uid);

/**
 * nsc_user_folder_open - the folder of this user, made if it is not there.
 * @path: receives its path.
 * Returns a descriptor or -errno with @diag: -EACCES (another user holds all of the names).
 */
int nsc_user_folder_open(char path[NSC_USER_FOLDER_MAX], struct nsc_diag *diag);

#endif
