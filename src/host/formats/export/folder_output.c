/* folder_output.c - see folder_output.h. */
#include "formats/export/folder_output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/partial_name.h"

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    unsigned entries = 0;

    if (dir == NULL)
        return false;
    while (readdir(dir) != NULL)
        entries++;
    closedir(dir);
    return entries <= 2; /* "." and ".." */
}

static int check_target(const char *path, struct nsc_diag *diag)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0
                               : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno,
                                              "cannot write %s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode) && is_empty(path))
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EEXIST,
                        "%s exists, and folders are not replaced: remove it or name another", path);
}

static void release(struct nsc_folder *f)
{
    free(f->path);
    free(f->parts);
    f->path = f->parts = NULL;
}

int nsc_folder_create(struct nsc_folder *f, struct nsc_export *job, struct nsc_diag *diag)
{
    size_t bytes = strlen(job->path);
    int error;

    while (bytes > 1 && job->path[bytes - 1] == '/')
        bytes--;
    f->job = job;
    f->parts = NULL;
    f->path = strndup(job->path, bytes);
    if (f->path != NULL)
        f->parts = nsc_partial_make(f->path, "parts");
    if (f->parts == NULL) {
        free(f->path);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    error = check_target(f->path, diag);
    if (error == 0 && mkdir(f->parts, 0777) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot write %s: %s", f->path,
                             strerror(errno));
    if (error != 0)
        release(f);
    return error;
}

int nsc_folder_open(struct nsc_folder *f, const char *name, struct nsc_output **out,
                    struct nsc_diag *diag)
{
    char *path;
    int error;

    if (asprintf(&path, "%s/%s", f->parts, name) < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_output_create(path, false, out, diag);
    free(path);
    return error;
}

int nsc_folder_close(struct nsc_folder *f, struct nsc_output *out, int error, struct nsc_diag *diag)
{
    if (error == 0)
        error = nsc_output_finish(out, diag);
    if (error != 0) {
        nsc_output_abandon(out);
        return error;
    }
    f->job->result->bytes += nsc_output_bytes(out);
    f->job->result->files++;
    return nsc_output_publish(out, diag);
}

/* The folder holds only files that this export created, no subfolders. */
static void remove_parts(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;

    while (dir != NULL && (e = readdir(dir)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(dir), e->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    rmdir(path);
}

int nsc_folder_publish(struct nsc_folder *f, int error, struct nsc_diag *diag)
{
    if (error == 0)
        error = check_target(f->path, diag);
    if (error == 0 && rename(f->parts, f->path) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot write %s: %s", f->path,
                             strerror(errno));
    if (error != 0)
        remove_parts(f->parts);
    release(f);
    return error;
}
