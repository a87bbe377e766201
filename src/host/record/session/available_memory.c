/* available_memory.c - see available_memory.h. */
#include "record/session/available_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* File names of a control group hierarchy, by its version. */
struct names {
    const char *mount, *limit, *usage, *reclaimable;
};

static const struct names version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                       "memory.usage_in_bytes", "total_inactive_file "};
static const struct names version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                       "inactive_file "};

/* Reads the beginning of a small file and adds a NUL. Returns false if the file is missing or
 * empty. */
static bool read_file(char *text, size_t room, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t got;

    if (fd < 0)
        return false;
    while (used + 1 < room && (got = read(fd, text + used, room - 1 - used)) > 0)
        used += (size_t)got;
    close(fd);
    text[used] = 0;
    return used > 0;
}

/* Finds the number after @key, which starts a line. */
static bool find_number(const char *text, const char *key, uint64_t *number)
{
    const char *line = text;

    while (line != NULL && strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        line += line != NULL;
    }
    if (line == NULL)
        return false;
    line += strlen(key);
    *number = strtoull(line, NULL, 10);
    return true;
}

/* Reads the number in file @name of a directory; false if there is none, or the file says `max`. */
static bool read_number(const char *folder, const char *name, uint64_t *number)
{
    char path[PATH_MAX], text[64];

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path ||
        !read_file(text, sizeof text, path) || text[0] < '0' || text[0] > '9')
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

/* Bytes that the limit of one control group leaves; UINT64_MAX: it has no limit. */
static uint64_t left_of(const char *folder, const struct names *names)
{
    char path[PATH_MAX], text[8192];
    uint64_t limit, usage, reclaimable;

    if (!read_number(folder, names->limit, &limit) || !read_number(folder, names->usage, &usage))
        return UINT64_MAX;
    if (snprintf(path, sizeof path, "%s/memory.stat", folder) < (int)sizeof path &&
        read_file(text, sizeof text, path) && find_number(text, names->reclaimable, &reclaimable) &&
        reclaimable <= usage)
        usage -= reclaimable;
    return limit > usage ? limit - usage : 0;
}

/* The minimum for the group at @path and its ancestors. Overwrites @path. */
static uint64_t left_of_branch(const char *root, const struct names *names, char *path)
{
    uint64_t least = UINT64_MAX;
    char folder[PATH_MAX];

    for (;;) {
        char *slash = strrchr(path, '/');
        uint64_t left = UINT64_MAX;

        if (snprintf(folder, sizeof folder, "%s%s%s", root, names->mount, path) <
            (int)sizeof folder)
            left = left_of(folder, names);
        if (left < least)
            least = left;
        if (slash == NULL)
            return least;
        *slash = 0;
    }
}

/* Lines of the file have the form `number:controllers:path`; no controllers: version 2. */
static uint64_t left_of_groups(const char *root)
{
    char path[PATH_MAX], text[8192], *line, *rest = text;
    uint64_t least = UINT64_MAX;

    if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= (int)sizeof path ||
        !read_file(text, sizeof text, path))
        return least;
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *controllers = strchr(line, ':');
        char *at = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        uint64_t left = UINT64_MAX;

        if (at == NULL)
            continue;
        *at++ = 0;
        if (controllers[1] == 0)
            left = left_of_branch(root, &version_2, at);
        else if (strstr(controllers, "memory") != NULL)
            left = left_of_branch(root, &version_1, at);
        if (left < least)
            least = left;
    }
    return least;
}

uint64_t nsc_memory_available(const char *root)
{
    uint64_t left = left_of_groups(root), kib;
    char path[PATH_MAX], text[4096];

    if (snprintf(path, sizeof path, "%s/proc/meminfo", root) < (int)sizeof path &&
        read_file(text, sizeof text, path) && find_number(text, "MemAvailable:", &kib) &&
        kib < left / 1024)
        left = kib * 1024;
    return left;
}

bool nsc_memory_promised(const char *root)
{
    char folder[PATH_MAX];
    uint64_t strategy;

    return snprintf(folder, sizeof folder, "%s/proc/sys/vm", root) >= (int)sizeof folder ||
           !read_number(folder, "overcommit_memory", &strategy) || strategy != 2;
}
