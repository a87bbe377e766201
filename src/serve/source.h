/*
 * source.h - /api/source: the text of the file that a function was compiled from.
 *
 * Added to the engine's requests by the server; not in the engine, which reads nothing but traces.
 */
#ifndef NSC_SERVE_SOURCE_H
#define NSC_SERVE_SOURCE_H

#include "answer/answer.h"

struct nsc_source {
    struct nsc_answer_handler handler; /* stands first: it is what is called */
    const char *folder;                /* where to look first; NULL: only where the trace says */
};

/* Make the handler, @source->handler. */
void nsc_source_init(struct nsc_source *source, const char *folder);

#define NSC_SOURCE_BYTES_MAX (2u << 20) /* longer files are not shown */

/**
 * nsc_source_read - read a source file that a trace names.
 * @folder: searched first, for the whole of @file and for shorter and shorter ends of it; may be
 * NULL.
 * @file: as the trace has it, so whatever somebody wrote there.
 * @text: receives the text, for free().
 * @bytes: its length, without the NUL behind it.
 *
 * Only regular files of text, of at most NSC_SOURCE_BYTES_MAX. Returns 0 or -errno: -ENOENT,
 * -EACCES and so on, -EFBIG, -EINVAL (not a regular file of text), -ENOMEM.
 */
int nsc_source_read(const char *folder, const char *file, char **text, size_t *bytes);

#endif
