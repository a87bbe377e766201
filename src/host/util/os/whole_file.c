/* whole_file.c - see whole_file.h. */
#include "util/os/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/os/atomic_file.h"
#include "util/os/write_all.h"

int nsc_whole_file_read_open(int fd, const char *path, size_t max, struct nsc_buffer *out,
                             struct nsc_diag *diag)
{
    struct stat st;
    size_t piece = 65536;

    if (fstat(fd, &st) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", path,
                            strerror(errno));
    /* Reads all bytes with one call; one byte more detects the end of the file. */
    if (S_ISREG(st.st_mode) && st.st_size >= 0 && (uint64_t)st.st_size < max)
        piece = (size_t)st.st_size + 1;
    for (;;) {
        uint8_t *at = nsc_buffer_reserve(out, piece);
        ssize_t n = at == NULL ? 0 : read(fd, at, piece);

        if (at == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", path);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot read %s: %s", path,
                                strerror(errno));
        if (n == 0)
            return 0;
        out->used += (size_t)n;
        piece = piece > (size_t)n ? piece - (size_t)n : 65536;
        if (out->used > max)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG, "%s has more than %zu bytes", path,
                                max);
    }
}

int nsc_whole_file_read(const char *path, size_t max, struct nsc_buffer *out, struct nsc_diag *diag)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC), error;

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                            strerror(errno));
    error = nsc_whole_file_read_open(fd, path, max, out, diag);
    if (fd != STDIN_FILENO)
        close(fd);
    return error;
}

static int cannot_write(const char *path, int error, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", path,
                        strerror(error < 0 ? -error : error));
}

int nsc_whole_file_write(const char *path, const struct nsc_buffer *content, struct nsc_diag *diag)
{
    struct nsc_atomic_file file;
    int error = nsc_atomic_file_create(path, &file, diag);

    if (error != 0) {
        nsc_atomic_file_abandon(&file);
        return error;
    }
    error = nsc_write_all(file.fd, content->data, content->used);
    if (error == 0)
        error = nsc_atomic_file_close(&file);
    if (error == 0)
        return nsc_atomic_file_publish(&file, diag);
    nsc_atomic_file_abandon(&file);
    return cannot_write(path, error, diag);
}
