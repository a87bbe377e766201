/*
 * open_beneath.h - open a regular file, guaranteed to be below a folder.
 *
 * Called by handle_source.c with untrusted names from a trace. Never opens a device, a pipe or a
 * socket, and never follows a symbolic link out of the folder, even if files are renamed meanwhile.
 */
#ifndef NSC_VIEWER_SERVER_OPEN_BENEATH_H
#define NSC_VIEWER_SERVER_OPEN_BENEATH_H

#include <sys/stat.h>

/**
 * nsc_beneath_open - open a regular file for reading.
 * @folder: descriptor of the folder; O_PATH is enough.
 * @path: relative to it.
 * @st: receives the file's status, as of fstat(2).
 * Returns a descriptor or -errno: -ENOENT (also if a component of the path is not a folder), -EXDEV
 * (the path leads out of the folder), -EINVAL (not a regular file), and open(2)'s.
 */
int nsc_beneath_open(int folder, const char *path, struct stat *st);

#endif
