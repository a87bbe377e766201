/*
 * folder_output.h - write an output that is a folder of files, and appears under its name only when
 * it is whole. Called by exporters. A folder that has something in it is never replaced.
 */
#ifndef NSC_FORMATS_EXPORT_FOLDER_OUTPUT_H
#define NSC_FORMATS_EXPORT_FOLDER_OUTPUT_H

#include "formats/export/export.h"

struct nsc_folder {
    struct nsc_export *job;
    char *path;
    char *parts; /* its name until published */
};

/* Begin the folder that @job is to make. Refuses a name that is taken, but for an empty folder.
 * Returns 0 or -errno with @diag. */
int nsc_folder_create(struct nsc_folder *f, struct nsc_export *job, struct nsc_diag *diag);

/* Begin a file in it; as nsc_output_create(). */
int nsc_folder_open(struct nsc_folder *f, const char *name, struct nsc_output **out,
                    struct nsc_diag *diag);

/* Finish a file, or on @error abandon it and return @error. */
int nsc_folder_close(struct nsc_folder *f, struct nsc_output *out, int error,
                     struct nsc_diag *diag);

/* Move the folder to its name, or on @error remove what there is of it and return @error. */
int nsc_folder_publish(struct nsc_folder *f, int error, struct nsc_diag *diag);

#endif
