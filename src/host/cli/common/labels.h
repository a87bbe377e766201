/*
 * labels.h - how functions are called in tables for people: by name, and where several functions of
 * a trace share one name (static functions, copies in two libraries), with the place of each.
 *
 * Called by the commands that print a line for a function. CSV and JSON have names alone.
 */
#ifndef NSC_CLI_COMMON_LABELS_H
#define NSC_CLI_COMMON_LABELS_H

#include "trace/read/reader.h"

struct nsc_cli_labels {
    const struct nsc_trace *trace;
    uint8_t *shared; /* a byte per function id: 1 = another function has the same name */
    char *text;      /* the label that was made last */
};

/**
 * nsc_cli_labels_init - find the names that functions share.
 * @t: borrowed until nsc_cli_labels_free().
 * Without memory for it, labels are names alone. Sorts the functions by name once.
 */
void nsc_cli_labels_init(struct nsc_cli_labels *labels, const struct nsc_trace *t);
void nsc_cli_labels_free(struct nsc_cli_labels *labels);

/* "name", or "name [module+0x1234 file.c:12]"; valid until the next call. */
const char *nsc_cli_label(struct nsc_cli_labels *labels, uint32_t function);

#endif
