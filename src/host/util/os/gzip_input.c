/* gzip_input.c - see gzip_input.h. zlib's gz functions return data that is not gzip unchanged. */
#include "util/os/gzip_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "util/os/regular_file.h"

#define PEEK_BYTES 4096u
#define READ_BYTES (256u * 1024)

/* Invariant: begin <= scanned <= end <= capacity; [begin, scanned) holds no line end. */
struct nsc_input {
    gzFile gz;
    char *name;
    char *buffer;
    size_t capacity, begin, scanned, end;
    uint64_t line;
    uint64_t taken; /* by nsc_input_take() */
    uint64_t total;
    struct nsc_diag fault; /* message of @error; returned again by every later fill() */
    int error;
    bool at_end;
};

static int input_free(struct nsc_input *in, int error)
{
    if (in != NULL) {
        if (in->gz != NULL)
            gzclose(in->gz);
        free(in->name);
        free(in->buffer);
        free(in);
    }
    return error;
}

int nsc_input_open_fd(int fd, const char *name, struct nsc_input **out, struct nsc_diag *diag)
{
    struct nsc_input *in = calloc(1, sizeof *in);
    struct stat st;

    if (in == NULL || (in->name = strdup(name)) == NULL ||
        (in->buffer = malloc(READ_BYTES)) == NULL) {
        close(fd);
        return input_free(in, nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory"));
    }
    in->capacity = READ_BYTES;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        close(fd);
        return input_free(in, nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EISDIR,
                                           "%s is a directory, not a trace", name));
    }
    in->total = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    in->gz = gzdopen(fd, "rb");
    if (in->gz == NULL) {
        close(fd);
        return input_free(in, nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory"));
    }
    gzbuffer(in->gz, 128 * 1024);
    *out = in;
    return 0;
}

int nsc_input_open(const char *path, struct nsc_input **out, struct nsc_diag *diag)
{
    int fd;

    if (strcmp(path, "-") == 0) {
        fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        path = "standard input";
    } else {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "cannot open %s: %s", path,
                            strerror(errno));
    return nsc_input_open_fd(fd, path, out, diag);
}

int nsc_input_open_beside(const char *path, struct nsc_input **out, struct nsc_diag *diag)
{
    int fd = nsc_regular_file_open_beside(path);

    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, -fd,
                            fd == -EINVAL ? "%s is no regular file" : "cannot open %s: %s", path,
                            strerror(-fd));
    return nsc_input_open_fd(fd, path, out, diag);
}

void nsc_input_close(struct nsc_input *in)
{
    (void)input_free(in, 0);
}

const char *nsc_input_name(const struct nsc_input *in)
{
    return in->name;
}

bool nsc_input_is_gzip(const struct nsc_input *in)
{
    return gzdirect(in->gz) == 0;
}

static void read_failed(struct nsc_input *in)
{
    int code = Z_OK;
    int saved = errno;
    const char *text = gzerror(in->gz, &code);
    const char *colon = strstr(text, ": "); /* zlib prefixes its own name of the file */

    if (code == Z_ERRNO && saved != 0)
        in->error = nsc_diag_set(&in->fault, NSC_DIAG_NO_OFFSET, saved, "cannot read %s: %s",
                                 in->name, strerror(saved));
    else
        in->error =
            nsc_diag_set(&in->fault, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: damaged gzip data (%s)",
                         in->name, colon != NULL ? colon + 2 : text);
}

static int fault(const struct nsc_input *in, struct nsc_diag *diag)
{
    if (diag != NULL)
        *diag = in->fault;
    return in->error;
}

/* Read more bytes after [begin, end). Returns 1, 0 at the end of the input, or -errno. */
static int fill(struct nsc_input *in, struct nsc_diag *diag)
{
    int got;

    if (in->error != 0)
        return fault(in, diag);
    if (in->at_end)
        return 0;
    if (in->begin > 0) {
        memmove(in->buffer, in->buffer + in->begin, in->end - in->begin);
        in->scanned -= in->begin;
        in->end -= in->begin;
        in->begin = 0;
    }
    if (in->end == in->capacity) {
        char *bigger = realloc(in->buffer, in->capacity * 2);

        if (bigger == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        in->buffer = bigger;
        in->capacity *= 2;
    }
    errno = 0;
    got = gzread(in->gz, in->buffer + in->end, (unsigned)(in->capacity - in->end));
    if (got > 0) {
        in->end += (size_t)got;
        return 1;
    }
    in->at_end = true;
    /* For a truncated gzip file, gzread() returns 0 and gzerror() the error. */
    if (got == 0) {
        int code = Z_OK;

        (void)gzerror(in->gz, &code);
        if (code == Z_OK || code == Z_STREAM_END)
            return 0;
    }
    read_failed(in);
    return fault(in, diag);
}

int nsc_input_peek(struct nsc_input *in, const uint8_t **bytes, size_t *count,
                   struct nsc_diag *diag)
{
    while (in->end - in->begin < PEEK_BYTES) {
        int error = fill(in, diag);

        /* Bytes before the damage are still returned. */
        if (error < 0 && in->end == in->begin)
            return error;
        if (error <= 0)
            break;
    }
    *bytes = (const uint8_t *)in->buffer + in->begin;
    *count = in->end - in->begin < PEEK_BYTES ? in->end - in->begin : PEEK_BYTES;
    return 0;
}

int nsc_input_need(struct nsc_input *in, size_t want, const uint8_t **bytes, size_t *count,
                   struct nsc_diag *diag)
{
    int more = 1;

    while (more > 0 && in->end - in->begin < want)
        more = fill(in, diag);
    *bytes = (const uint8_t *)in->buffer + in->begin;
    *count = in->end - in->begin;
    return more < 0 ? more : 0;
}

void nsc_input_take(struct nsc_input *in, size_t count)
{
    in->begin += count;
    if (in->scanned < in->begin)
        in->scanned = in->begin;
    in->taken += count;
}

uint64_t nsc_input_offset(const struct nsc_input *in)
{
    return in->taken;
}

static int too_long(const struct nsc_input *in, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EMSGSIZE, "%s: line %llu is longer than 1 MiB",
                        in->name, (unsigned long long)in->line + 1);
}

int nsc_input_line(struct nsc_input *in, struct nsc_line *line, struct nsc_diag *diag)
{
    char *newline;

    line->number = in->line + 1;
    while ((newline = memchr(in->buffer + in->scanned, '\n', in->end - in->scanned)) == NULL) {
        int more;

        in->scanned = in->end;
        if (in->end - in->begin > NSC_INPUT_LINE_MAX)
            return too_long(in, diag);
        more = fill(in, diag);
        if (more < 0)
            return more;
        if (more == 0)
            break;
    }
    if (newline == NULL && in->begin == in->end)
        return 0;
    line->text = in->buffer + in->begin;
    line->unfinished = newline == NULL;
    line->bytes = newline != NULL ? (size_t)(newline - line->text) : in->end - in->begin;
    if (line->bytes > NSC_INPUT_LINE_MAX)
        return too_long(in, diag);
    in->begin += line->bytes + (newline != NULL);
    in->scanned = in->begin;
    line->crlf = line->bytes > 0 && line->text[line->bytes - 1] == '\r';
    line->bytes -= line->crlf;
    in->line++;
    return 1;
}

void nsc_input_progress(const struct nsc_input *in, uint64_t *done, uint64_t *total)
{
    z_off_t at = gzoffset(in->gz);

    *done = at > 0 ? (uint64_t)at : 0;
    *total = in->total;
}
