/*
 * maps.h - what a process has mapped: /proc/PID/maps. Private to reach/.
 */
#ifndef NSC_PROCESS_MAPS_H
#define NSC_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nsc_map {
    uint64_t start, end;
    uint64_t offset; /* in the file */
    uint64_t inode;  /* 0: of no file */
    bool readable, executable;
    bool deleted; /* the file has no name any more */
    char *path;   /* as it was called in the process's own file system; "" without a name */
};

struct nsc_maps {
    struct nsc_map *at;
    size_t count;
};

/**
 * nsc_maps_parse_line - one line of the file.
 * @line: NUL terminated, is changed; map->path lies in it.
 * Returns false for what is no such line.
 */
bool nsc_maps_parse_line(char *line, struct nsc_map *map);

/* Read all of a process's; release with nsc_maps_free(). Returns 0 or -errno (-EACCES, -ENOENT,
 * -ENOMEM). */
int nsc_maps_read(pid_t pid, struct nsc_maps *maps);
void nsc_maps_free(struct nsc_maps *maps);

/* Is there code at @address? */
bool nsc_maps_is_code(const struct nsc_maps *maps, uint64_t address);

#endif
