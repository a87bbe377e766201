/*
 * text_samples.h - read and write Nanoscope's `.timer` and `.state` files: a thread's samples and
 * states as text.
 *
 * Used by text_export.c and text_import.c for the files beside a thread's own. Their contents are
 * described in docs/formats.md.
 */
#ifndef NSC_FORMATS_NANOSCOPE_TEXT_TEXT_SAMPLES_H
#define NSC_FORMATS_NANOSCOPE_TEXT_TEXT_SAMPLES_H

#include "formats/export/export.h"
#include "formats/import/import.h"

/* File name suffix: ".timer" for samples, ".state" for states. */
const char *nsc_samples_suffix(enum nsc_note_kind kind);

/**
 * nsc_samples_write - write the lines of one thread's samples or states.
 * @unknown: a bit (1 << enum nsc_sample_field) is set for each value that a sample lacks. Such
 *           values are written as 0.
 * Returns 0 or -errno with @diag. Write errors are kept in @out and not returned.
 */
int nsc_samples_write(struct nsc_export *job, enum nsc_note_kind kind, uint32_t thread,
                      struct nsc_output *out, uint32_t *unknown, struct nsc_diag *diag);

/* Adds a note for the user if samples lack values. @unknown: as from nsc_samples_write(). */
void nsc_samples_note_unknown(struct nsc_export *job, uint32_t unknown);

/**
 * nsc_samples_read - read a thread's samples or states.
 * @path: the file; a missing or empty file is no error.
 * At a damaged line, reading stops with a note for the user; the lines before it are kept.
 * Returns 0 or -errno with @diag (-ENOMEM, or the writer's error).
 */
int nsc_samples_read(struct nsc_import *job, enum nsc_note_kind kind, uint32_t thread,
                     const char *path, struct nsc_diag *diag);

#endif
