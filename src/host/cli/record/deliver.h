/*
 * deliver.h - what a recording becomes when it is whole: the name that the user gave it tells.
 *
 * A name that ends in ".nst" gets that, one with the suffix of an export format that format, every
 * other one Nanoscope's text. The recording itself is always a .nst file. Used by the commands that
 * record.
 */
#ifndef NSC_CLI_RECORD_DELIVER_H
#define NSC_CLI_RECORD_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "util/diag.h"

/* The export format (static) that @path is to have; NULL: it is to be a .nst file. */
const char *nsc_deliver_format(const char *path);

/**
 * nsc_deliver_check - may @path be written? Told before the recording, not after it.
 * Only a trace is replaced, a .nst file or one of the format that the name asks for. Returns 0 or
 * -errno with @diag: -EEXIST (it is something else), -EINVAL (".nst.gz").
 */
int nsc_deliver_check(const char *path, struct nsc_diag *diag);

/* Where to write the .nst file that is to become @path, for free(); @path itself if that is to be
 * one, else a temporary name beside it. NULL: out of memory. */
char *nsc_deliver_from(const char *path);

/**
 * nsc_deliver - turn the whole .nst file @trace into @path, and remove it.
 * @quiet: no progress, even at a terminal.
 * @bytes: receives the size of what was made; untouched if @trace is @path.
 * @diag: on failure the error, on success what the format could not hold, or an empty message.
 *
 * On failure the recording is kept, under a name that ends in .nst if one is free; @diag says
 * which. Returns 0 or -errno: those of nsc_formats_export(), or nsc_output_move().
 */
int nsc_deliver(const char *trace, const char *path, bool quiet, uint64_t *bytes,
                struct nsc_diag *diag);

/* It cannot be delivered, for the reason in @diag: keep it beside @path, as nsc_deliver() does.
 * Returns @error. */
int nsc_deliver_keep(const char *trace, const char *path, int error, struct nsc_diag *diag);

#endif
