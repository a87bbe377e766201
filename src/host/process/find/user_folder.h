/*
 * user_folder.h - the per-user folder for the sockets of programs and recorders; abi/control.h
 * defines its names.
 *
 * Used to create sockets there and to find them. Must not print.
 */
#ifndef NSC_PROCESS_FIND_USER_FOLDER_H
#define NSC_PROCESS_FIND_USER_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/control.h"
#include "util/diag.h"

#define NSC_USER_FOLDER_MAX 48
#define NSC_USER_FOLDER_ANY ((uid_t)-1)

/* Store the path of a candidate, 0 <= @candidate < NSC_CONTROL_FOLDERS; 0 is the usual one. */
void nsc_user_folder_path(unsigned long uid, unsigned candidate, char path[NSC_USER_FOLDER_MAX]);
/* Return true if @path is a folder, not a link, that belongs to @uid and is closed to others. */
bool nsc_user_folder_is_private(const char *path, uid_t uid);

struct nsc_user_files {
    char **paths;
    uint32_t count, room;
};

/**
 * nsc_user_folder_find - find the files whose names end in @ending, in private folders of this user
 * or, with @others, of the others.
 * @found: release with nsc_user_files_free().
 *
 * Follows no link to a folder, and asks no file system of another user. Returns 0 or -ENOMEM.
 */
int nsc_user_folder_find(bool others, const char *ending, struct nsc_user_files *found);
void nsc_user_files_free(struct nsc_user_files *files);

/**
 * nsc_user_folder_socket - open (O_PATH) a socket in a user's private folder.
 * @pid: the process in whose mount namespace @path is; 0: in this one.
 * @uid: the owner of folder and socket; NSC_USER_FOLDER_ANY: receives it.
 *
 * Follows no link, and asks no file system of another user. Connect to it by
 * nsc_user_folder_connect(). Returns a descriptor or -errno: -EACCES (the folder is not private, or
 * of another user), those of open().
 */
int nsc_user_folder_socket(pid_t pid, const char *path, uid_t *uid);
/* Connect to the socket that nsc_user_folder_socket() opened as @place. Returns a non-blocking
 * socket or -errno: -EAGAIN (its queue is full), those of connect(2). */
int nsc_user_folder_connect(int place);

/**
 * nsc_user_folder_open - open the folder of this user; creates it if necessary.
 * @path: receives its path.
 * Returns a descriptor or -errno with @diag: -EACCES (every candidate belongs to another user or is
 * accessible to others), or mkdir(2)'s and open(2)'s for the first candidate.
 */
int nsc_user_folder_open(char path[NSC_USER_FOLDER_MAX], struct nsc_diag *diag);

#endif
