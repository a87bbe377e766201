/*
 * source.c - source files that a trace names; see source.h.
 *
 * Called by workers through the engine. The name comes out of the trace and is not trusted: what is
 * no ordinary file of text is not opened for longer than it takes to see that.
 */
#include "serve/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/ask.h"

static int read_all(int fd, size_t size, char **text, size_t *bytes)
{
    char *read_text = malloc(size + 1);
    size_t done = 0;

    if (read_text == NULL)
        return -ENOMEM;
    while (done < size) {
        ssize_t got = read(fd, read_text + done, size - done);

        if (got <= 0)
            break; /* it has become shorter: what there is of it */
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

static int read_file(const char *path, char **text, size_t *bytes)
{
    /* A pipe must not make us wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error;
    struct stat st;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) != 0)
        error = -errno;
    else if (!S_ISREG(st.st_mode))
        error = -EINVAL;
    else if (st.st_size > NSC_SOURCE_BYTES_MAX)
        error = -EFBIG;
    else
        error = read_all(fd, (size_t)st.st_size, text, bytes);
    close(fd);
    return error;
}

/* "../" in front says where the compiler ran, not where the file is now; anywhere else it could
 * lead out of the folder. */
static const char *without_dots(const char *file)
{
    while (strncmp(file, "../", 3) == 0 || strncmp(file, "./", 2) == 0)
        file = strchr(file, '/') + 1;
    return strstr(file, "/../") == NULL ? file : NULL;
}

/* DIR/src/app/main.c, DIR/app/main.c, DIR/main.c: the first that is there. */
static int read_in_folder(const char *folder, const char *file, char **text, size_t *bytes)
{
    int error = -ENOENT;

    for (file = without_dots(file); file != NULL && error == -ENOENT;) {
        char *path;

        file += strspn(file, "/");
        if (asprintf(&path, "%s/%s", folder, file) < 0)
            return -ENOMEM;
        error = read_file(path, text, bytes);
        if (error == -ENOTDIR)
            error = -ENOENT;
        free(path);
        file = strchr(file, '/');
    }
    return error;
}

int nsc_source_read(const char *folder, const char *file, char **text, size_t *bytes)
{
    int error = -ENOENT;

    if (file[0] == '\0')
        return -ENOENT;
    if (folder != NULL)
        error = read_in_folder(folder, file, text, bytes);
    return error == -ENOENT ? read_file(file, text, bytes) : error;
}

static const char *why_not(int error)
{
    switch (-error) {
    case ENOENT:
        return "is not on this machine; nanoscope open --source DIR says where else to look";
    case EFBIG:
        return "is larger than 2 MiB";
    case EINVAL:
        return "is no ordinary file of text";
    default:
        return strerror(-error);
    }
}

static int answer_source(struct nsc_answer_ask *ask)
{
    const struct nsc_source *source = (const struct nsc_source *)ask->handler;
    uint32_t id = nsc_ask_function(ask, "function");
    const struct nsc_function *function;
    struct nsc_json *json;
    char *text = NULL;
    size_t bytes = 0;
    int error;

    if (nsc_ask_check(ask) != 0)
        return -EINVAL;
    function = nsc_trace_function(ask->trace, id);
    if (function->file[0] == '\0')
        return nsc_ask_absent(ask, "the trace does not say where this function's source is");
    error = nsc_source_read(source->folder, function->file, &text, &bytes);
    if (error == -ENOMEM)
        return nsc_ask_no_memory(ask);
    if (error != 0)
        return nsc_ask_absent(ask, "%.300s %s", function->file, why_not(error));
    json = nsc_ask_json(ask);
    if (json != NULL) {
        nsc_json_open_object(json, NULL);
        nsc_json_text(json, "file", function->file);
        nsc_json_u64(json, "line", function->line);
        nsc_json_text(json, "text", text);
        nsc_json_close_object(json);
    }
    free(text);
    return json != NULL ? 0 : nsc_ask_no_memory(ask);
}

void nsc_source_init(struct nsc_source *source, const char *folder)
{
    *source = (struct nsc_source){
        .handler = {.path = "/api/source", .can = "source", .answer = answer_source},
        .folder = folder,
    };
}
