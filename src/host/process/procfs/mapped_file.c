/* mapped_file.c - see mapped_file.h. */
#include "process/procfs/mapped_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/procfs/maps.h"
#include "process/procfs/procfs.h"
#include "util/os/regular_file.h"
#include "util/privileges/credentials.h"

static void link_of(pid_t thread, const struct nsc_map *map, char *path, size_t bytes)
{
    snprintf(path, bytes, "/proc/%ld/map_files/%llx-%llx", (long)thread,
             (unsigned long long)map->start, (unsigned long long)map->end);
}

void nsc_mapped_link(pid_t pid, const struct nsc_map *map, char *path, size_t bytes)
{
    link_of(nsc_procfs_memory_thread(pid), map, path, bytes);
}

/* Store the path by which the file of a mapping is reached without the capability for map_files.
 * Returns 0 or -ENOENT (deleted). */
static int path_of(pid_t pid, const struct nsc_map *map, const char *program, char *path,
                   size_t bytes)
{
    char root[64];

    if (strcmp(map->path, program) == 0) {
        nsc_procfs_memory_path(pid, "exe", path, bytes);
        return 0;
    }
    if (map->deleted)
        return -ENOENT;
    nsc_procfs_memory_path(pid, "root", root, sizeof root);
    snprintf(path, bytes, "%s%s", root, map->path);
    return 0;
}

int nsc_mapped_open(pid_t pid, const struct nsc_map *map, const char *program,
                    const struct nsc_credentials *as)
{
    pid_t thread = nsc_procfs_memory_thread(pid);
    char path[NSC_MAPPED_PATH_MAX];
    int fd;

    link_of(thread, map, path, sizeof path);
    /* Opening map_files needs a capability, so this uses nanoscope's own credentials. */
    fd = as == NULL ? nsc_regular_file_open(path) : nsc_credentials_open(NULL, thread, path);
    if (fd >= 0)
        return fd;
    if (path_of(pid, map, program, path, sizeof path) != 0)
        return -ENOENT;
    return as == NULL ? nsc_regular_file_open(path) : nsc_credentials_open(as, thread, path);
}

void nsc_mapped_program(pid_t pid, char *path, size_t bytes)
{
    static const char deleted[] = " (deleted)";
    char link[64];
    ssize_t length;

    nsc_procfs_memory_path(pid, "exe", link, sizeof link);
    length = readlink(link, path, bytes - 1);
    path[length > 0 ? length : 0] = 0;
    if (length >= (ssize_t)sizeof deleted &&
        strcmp(path + length - (ssize_t)sizeof deleted + 1, deleted) == 0)
        path[length - (ssize_t)sizeof deleted + 1] = 0;
}

int nsc_process_open_mapped(pid_t pid, uint64_t address, const struct nsc_credentials *as)
{
    char program[PATH_MAX];
    struct nsc_maps maps;
    int error = nsc_maps_read(pid, &maps), fd = -ENOENT;

    if (error != 0)
        return error;
    nsc_mapped_program(pid, program, sizeof program);
    for (size_t i = 0; i < maps.count && fd < 0; i++)
        if (address >= maps.at[i].start && address < maps.at[i].end && maps.at[i].executable &&
            maps.at[i].path[0] == '/')
            fd = nsc_mapped_open(pid, &maps.at[i], program, as);
    nsc_maps_free(&maps);
    return fd;
}
