/*
 * handle_source.h - handler of /api/source: the text of a function's source file.
 *
 * The server adds it to the engine's requests. It is not part of the engine, which reads only
 * traces. The trace names the file; the user decides in which folders files may be read.
 */
#ifndef NSC_VIEWER_SERVER_HANDLE_SOURCE_H
#define NSC_VIEWER_SERVER_HANDLE_SOURCE_H

#include <stdbool.h>

#include "util/diag.h"
#include "viewer/engine/engine.h"

#define NSC_SOURCE_BYTES_MAX (2u << 20) /* longer files are not shown */

/* A folder below which files may be read. */
struct nsc_source_folder {
    int fd;         /* O_PATH */
    char *path;     /* absolute, without symbolic links and trailing slash */
    char *spelling; /* the same folder as the user wrote it, if that is absolute; else NULL */
    bool is_named;  /* named by the user; false for the working folder */
};

struct nsc_source {
    struct nsc_engine_handler handler; /* must be first: cast to struct nsc_source when called */
    struct nsc_source_folder *folders;
    size_t folder_count;
};

/**
 * nsc_source_init - initialise the handler, @source->handler.
 * @named: @count folders that the user named; borrowed for the call only.
 *
 * The working folder is added as the last permitted folder, unless it is "/", which would permit
 * every file. Returns 0 or -errno with @diag: a folder cannot be opened, -ENOMEM. Call
 * nsc_source_destroy() in any case.
 */
int nsc_source_init(struct nsc_source *source, const char *const *named, size_t count,
                    struct nsc_diag *diag);
void nsc_source_destroy(struct nsc_source *source);

/**
 * nsc_source_read - read a source file that a trace names.
 * @file: the name in the trace; untrusted, any text.
 * @text: receives the text, for free().
 * @bytes: its length, without the NUL after it.
 *
 * In a folder that the user named, tries @file itself, if it is below that folder. If it does not
 * exist, tries the whole of @file relative to the folder, and then ever shorter ends of it, in case
 * the sources have moved. In the working folder, tries @file itself only.
 *
 * Reads only regular text files of at most NSC_SOURCE_BYTES_MAX. Returns 0 or -errno: -ENOENT,
 * -EPERM (outside the permitted folders; its existence is not checked), -EXDEV (a symbolic link
 * leads out of the folder), -EFBIG, -EINVAL (not a regular text file), -ENOMEM, open(2)'s such as
 * -EACCES.
 * Context: any thread.
 */
int nsc_source_read(const struct nsc_source *source, const char *file, char **text, size_t *bytes);

#endif
