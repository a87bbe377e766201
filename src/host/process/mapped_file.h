/*
 * mapped_file.h - the file that a process has mapped, whatever lies at its path by now.
 *
 * A program or library may be deleted or replaced while it runs, or lie in a mount namespace of its
 * own. Called by process_find.c and by record/. What processes map is hostile input.
 */
#ifndef NSC_PROCESS_MAPPED_FILE_H
#define NSC_PROCESS_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nsc_credentials;
struct nsc_map;

/**
 * nsc_process_open_mapped - open the file of the mapping that holds an address.
 * @as: the process's credentials, if it belongs to another user and we are root: paths are opened
 *      with them, and no file system of that user's can hold us up; NULL: with our own.
 * Returns a descriptor of a regular file, or -errno: -ENOENT (no process, no such mapping, or the
 * file has no name and only root may have it), -EACCES, with @as as nsc_credentials_open().
 * Context: reads all of /proc/PID/maps.
 */
int nsc_process_open_mapped(pid_t pid, uint64_t address, const struct nsc_credentials *as);

/* The same for a mapping that is known. @program: the path of the process's executable, as the
 * mapping would call it. Returns a descriptor or -errno. Private to reach/. */
int nsc_mapped_open(pid_t pid, const struct nsc_map *map, const char *program,
                    const struct nsc_credentials *as);

/* That path: "" if it cannot be told. Private to reach/. */
void nsc_mapped_program(pid_t pid, char *path, size_t bytes);

#endif
