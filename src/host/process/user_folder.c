/* user_folder.c - see user_folder.h. */
#include "process/user_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void nsc_user_folder_path(unsigned long uid, unsigned candidate, char path[NSC_USER_FOLDER_MAX])
{
    if (candidate == 0)
        snprintf(path, NSC_USER_FOLDER_MAX, NSC_CONTROL_DIRECTORY "%lu", uid);
    else if (candidate == 1 && uid == 0)
        snprintf(path, NSC_USER_FOLDER_MAX, NSC_CONTROL_RUN_ROOT);
    else if (candidate == 1)
        snprintf(path, NSC_USER_FOLDER_MAX, NSC_CONTROL_RUN "%lu/nanoscope", uid);
    else
        snprintf(path, NSC_USER_FOLDER_MAX, NSC_CONTROL_DIRECTORY "%lu-%u", uid, candidate - 1);
}

static bool is_private(const struct stat *st, uid_t uid)
{
    return S_ISDIR(st->st_mode) && st->st_uid == uid && (st->st_mode & 077) == 0;
}

bool nsc_user_folder_is_private(const char *path, uid_t uid)
{
    struct stat st;

    return lstat(path, &st) == 0 && is_private(&st, uid);
}

int nsc_user_folder_glob(const char *pattern, glob_t *found)
{
    char folder[NSC_USER_FOLDER_MAX], path[NSC_USER_FOLDER_MAX + 32];

    *found = (glob_t){0};
    for (unsigned i = 0; i < NSC_CONTROL_FOLDERS; i++) {
        nsc_user_folder_path(geteuid(), i, folder);
        snprintf(path, sizeof path, "%s/%s", folder, pattern);
        if (nsc_user_folder_is_private(folder, geteuid()) &&
            glob(path, GLOB_NOSORT | (found->gl_pathc > 0 ? GLOB_APPEND : 0), NULL, found) ==
                GLOB_NOSPACE) {
            globfree(found);
            return -ENOMEM;
        }
    }
    return 0;
}

/* Open a folder, after creating it if necessary. Returns a descriptor or -errno. */
static int open_private(const char *path)
{
    struct stat st;
    int fd;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && is_private(&st, geteuid()))
        return fd;
    close(fd);
    return -EACCES;
}

int nsc_user_folder_open(char path[NSC_USER_FOLDER_MAX], struct nsc_diag *diag)
{
    int first = 0, fd;

    for (unsigned i = 0; i < NSC_CONTROL_FOLDERS; i++) {
        nsc_user_folder_path(geteuid(), i, path);
        fd = open_private(path);
        if (fd >= 0)
            return fd;
        if (i == 0)
            first = fd;
    }
    nsc_user_folder_path(geteuid(), 0, path);
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, first,
                        "%s is not this user's alone (%s), nor is any folder that could take its "
                        "place: remove it, or chmod 700",
                        path, strerror(-first));
}
