/*
 * deliver.h - convert a finished recording to the format of its output name.
 *
 * The suffix selects the format: ".nst", that of an export format, or Nanoscope's text format for
 * any other name. The recorder always writes a .nst file. Used by the commands that record.
 */
#ifndef NSC_CLI_RECORD_DELIVER_H
#define NSC_CLI_RECORD_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "util/diag.h"

/* The export format for the name @path, a static string; NULL: a .nst file. */
const char *nsc_deliver_format(const char *path);

/**
 * nsc_deliver_check - check, before the recording, that @path may be written.
 * An existing file is replaced only if it is a .nst file or has the format of the name @path.
 * Returns 0 or -errno with @diag: -EEXIST (it is another kind of file), -EINVAL (".nst.gz").
 */
int nsc_deliver_check(const char *path, struct nsc_diag *diag);

/* The path for the recorder's .nst file, which the caller frees: @path itself if that is a .nst
 * file, else a temporary name in the same folder. NULL: out of memory. */
char *nsc_deliver_from(const char *path);

/**
 * nsc_deliver - convert the complete .nst file @trace to @path, and remove @trace.
 * @fd: the same file, open; stays the caller's. -1: open it by its name. Then no other user may be
 *      able to change its folder.
 * @quiet: no progress line, even at a terminal.
 * @bytes: receives the size of @path in bytes; untouched if @trace is @path.
 * @diag: on failure the error; on success what the format cannot represent, or an empty message.
 *
 * On failure the recording is kept, with the suffix .nst if that name is free; @diag names the
 * file. Returns 0 or -errno: those of nsc_formats_export(), or nsc_output_move().
 */
int nsc_deliver(int fd, const char *trace, const char *path, bool quiet, uint64_t *bytes,
                struct nsc_diag *diag);

/* Keep a recording that cannot be converted, as nsc_deliver() does. @diag: the reason; receives the
 * name of the kept file too. Returns @error. */
int nsc_deliver_keep(const char *trace, const char *path, int error, struct nsc_diag *diag);

#endif
