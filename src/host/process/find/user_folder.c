/* user_folder.c - see user_folder.h. */
#include "process/find/user_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/array.h"
#include "util/path.h"
#include "util/privileges/mount_trust.h"
#include "util/text/escape.h"

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

/* ---- Files of all users ---------------------------------------------------------------------- */

void nsc_user_files_free(struct nsc_user_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
    *files = (struct nsc_user_files){0};
}

static bool ends_in(const char *name, const char *ending)
{
    size_t length = strlen(name), bytes = strlen(ending);

    return length > bytes && strcmp(name + length - bytes, ending) == 0;
}

static int add(struct nsc_user_files *files, const char *folder, const char *name)
{
    char **paths = nsc_array_grow(files->paths, &files->room, files->count, sizeof *paths);

    if (paths == NULL)
        return -ENOMEM;
    files->paths = paths;
    if (asprintf(&paths[files->count], "%s/%s", folder, name) < 0)
        return -ENOMEM;
    files->count++;
    return 0;
}

/* Open @name below @parent, without following a link and without asking another user's file system.
 * @pid: as in nsc_mount_is_trusted(). Returns a descriptor (O_PATH) or -errno. */
static int open_below(int parent, const char *name, bool foreign, pid_t pid)
{
    int fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (!foreign || !nsc_mount_may_block(fd, pid))
        return fd;
    close(fd);
    return -EACCES;
}

/* List the private folder @name below @parent, of this user or, with @others, of another. A folder
 * that cannot be read is left out. @path: its path. */
static int list_folder(int parent, const char *name, const char *path, bool others,
                       const char *ending, struct nsc_user_files *found)
{
    int place = open_below(parent, name, others, 0), fd = -1, error = 0;
    const struct dirent *entry;
    struct stat st;
    DIR *folder;

    if (place >= 0 && (others || nsc_mount_is_own(place)) && fstat(place, &st) == 0 &&
        others == (st.st_uid != geteuid()) && is_private(&st, st.st_uid))
        fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place >= 0)
        close(place);
    folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL && fd >= 0)
        close(fd);
    while (folder != NULL && error == 0 && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && ends_in(entry->d_name, ending))
            error = add(found, path, entry->d_name);
    if (folder != NULL)
        closedir(folder);
    return error;
}

static int list_own(const char *ending, struct nsc_user_files *found)
{
    char path[NSC_USER_FOLDER_MAX];
    int error = 0;

    for (unsigned i = 0; i < NSC_CONTROL_FOLDERS && error == 0; i++) {
        nsc_user_folder_path(geteuid(), i, path);
        error = list_folder(AT_FDCWD, path, path, false, ending, found);
    }
    return error;
}

/* List the other users' folders whose paths begin with @paths; with @inner, the folders of that
 * name in them. */
static int list_all(const char *paths, const char *inner, const char *ending,
                    struct nsc_user_files *found)
{
    char *place = nsc_path_folder(paths), *path;
    DIR *parent = place != NULL ? opendir(place) : NULL;
    const char *prefix = nsc_path_base_name(paths);
    const struct dirent *entry;
    int error = place != NULL ? 0 : -ENOMEM, between;

    while (parent != NULL && error == 0 && (entry = readdir(parent)) != NULL) {
        if (entry->d_name[0] == '.' || strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        if (asprintf(&path, "%s%s%s%s", place, entry->d_name, inner != NULL ? "/" : "",
                     inner != NULL ? inner : "") < 0) {
            error = -ENOMEM;
            break;
        }
        between = inner != NULL ? open_below(dirfd(parent), entry->d_name, true, 0) : dirfd(parent);
        if (between >= 0)
            error = list_folder(between, inner != NULL ? inner : entry->d_name, path, true, ending,
                                found);
        if (inner != NULL && between >= 0)
            close(between);
        free(path);
    }
    if (parent != NULL)
        closedir(parent);
    free(place);
    return error;
}

int nsc_user_folder_find(bool others, const char *ending, struct nsc_user_files *found)
{
    int error;

    *found = (struct nsc_user_files){0};
    if (!others) {
        error = list_own(ending, found);
    } else {
        error = list_all(NSC_CONTROL_DIRECTORY, NULL, ending, found);
        if (error == 0)
            error = list_all(NSC_CONTROL_RUN, "nanoscope", ending, found);
    }
    if (error != 0)
        nsc_user_files_free(found);
    return error;
}

/* ---- A socket -------------------------------------------------------------------------------- */

/* Open the folder of @path, an absolute one: in this mount namespace the folder's own parent may be
 * reached through links, which are root's. */
static int open_folder(pid_t pid, char *path, bool foreign)
{
    char root[32], *name = strrchr(path, '/'), *next;
    int fd, below;

    if (pid == 0) {
        *name = 0;
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        path = name + 1;
    } else {
        snprintf(root, sizeof root, "/proc/%ld/root", (long)pid);
        fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        return -errno;
    if (foreign && nsc_mount_may_block(fd, pid)) {
        close(fd);
        return -EACCES;
    }
    for (name = strtok_r(path, "/", &next); fd >= 0 && name != NULL;
         name = strtok_r(NULL, "/", &next)) {
        below = open_below(fd, name, foreign, pid);
        close(fd);
        fd = below;
    }
    if (fd >= 0 && !foreign && pid == 0 && !nsc_mount_is_own(fd)) {
        close(fd);
        fd = -EACCES;
    }
    return fd;
}

int nsc_user_folder_socket(pid_t pid, const char *path, uid_t *uid)
{
    char copy[NSC_USER_FOLDER_MAX + 64], *name;
    bool foreign = *uid != geteuid();
    struct stat st;
    int folder, fd = -EACCES;

    if (strlen(path) >= sizeof copy)
        return -ENAMETOOLONG;
    memcpy(copy, path, strlen(path) + 1);
    name = strrchr(copy, '/');
    if (name == NULL || name == copy)
        return -EINVAL;
    *name++ = 0;
    folder = open_folder(pid, copy, foreign);
    if (folder < 0)
        return folder;
    if (fstat(folder, &st) == 0 &&
        is_private(&st, *uid == NSC_USER_FOLDER_ANY ? st.st_uid : *uid)) {
        *uid = st.st_uid;
        fd = open_below(folder, name, foreign, pid);
    }
    close(folder);
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != *uid)) {
        close(fd);
        fd = -EACCES;
    }
    return fd;
}

int nsc_user_folder_connect(int place)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", place);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    error = -errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* ---- The own folder -------------------------------------------------------------------------- */

/* Open a folder, after creating it if necessary. Returns a descriptor or -errno. */
static int open_private(const char *path)
{
    struct stat st;
    int place, fd = -EACCES;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    place = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0)
        return -errno;
    if (nsc_mount_is_own(place) && fstat(place, &st) == 0 && is_private(&st, geteuid()) &&
        (fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        fd = -errno;
    close(place);
    return fd;
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
