/* maps.c - see maps.h. */
#include "process/procfs/maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "process/procfs/procfs.h"
#include "util/array.h"

/* The kernel writes a line break in a file name as \012, and escapes no other character. */
static void unescape(char *text)
{
    char *from = text, *to = text;

    while (*from != 0) {
        if (strncmp(from, "\\012", 4) == 0) {
            *to++ = '\n';
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = 0;
}

bool nsc_maps_parse_line(char *line, struct nsc_map *map)
{
    static const char deleted[] = " (deleted)";
    unsigned major_number, minor_number;
    char mode[5];
    int path_at = 0;
    size_t length;

    *map = (struct nsc_map){0};
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map->start,
               &map->end, mode, &map->offset, &major_number, &minor_number, &map->inode,
               &path_at) != 7 ||
        path_at == 0 || strlen(mode) != 4 || map->end <= map->start)
        return false;
    map->readable = mode[0] == 'r';
    map->writable = mode[1] == 'w';
    map->executable = mode[2] == 'x';
    map->shared = mode[3] == 's';
    map->device = makedev(major_number, minor_number);
    map->path = line + path_at;
    length = strlen(map->path);
    if (length >= sizeof deleted && strcmp(map->path + length - sizeof deleted + 1, deleted) == 0) {
        map->path[length - sizeof deleted + 1] = 0;
        map->deleted = true;
    }
    unescape(map->path);
    return true;
}

/* Total of all paths of a process. A program can map files with long paths any number of times; the
 * mappings beyond have no path. */
enum { PATH_BYTES_MAX = 32 << 20 };

/* @path_bytes: of all paths so far, also those that were not kept. */
static int add(struct nsc_maps *maps, uint32_t *room, size_t *path_bytes, const struct nsc_map *map)
{
    struct nsc_map *at = nsc_array_grow(maps->at, room, (uint32_t)maps->count, sizeof *at);

    if (at == NULL)
        return -ENOMEM;
    maps->at = at;
    at += maps->count;
    *at = *map;
    *path_bytes += strlen(map->path);
    at->path = strdup(*path_bytes <= PATH_BYTES_MAX ? map->path : "");
    if (at->path == NULL)
        return -ENOMEM;
    maps->count++;
    return 0;
}

int nsc_maps_read(pid_t pid, struct nsc_maps *maps)
{
    size_t bytes = 0, path_bytes = 0;
    uint32_t room = 0;
    char *line = NULL;
    struct nsc_map map;
    int error = 0;
    FILE *file;

    *maps = (struct nsc_maps){0};
    file = nsc_procfs_open_maps(pid);
    if (file == NULL)
        return -errno;
    while (error == 0 && getline(&line, &bytes, file) >= 0)
        if (nsc_maps_parse_line(line, &map))
            error = add(maps, &room, &path_bytes, &map);
    free(line);
    fclose(file);
    if (error != 0)
        nsc_maps_free(maps);
    return error;
}

bool nsc_maps_have_memory(pid_t pid, dev_t device, uint64_t inode)
{
    unsigned long long found_inode;
    unsigned major_number, minor_number;
    bool found = false, is_start = true; /* true at the start of a line */
    int path_at;
    FILE *file = nsc_procfs_open_maps(pid);
    char line[512];

    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        /* The rest of a line that exceeds the buffer is part of a file name, which may contain
         * anything. */
        path_at = 0;
        found = is_start &&
                sscanf(line, "%*x-%*x %*4s %*x %x:%x %llu %n", &major_number, &minor_number,
                       &found_inode, &path_at) == 3 &&
                found_inode == inode && makedev(major_number, minor_number) == device &&
                strncmp(line + path_at, NSC_MAPS_MEMORY, sizeof NSC_MAPS_MEMORY - 1) == 0;
        is_start = strchr(line, '\n') != NULL;
    }
    if (file != NULL)
        fclose(file);
    return found;
}

void nsc_maps_free(struct nsc_maps *maps)
{
    for (size_t i = 0; i < maps->count; i++)
        free(maps->at[i].path);
    free(maps->at);
    *maps = (struct nsc_maps){0};
}
