/*
 * maps.h - parse /proc/PID/maps, the mappings of a process. Private to process/.
 */
#ifndef NSC_PROCESS_PROCFS_MAPS_H
#define NSC_PROCESS_PROCFS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nsc_map {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    dev_t device;    /* of the file system, as in mountinfo */
    uint64_t inode;  /* 0: no file */
    bool readable, writable, executable, shared;
    bool deleted; /* the file was deleted */
    char *path;   /* in the process's mount namespace; "" without a name */
};

struct nsc_maps {
    struct nsc_map *at;
    size_t count;
};

/**
 * nsc_maps_parse_line - parse one line of /proc/PID/maps.
 * @line: NUL terminated; is modified, and map->path points into it.
 * Returns false if the line is malformed.
 */
bool nsc_maps_parse_line(char *line, struct nsc_map *map);

/* Read all mappings of a process; release with nsc_maps_free(). Returns 0 or -errno (-EACCES,
 * -ENOENT, -ENOMEM). */
int nsc_maps_read(pid_t pid, struct nsc_maps *maps);
void nsc_maps_free(struct nsc_maps *maps);

/* Name of a session's memory file, by memfd_create(), and its path in maps. */
#define NSC_MAPS_MEMORY_NAME "nanoscope"
#define NSC_MAPS_MEMORY      "/memfd:" NSC_MAPS_MEMORY_NAME

/* Return true if process @pid has mapped the session's memory with this device and inode number.
 * The numbers do not suffice: users choose those of System V segments on the same device, whose
 * names begin with "/SYSV". */
bool nsc_maps_have_memory(pid_t pid, dev_t device, uint64_t inode);

#endif
