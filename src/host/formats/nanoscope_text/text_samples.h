/*
 * text_samples.h - Nanoscope's `.timer` and `.state`: a thread's samples and states as text, in and
 * out.
 *
 * Used by text_export.c, beside the text of the thread itself. docs/formats.md says what is in
 * them.
 */
#ifndef NSC_FORMATS_NANOSCOPE_TEXT_TEXT_SAMPLES_H
#define NSC_FORMATS_NANOSCOPE_TEXT_TEXT_SAMPLES_H

#include "formats/export/export.h"
#include "formats/import/import.h"

/* ".timer" for samples, ".state" for states. */
const char *nsc_samples_suffix(enum nsc_note_kind kind);

/**
 * nsc_samples_write - write the lines of one thread's samples or states.
 * @unknown: gets the bits of the values that some sample did not know: 0 stands for them.
 * Returns 0 or -errno with @diag; errors of @out are its own.
 */
int nsc_samples_write(struct nsc_export *job, enum nsc_note_kind kind, uint32_t thread,
                      struct nsc_output *out, uint32_t *unknown, struct nsc_diag *diag);

/* Tell, if there are any, the columns that some sample had no value for. */
void nsc_samples_note_unknown(struct nsc_export *job, uint32_t unknown);

/**
 * nsc_samples_read - read a thread's samples or states, if there is such a file.
 * @path: the file.
 * What is damaged is a remark of the import; what comes before it is kept.
 * Returns 0 or -errno with @diag (-ENOMEM, or the writer's error).
 */
int nsc_samples_read(struct nsc_import *job, enum nsc_note_kind kind, uint32_t thread,
                     const char *path, struct nsc_diag *diag);

#endif
