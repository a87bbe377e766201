/*
 * import.h - what an importer is: inside formats/ only. A new format is one file and one line in
 * the table of import.c.
 */
#ifndef NSC_FORMATS_IMPORT_H
#define NSC_FORMATS_IMPORT_H

#include "formats/formats.h"
#include "formats/input.h"
#include "trace/writer.h"

struct nsc_import {
    struct nsc_input *in;
    struct nsc_writer *writer;
    const char *path; /* of the input, "-" for standard input: siblings lie beside it */
    const char *name; /* of the process */
    uint32_t threads; /* with events; counted by the importer */
    struct nsc_notes *notes;
    const struct nsc_formats_progress *progress;
};

struct nsc_importer {
    const char *name;
    const char *what; /* for messages: "Nanoscope text" */
    /* Whether the first bytes (at most 4 KiB; the whole input if shorter) are of this format. */
    bool (*sniff)(const uint8_t *bytes, size_t count);
    /*
     * Read the input into the writer. Damage after the first event is a note and ends the import
     * with what came before it. Returns 0 or -errno with @diag filled.
     */
    int (*run)(struct nsc_import *job, struct nsc_diag *diag);
};

extern const struct nsc_importer nsc_nanoscope_importer;

#endif
