/*
 * handle_source.c - see handle_source.h.
 *
 * Called by workers through the engine. The name comes from the trace and is not trusted: it is
 * compared with the permitted folders as text, and opened only below one of them.
 */
#include "viewer/server/handle_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "viewer/engine/context.h"
#include "viewer/server/open_beneath.h"

static int read_all(int fd, size_t size, char **text, size_t *bytes)
{
    char *read_text = malloc(size + 1);
    size_t done = 0;

    if (read_text == NULL)
        return -ENOMEM;
    while (done < size) {
        ssize_t got = read(fd, read_text + done, size - done);

        if (got <= 0)
            break; /* the file was truncated meanwhile, or cannot be read: return what was read */
        done += (size_t)got;
    }
    if (memchr(read_text, '\0', done) != NULL) {
        free(read_text);
        return -EINVAL;
    }
    read_text[done] = '\0';
    *text = read_text;
    *bytes = done;
    return 0;
}

static int read_file(int folder, const char *path, char **text, size_t *bytes)
{
    struct stat st;
    int fd = nsc_beneath_open(folder, path, &st), error;

    if (fd < 0)
        return fd;
    if (st.st_size > NSC_SOURCE_BYTES_MAX)
        error = -EFBIG;
    else
        error = read_all(fd, (size_t)st.st_size, text, bytes);
    close(fd);
    return error;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Normalize a path: "/a/./b/../c" and "../a/c" both become "/a/c". Compilers write such names; a
 * leading ".." depends on where the compiler ran, not on where the file is now. Returns NULL if out
 * of memory. */
static char *normalize(const char *file)
{
    char *path = malloc(strlen(file) + 2), *end = path;

    if (path == NULL)
        return NULL;
    while (*file != '\0') {
        size_t length = strcspn(file, "/");

        if (length == 2 && memcmp(file, "..", 2) == 0) {
            while (end > path && *--end != '/')
                ;
        } else if (length > 1 || (length == 1 && *file != '.')) {
            *end++ = '/';
            memcpy(end, file, length);
            end += length;
        }
        file += length + (file[length] == '/');
    }
    *end = '\0';
    return path;
}

/* Return the part of @path after @folder and the slash, or NULL if @path is not below @folder. */
static const char *relative_to(const char *folder, const char *path)
{
    size_t length = folder != NULL ? strlen(folder) : 0;

    if (folder == NULL || strncmp(path, folder, length) != 0 || path[length] != '/')
        return NULL;
    return path + length + 1;
}

static const char *find_in_folder(const struct nsc_source_folder *folder, const char *path)
{
    const char *rest = relative_to(folder->path, path);

    return rest != NULL ? rest : relative_to(folder->spelling, path);
}

/* ---- Search ---------------------------------------------------------------------------------- */

/* Read the first that exists of DIR/src/app/main.c, DIR/app/main.c, DIR/main.c. Returns 0, or
 * -errno: the error that ended the search. */
static int read_ends(const struct nsc_source_folder *folder, const char *path, char **text,
                     size_t *bytes)
{
    int error = -ENOENT;

    for (; error == -ENOENT && path != NULL; path = strchr(path, '/')) {
        path++;
        error = read_file(folder->fd, path, text, bytes);
    }
    return error;
}

/* @path: normalized. @is_absolute: whether it was absolute before that. */
static int read_path(const struct nsc_source *source, const char *path, bool is_absolute,
                     char **text, size_t *bytes)
{
    bool is_permitted = false;
    int error = -ENOENT;

    for (size_t i = 0; i < source->folder_count && error != -ENOMEM; i++) {
        const struct nsc_source_folder *folder = &source->folders[i];
        const char *rest = is_absolute ? find_in_folder(folder, path) : path + 1;
        int tried = rest != NULL ? read_file(folder->fd, rest, text, bytes) : -ENOENT;

        is_permitted |= rest != NULL;
        if (tried == -ENOENT && folder->is_named)
            tried = read_ends(folder, path, text, bytes);
        if (tried == 0)
            return 0;
        /* A later folder may have the file. If not, the first specific error is the most useful. */
        if (error == -ENOENT || tried == -ENOMEM)
            error = tried;
    }
    return error == -ENOENT && !is_permitted ? -EPERM : error;
}

int nsc_source_read(const struct nsc_source *source, const char *file, char **text, size_t *bytes)
{
    char *path = normalize(file);
    int error = -ENOENT;

    if (path == NULL)
        return -ENOMEM;
    if (path[0] != '\0')
        error = read_path(source, path, file[0] == '/', text, bytes);
    free(path);
    return error;
}

/* ---- The request ----------------------------------------------------------------------------- */

static const char *why_not(int error)
{
    switch (-error) {
    case ENOENT:
        return "does not exist; if it has moved, run 'nanoscope open --source DIR' with the folder "
               "where it is now";
    case EPERM:
        return "is not below the folder where nanoscope open runs: run 'nanoscope open --source "
               "DIR' with a folder that contains it";
    case EXDEV:
        return "leaves its folder by a symbolic link: run 'nanoscope open --source DIR' with the "
               "folder that the link leads to";
    case EFBIG:
        return "is larger than 2 MiB";
    case EINVAL:
        return "is not a regular file of text";
    default:
        return strerror(-error);
    }
}

static int answer_source(struct nsc_engine_context *ask)
{
    const struct nsc_source *source = (const struct nsc_source *)ask->handler;
    uint32_t id = nsc_context_function(ask, "function");
    const struct nsc_function *function;
    struct nsc_json *json;
    char *text = NULL;
    size_t bytes = 0;
    int error;

    if (nsc_context_check(ask) != 0)
        return -EINVAL;
    function = nsc_trace_function(ask->trace, id);
    if (function->file[0] == '\0')
        return nsc_context_absent(ask, "the trace does not say where this function's source is");
    error = nsc_source_read(source, function->file, &text, &bytes);
    if (error == -ENOMEM)
        return nsc_context_no_memory(ask);
    if (error != 0)
        return nsc_context_absent(ask, "%.300s %s", function->file, why_not(error));
    json = nsc_context_json(ask);
    if (json != NULL) {
        nsc_json_open_object(json, NULL);
        nsc_json_text(json, "file", function->file);
        nsc_json_u64(json, "line", function->line);
        nsc_json_text(json, "text", text);
        nsc_json_close_object(json);
    }
    free(text);
    return json != NULL ? 0 : nsc_context_no_memory(ask);
}

/* ---- Permitted folders ----------------------------------------------------------------------- */

static char *without_slash(char *path)
{
    size_t length = path != NULL ? strlen(path) : 0;

    if (length > 0 && path[length - 1] == '/')
        path[length - 1] = '\0';
    return path;
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat one, other;

    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* @spelling: another path of the folder, used if it is absolute and leads there; may be NULL. */
static int add_folder(struct nsc_source *source, const char *path, const char *spelling)
{
    struct nsc_source_folder folder = {.fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};

    if (folder.fd < 0)
        return -errno;
    folder.path = without_slash(realpath(path, NULL));
    if (folder.path == NULL) {
        int error = -errno;

        close(folder.fd);
        return error;
    }
    if (spelling != NULL && spelling[0] == '/' && is_same_folder(path, spelling))
        folder.spelling = normalize(spelling);
    source->folders[source->folder_count++] = folder;
    return 0;
}

int nsc_source_init(struct nsc_source *source, const char *const *named, size_t count,
                    struct nsc_diag *diag)
{
    *source = (struct nsc_source){
        .handler = {.path = "/api/source", .can = "source", .answer = answer_source},
        .folders = calloc(count + 1, sizeof *source->folders),
    };
    if (source->folders == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        int error = add_folder(source, named[i], named[i]);

        if (error != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "--source: cannot open %s: %s",
                                named[i], strerror(-error));
        source->folders[i].is_named = true;
    }
    /* The error is ignored: a working folder that was removed has no sources. */
    if (!is_same_folder(".", "/"))
        (void)add_folder(source, ".", getenv("PWD"));
    return 0;
}

void nsc_source_destroy(struct nsc_source *source)
{
    for (size_t i = 0; i < source->folder_count; i++) {
        close(source->folders[i].fd);
        free(source->folders[i].path);
        free(source->folders[i].spelling);
    }
    free(source->folders);
    source->folders = NULL;
    source->folder_count = 0;
}
