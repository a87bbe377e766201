/*
 * mapped_file.h - open the file that a process has mapped, not the file now at the same path.
 *
 * A program or library may be deleted or replaced while it runs, or be in another mount namespace.
 * Called by process_find.c and by record/. Mapped files are untrusted input.
 */
#ifndef NSC_PROCESS_PROCFS_MAPPED_FILE_H
#define NSC_PROCESS_PROCFS_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nsc_credentials;
struct nsc_map;

/**
 * nsc_process_open_mapped - open the file of the executable mapping that contains an address.
 * @as: the process's credentials, needed if nanoscope runs as root and the process belongs to
 *      another user. Paths are then opened with them, and that user's file systems cannot block
 *      the caller. NULL: the credentials of this process.
 * Returns a descriptor of a regular file, or -errno: -ENOENT (no process, no such mapping, or a
 * deleted file, which only root can open), -EACCES; with @as as nsc_credentials_open().
 * Context: reads all of /proc/PID/maps.
 */
int nsc_process_open_mapped(pid_t pid, uint64_t address, const struct nsc_credentials *as);

/* Longer paths are cut, which makes them invalid: more than PATH_MAX. */
enum { NSC_MAPPED_PATH_MAX = 4200 };

/* Store the link in /proc/PID/map_files to the file of a mapping. To follow it takes a capability.
 */
void nsc_mapped_link(pid_t pid, const struct nsc_map *map, char *path, size_t bytes);

/* As nsc_process_open_mapped(), for a given mapping. @program: path of the process's executable, as
 * in /proc/PID/maps. Returns a descriptor or -errno. */
int nsc_mapped_open(pid_t pid, const struct nsc_map *map, const char *program,
                    const struct nsc_credentials *as);

/* Store the path of the process's executable, as in /proc/PID/maps, in @path: "" if not known. */
void nsc_mapped_program(pid_t pid, char *path, size_t bytes);

#endif
