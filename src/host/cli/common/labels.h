/*
 * labels.h - labels of functions in aligned tables: the name, or the name with its location if
 * several functions of a trace share it (static functions, copies in two libraries).
 *
 * Called by the commands that print a row per function. CSV and JSON contain names only.
 */
#ifndef NSC_CLI_COMMON_LABELS_H
#define NSC_CLI_COMMON_LABELS_H

#include "trace/read/reader.h"

struct nsc_cli_labels {
    const struct nsc_trace *trace;
    uint8_t *shared; /* a byte per function id: 1 = another function has the same name */
    char *text;      /* the label of the last call */
};

/**
 * nsc_cli_labels_init - find the names that several functions share.
 * @t: borrowed until nsc_cli_labels_free().
 * Sorts the functions by name once. If memory runs out, labels are names only.
 */
void nsc_cli_labels_init(struct nsc_cli_labels *labels, const struct nsc_trace *t);
void nsc_cli_labels_free(struct nsc_cli_labels *labels);

/* "name", or "name [module+0x1234 file.c:12]"; valid until the next call. */
const char *nsc_cli_label(struct nsc_cli_labels *labels, uint32_t function);

#endif
