/* partial_name.c - see partial_name.h. */
#include "util/os/partial_name.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/path.h"

#define RANDOM_DIGITS 8

char *nsc_partial_make(const char *path, const char *ending)
{
    uint32_t number;
    char *name;

    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number ||
        asprintf(&name, "%s.%ld.%0*x.%s", path, (long)getpid(), RANDOM_DIGITS, number, ending) < 0)
        return NULL;
    return name;
}

/* Return the start, after its dot, of the last dot-separated part of @name[0, @end). Returns 0 if
 * that part has other characters than digits, or if nothing precedes its dot. */
static size_t part_before(const char *name, size_t end, bool hexadecimal)
{
    size_t at = end;

    while (at > 0 && (hexadecimal ? isxdigit((unsigned char)name[at - 1])
                                  : isdigit((unsigned char)name[at - 1])))
        at--;
    return at > 1 && at < end && name[at - 1] == '.' ? at : 0;
}

size_t nsc_partial_length(const char *name, pid_t *pid)
{
    static const char suffix[] = ".partial";
    size_t end = strlen(name), random, digits;

    if (end <= sizeof suffix || strcmp(name + end - (sizeof suffix - 1), suffix) != 0)
        return 0;
    end -= sizeof suffix - 1;
    random = part_before(name, end, true);
    if (random != 0 && end - random == RANDOM_DIGITS && part_before(name, random - 1, false) != 0)
        end = random - 1;
    digits = part_before(name, end, false);
    if (digits == 0)
        return 0;
    if (pid != NULL)
        *pid = (pid_t)strtol(name + digits, NULL, 10);
    return digits - 1;
}

int nsc_partial_publish(int from, const char *partial, int folder, const char *name)
{
    int fd, error = 0;

    if (renameat2(from, partial, folder, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* A file system without RENAME_NOREPLACE: take the name with an empty file, then replace it. */
    fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    close(fd);
    if (renameat(from, partial, folder, name) != 0) {
        error = -errno;
        unlinkat(folder, name, 0);
    }
    return error;
}

static int open_folder_of(const char *path)
{
    char *name = nsc_path_folder(path);
    int folder;

    if (name == NULL)
        return -ENOMEM;
    folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(name);
    return folder >= 0 ? folder : -errno;
}

int nsc_partial_publish_path(const char *partial, const char *path)
{
    int from = open_folder_of(partial), folder, error;

    if (from < 0)
        return from;
    folder = open_folder_of(path);
    error = folder >= 0 ? nsc_partial_publish(from, nsc_path_base_name(partial), folder,
                                              nsc_path_base_name(path))
                        : folder;
    close(from);
    if (folder >= 0)
        close(folder);
    return error;
}
