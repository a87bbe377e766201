/*
 * import.h - what an importer is: inside formats/ only. A new format is one file and one line in
 * the table of importers.c.
 */
#ifndef NSC_FORMATS_IMPORT_IMPORT_H
#define NSC_FORMATS_IMPORT_IMPORT_H

#include "trace/write/writer.h"
#include "util/job.h"
#include "util/os/gzip_input.h"

struct nsc_import {
    struct nsc_input *in; /* NULL when the input is a folder */
    struct nsc_writer *writer;
    const char *path;    /* of the input, "-" for standard input: siblings lie beside it */
    const char *name;    /* of the process */
    const char *methods; /* file with the table of methods; NULL = look beside the input */
    uint32_t threads;    /* with events; counted by the importer */
    struct nsc_notes *notes;
    const struct nsc_formats_progress *progress;
};

struct nsc_importer {
    const char *name;
    const char *what; /* for messages: "Nanoscope text" */
    /* Whether the first bytes (at most 4 KiB; the whole input if shorter) are of this format. NULL:
     * it is always a folder. */
    bool (*sniff)(const uint8_t *bytes, size_t count);
    /* Whether the folder @path is of this format. NULL: it is always a file. */
    bool (*sniff_folder)(const char *path);
    /*
     * Read the input into the writer. Damage after the first event is a note and ends the import
     * with what came before it. Returns 0 or -errno with @diag filled.
     */
    int (*run)(struct nsc_import *job, struct nsc_diag *diag);
    bool takes_methods; /* uses the table of methods that a user names */
};

extern const struct nsc_importer nsc_nanoscope_importer;
extern const struct nsc_importer nsc_android_importer;
extern const struct nsc_importer nsc_app_importer;
extern const struct nsc_importer nsc_ctf_importer;
extern const struct nsc_importer nsc_uftrace_importer;
extern const struct nsc_importer nsc_perfetto_importer;
extern const struct nsc_importer nsc_chrome_importer;
extern const struct nsc_importer nsc_folded_importer;

/* An empty file without a name in $TMPDIR, or /tmp. Returns a descriptor, or -errno with @diag. */
int nsc_import_temporary(struct nsc_diag *diag);
/* The folder where it is made. */
const char *nsc_import_temporary_folder(void);

#define NSC_IMPORT_TEMPORARY "a temporary file (TMPDIR chooses the folder)"

/**
 * nsc_import_judge - whether an error ends the import: damage behind something kept does not.
 * @error: of reading; @fault says what it was.
 * @kept: how many things came before it; @what: what one of them is called.
 * Returns @error, or 0 after a note.
 */
int nsc_import_judge(const struct nsc_import *job, int error, uint64_t kept, const char *what,
                     const struct nsc_diag *fault);

/**
 * nsc_import_clock - ticks are nanoseconds, and times count from a reading of the clocks or the
 * first event, whichever is earlier; without either they stay as they are.
 * @point: or NULL. What it does not know is 0.
 * @first_ns: of all events, notes too; UINT64_MAX: there are none.
 * Returns 0 or -errno with @diag.
 */
int nsc_import_clock(struct nsc_import *job, const struct nsc_clock_point *point, uint64_t first_ns,
                     struct nsc_diag *diag);

/* Tell how much of @in, the job's input or one beside it, has been read. */
void nsc_import_progress(const struct nsc_import *job, const struct nsc_input *in);

#endif
