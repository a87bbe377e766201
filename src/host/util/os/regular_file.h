/*
 * regular_file.h - open a file only if it is a regular one.
 *
 * Called for files that another user or a trace names. Opening a device, a pipe or a socket may
 * have effects: a tape rewinds, a watchdog starts, a writer of the pipe goes on.
 */
#ifndef NSC_UTIL_OS_REGULAR_FILE_H
#define NSC_UTIL_OS_REGULAR_FILE_H

/**
 * nsc_regular_file_reopen - open the regular file that a descriptor refers to for reading.
 * @place: opened with O_PATH, which has no effects; stays open.
 * Returns a descriptor, close-on-exec, or -errno: -EINVAL (not a regular file), -EIO (no /proc),
 * and open(2)'s.
 */
int nsc_regular_file_reopen(int place);

/* The same for a path; follows symbolic links. */
int nsc_regular_file_open(const char *path);

/* The same for a file that the user did not name: it lies in a folder, or beside a file, that the
 * user named. Its name may not be a link (-EINVAL): who made the folder could have chosen any file
 * of the user's. */
int nsc_regular_file_open_beside(const char *path);

#endif
