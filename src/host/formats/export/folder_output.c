/* folder_output.c - see folder_output.h. */
#include "formats/export/folder_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/made_output.h"
#include "util/os/partial_name.h"

/* Is the folder that @fd is open on empty? Closes @fd. */
static bool is_empty(int fd)
{
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    unsigned entries = 0;

    if (dir == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (readdir(dir) != NULL)
        entries++;
    closedir(dir);
    return entries <= 2; /* "." and ".." */
}

static int open_folder(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void release(struct nsc_folder *f)
{
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->parts);
    f->path = f->parts = NULL;
    f->fd = -1;
}

static int cannot_write(const struct nsc_folder *f, int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", f->path,
                        strerror(error));
}

static int check_target(const struct nsc_folder *f, struct nsc_diag *diag)
{
    struct stat st;

    if (lstat(f->path, &st) != 0)
        return errno == ENOENT ? 0 : cannot_write(f, errno, diag);
    if (S_ISDIR(st.st_mode) && is_empty(open_folder(f->path)))
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EEXIST,
                        "%s exists, and folders are not replaced: remove it or name another",
                        f->path);
}

static int was_replaced(const struct nsc_folder *f, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESTALE,
                        "cannot write %s: another user replaced the temporary folder; name a "
                        "place that only you can change",
                        f->path);
}

/* Creates the temporary folder and opens it. Another user who owns the folder around it may replace
 * the name at any time: from here on only the descriptor counts. */
static int create_parts(struct nsc_folder *f, struct nsc_diag *diag)
{
    struct stat st;

    if (mkdir(f->parts, nsc_made_output_mode(0777)) != 0)
        return cannot_write(f, errno, diag);
    f->fd = open_folder(f->parts);
    if (f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_uid == geteuid() &&
        is_empty(openat(f->fd, ".", O_RDONLY | O_CLOEXEC)))
        return 0;
    rmdir(f->parts);
    return was_replaced(f, diag);
}

int nsc_folder_create(struct nsc_folder *f, struct nsc_export *job, struct nsc_diag *diag)
{
    size_t bytes = strlen(job->path);
    int error;

    while (bytes > 1 && job->path[bytes - 1] == '/')
        bytes--;
    f->job = job;
    f->parts = NULL;
    f->fd = -1;
    f->path = strndup(job->path, bytes);
    if (f->path != NULL)
        f->parts = nsc_partial_make(f->path, "parts");
    if (f->parts == NULL) {
        free(f->path);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    error = check_target(f, diag);
    if (error == 0)
        error = create_parts(f, diag);
    if (error != 0)
        release(f);
    return error;
}

int nsc_folder_open(struct nsc_folder *f, const char *name, struct nsc_output **out,
                    struct nsc_diag *diag)
{
    char path[64 + NAME_MAX];
    int error;

    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", f->fd, name);
    error = nsc_output_create(path, false, out, NULL);
    return error == 0 ? 0 : cannot_write(f, -error, diag);
}

int nsc_folder_close(struct nsc_folder *f, struct nsc_output *out, int error, struct nsc_diag *diag)
{
    if (error == 0) {
        error = nsc_output_finish(out, NULL);
        if (error != 0)
            error = cannot_write(f, -error, diag);
    }
    if (error != 0) {
        nsc_output_abandon(out);
        return error;
    }
    f->job->result->bytes += nsc_output_bytes(out);
    f->job->result->files++;
    error = nsc_output_publish(out, NULL);
    return error == 0 ? 0 : cannot_write(f, -error, diag);
}

/* Is the temporary name still that of our folder? */
static bool is_ours(const struct nsc_folder *f)
{
    struct stat now, ours;

    return lstat(f->parts, &now) == 0 && fstat(f->fd, &ours) == 0 && now.st_dev == ours.st_dev &&
           now.st_ino == ours.st_ino;
}

/* The folder holds only files that this export created, no subfolders. */
static void remove_parts(struct nsc_folder *f)
{
    DIR *dir = fdopendir(f->fd);
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(f->fd, e->d_name, 0);
    rmdir(f->parts);
    if (dir != NULL) {
        closedir(dir);
        f->fd = -1;
    }
}

int nsc_folder_publish(struct nsc_folder *f, int error, struct nsc_diag *diag)
{
    if (error == 0)
        error = check_target(f, diag);
    if (error == 0 && !is_ours(f))
        error = was_replaced(f, diag);
    if (error == 0 && rename(f->parts, f->path) != 0)
        error = cannot_write(f, errno, diag);
    if (error != 0)
        remove_parts(f);
    release(f);
    return error;
}
