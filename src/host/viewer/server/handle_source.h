/*
 * handle_source.h - /api/source: the text of the file that a function was compiled from.
 *
 * Added to the engine's requests by the server; not in the engine, which reads nothing but traces.
 * The trace decides which file is asked for, the user which folders it may lie in.
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
    char *path;     /* absolute, without symbolic links and without a slash at its end */
    char *spelling; /* the same as the user wrote it, if that is absolute; else NULL */
    bool is_named;  /* by the user; not just the working folder */
};

struct nsc_source {
    struct nsc_engine_handler handler; /* stands first: it is what is called */
    struct nsc_source_folder *folders;
    size_t folder_count;
};

/**
 * nsc_source_init - make the handler, @source->handler.
 * @named: folders that the user named; borrowed for the call only.
 *
 * The working folder is the last of the permitted ones, unless it is "/", which would permit every
 * file. Returns 0 or -errno with @diag: a folder cannot be opened, -ENOMEM. @source can be given to
 * nsc_source_destroy() in any case.
 */
int nsc_source_init(struct nsc_source *source, const char *const *named, size_t count,
                    struct nsc_diag *diag);
void nsc_source_destroy(struct nsc_source *source);

/**
 * nsc_source_read - read a source file that a trace names.
 * @file: as the trace has it: any text.
 * @text: receives the text, for free().
 * @bytes: its length, without the NUL after it.
 *
 * A named folder is searched for @file itself, if it lies there, and then for the whole of @file
 * and shorter and shorter ends of it, in case the sources have moved. The working folder is
 * searched for @file itself only.
 *
 * Only regular files of text, of at most NSC_SOURCE_BYTES_MAX. Returns 0 or -errno: -ENOENT, -EPERM
 * (outside the permitted folders, where it is not looked for), -EXDEV (a symbolic link leads out of
 * the folder), -EACCES and so on, -EFBIG, -EINVAL (not a regular file of text), -ENOMEM.
 * Context: any thread.
 */
int nsc_source_read(const struct nsc_source *source, const char *file, char **text, size_t *bytes);

#endif
