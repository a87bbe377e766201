/* trace_output.c - see trace_output.h. */
#include "record/recorder/trace_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format/format.h"
#include "util/os/partial_name.h"

#define COPY_STEP (1u << 30)

int nsc_output_check(const char *path, struct nsc_diag *diag)
{
    uint8_t magic[sizeof(NSC_FORMAT_MAGIC) - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    struct stat st;
    ssize_t got;

    if (fd < 0)
        return 0; /* the writer reports errors, if any */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
        close(fd);
        return 0;
    }
    got = read(fd, magic, sizeof magic);
    close(fd);
    if (got == (ssize_t)sizeof magic && memcmp(magic, NSC_FORMAT_MAGIC, sizeof magic) == 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EEXIST,
                        "%s exists and is not a trace; it is left alone", path);
}

/* Copy a file. Nothing may exist at @to, because others may have access to it. Returns 0 or
 * -errno. */
static int copy(const char *from, const char *to)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t n = -1;

    if (source >= 0 && target >= 0)
        do
            n = sendfile(target, source, NULL, COPY_STEP);
        while (n > 0);
    if (n == 0 && close(target) != 0)
        n = -1;
    else if (n < 0 && target >= 0)
        close(target);
    if (source >= 0)
        close(source);
    return n == 0 ? 0 : -errno;
}

/* Move to another file system: copy to a temporary name first. */
static int move_by_copy(const char *from, const char *to)
{
    char *partial = nsc_partial_make(to, "partial");
    int error;

    if (partial == NULL)
        return -ENOMEM;
    error = copy(from, partial);
    if (error == 0 && rename(partial, to) != 0)
        error = -errno;
    if (error == 0)
        unlink(from);
    else
        unlink(partial);
    free(partial);
    return error;
}

int nsc_output_move(const char *from, const char *to, struct nsc_diag *diag)
{
    int error = nsc_output_check(to, diag);

    if (error != 0)
        return error;
    error = rename(from, to) != 0 ? -errno : 0;
    if (error == -EXDEV)
        error = move_by_copy(from, to);
    return error == 0 ? 0
                      : nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", to,
                                     strerror(-error));
}
