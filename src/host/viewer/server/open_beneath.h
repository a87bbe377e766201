/*
 * open_beneath.h - open a regular file below a folder, whatever its name and the folder's owner do.
 *
 * Called by handle_source.c with names that come from a trace. Never opens a device, a pipe or a
 * socket, and never follows a symbolic link out of the folder.
 */
#ifndef NSC_VIEWER_SERVER_OPEN_BENEATH_H
#define NSC_VIEWER_SERVER_OPEN_BENEATH_H

#include <sys/stat.h>

/**
 * nsc_beneath_open - open a regular file for reading.
 * @folder: descriptor of the folder; O_PATH is enough.
 * @path: relative to it.
 * @st: receives what fstat(2) says about the file.
 * Returns a descriptor or -errno: -ENOENT (also where a part of the path is not a folder), -EXDEV
 * (the path leads out of the folder), -EINVAL (not a regular file), and what open(2) says.
 */
int nsc_beneath_open(int folder, const char *path, struct stat *st);

#endif
