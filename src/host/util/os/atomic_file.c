/* atomic_file.c - see atomic_file.h. */
#include "util/os/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/made_output.h"
#include "util/os/partial_name.h"
#include "util/path.h"

/* Check that @path is free or a regular file: nothing else may be replaced. */
static int check_target(const char *path, struct nsc_diag *diag)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0
                               : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno,
                                              "cannot write %s: %s", path, strerror(errno));
    if (S_ISLNK(st.st_mode))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ELOOP,
                            "%s is a symbolic link: give the file it should point to", path);
    if (S_ISDIR(st.st_mode))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EISDIR, "%s is a directory: name a file",
                            path);
    if (!S_ISREG(st.st_mode))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "%s is not a regular file: use -o - and redirect", path);
    if (!nsc_made_output_replaces())
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EEXIST,
                            "cannot write %s: it exists; name the output with -o", path);
    return 0;
}

/* Open a file without a name (O_TMPFILE) in the folder of @path. Returns a descriptor, or -1 if the
 * file system does not support it. */
static int open_nameless(const char *path)
{
    char *folder = nsc_path_folder(path);
    int fd = folder != NULL
                 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, nsc_made_output_mode(0666))
                 : -1;

    free(folder);
    return fd;
}

static int open_partial(struct nsc_atomic_file *f, struct nsc_diag *diag)
{
    int error = check_target(f->path, diag);

    if (error != 0)
        return error;
    f->partial = nsc_partial_make(f->path, "unfinished");
    if (f->partial == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    f->fd = open_nameless(f->path);
    if (f->fd >= 0)
        return 0;
    f->fd = open(f->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 nsc_made_output_mode(0666));
    if (f->fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot write %s: %s", f->path,
                            strerror(errno));
    f->named = true;
    return 0;
}

int nsc_atomic_file_create(const char *path, struct nsc_atomic_file *f, struct nsc_diag *diag)
{
    bool to_stdout = strcmp(path, "-") == 0;

    *f = (struct nsc_atomic_file){.fd = -1};
    f->path = strdup(to_stdout ? "standard output" : path);
    if (f->path == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (!to_stdout)
        return open_partial(f, diag);
    f->fd = STDOUT_FILENO;
    return 0;
}

static int name_it(struct nsc_atomic_file *f)
{
    char self[32];

    if (f->named)
        return 0;
    snprintf(self, sizeof self, "/proc/self/fd/%d", f->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, f->partial, AT_SYMLINK_FOLLOW) != 0)
        return -errno;
    f->named = true;
    return 0;
}

int nsc_atomic_file_close(struct nsc_atomic_file *f)
{
    int error;

    if (f->partial == NULL || f->fd < 0)
        return 0;
    error = name_it(f);
    if (close(f->fd) != 0 && error == 0)
        error = -errno;
    f->fd = -1;
    return error;
}

static void release(struct nsc_atomic_file *f)
{
    if (f->fd >= 0 && f->partial != NULL)
        close(f->fd);
    free(f->path);
    free(f->partial);
    f->path = f->partial = NULL;
    f->named = false;
    f->fd = -1;
}

static int cannot_write(const struct nsc_atomic_file *f, int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", f->path,
                        strerror(error));
}

/* Rename the file to its final name, which is free or that of a file that may be replaced. */
static int rename_it(struct nsc_atomic_file *f, struct nsc_diag *diag)
{
    int error = 0;

    if (!nsc_made_output_replaces())
        error = nsc_partial_publish(AT_FDCWD, f->partial, AT_FDCWD, f->path);
    else if (rename(f->partial, f->path) != 0)
        error = -errno;
    return error == 0 ? 0 : cannot_write(f, -error, diag);
}

int nsc_atomic_file_publish(struct nsc_atomic_file *f, struct nsc_diag *diag)
{
    if (f->partial != NULL) {
        int error = check_target(f->path, diag);

        if (error == 0)
            error = rename_it(f, diag);
        if (error != 0) {
            nsc_atomic_file_abandon(f);
            return error;
        }
    }
    release(f);
    return 0;
}

/* ---- Two at once ------------------------------------------------------------------------------
 */

/* How to undo the rename of a file to its final name. */
enum undo {
    UNDO_NOTHING,
    UNDO_REMOVE,   /* the name was free */
    UNDO_EXCHANGE, /* the replaced file has the temporary name now */
};

/* Rename the file to its final name. @undo receives how to undo it. */
static int exchange(struct nsc_atomic_file *f, enum undo *undo, struct nsc_diag *diag)
{
    int error;

    if (f->partial == NULL)
        return 0;
    if (nsc_made_output_replaces() &&
        renameat2(AT_FDCWD, f->partial, AT_FDCWD, f->path, RENAME_EXCHANGE) == 0) {
        *undo = UNDO_EXCHANGE;
        return 0;
    }
    /* Either no file has the final name, or the file system cannot exchange names. */
    *undo = !nsc_made_output_replaces() || errno == ENOENT ? UNDO_REMOVE : UNDO_NOTHING;
    error = rename_it(f, diag);
    if (error != 0)
        *undo = UNDO_NOTHING;
    return error;
}

static void take_back(struct nsc_atomic_file *f, enum undo undo)
{
    if (undo == UNDO_EXCHANGE)
        (void)renameat2(AT_FDCWD, f->partial, AT_FDCWD, f->path, RENAME_EXCHANGE);
    else if (undo == UNDO_REMOVE)
        unlink(f->path);
}

static int close_and_check(struct nsc_atomic_file *f, struct nsc_diag *diag)
{
    int error = nsc_atomic_file_close(f);

    if (error != 0)
        return cannot_write(f, -error, diag);
    return f->partial != NULL ? check_target(f->path, diag) : 0;
}

int nsc_atomic_file_publish_both(struct nsc_atomic_file *first, struct nsc_atomic_file *second,
                                 struct nsc_diag *diag)
{
    enum undo undo = UNDO_NOTHING;
    int error = close_and_check(first, diag);

    if (error == 0)
        error = close_and_check(second, diag);
    if (error == 0)
        error = exchange(first, &undo, diag);
    if (error == 0) {
        error = nsc_atomic_file_publish(second, diag);
        if (error != 0)
            take_back(first, undo);
    }
    /* Removes the temporary name: of the new file, or of the file that it replaced. */
    nsc_atomic_file_abandon(first);
    nsc_atomic_file_abandon(second);
    return error;
}

void nsc_atomic_file_abandon(struct nsc_atomic_file *f)
{
    if (f->named)
        unlink(f->partial);
    release(f);
}
