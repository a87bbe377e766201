/*
 * folder_output.h - write an output that is a folder of files. The files go into a temporary
 * folder, which gets the final name when it is complete. Called by exporters. Must not replace a
 * folder that is not empty, nor touch any other that a hostile owner of the folder around it moves
 * to the temporary name.
 */
#ifndef NSC_FORMATS_EXPORT_FOLDER_OUTPUT_H
#define NSC_FORMATS_EXPORT_FOLDER_OUTPUT_H

#include "formats/export/export.h"

struct nsc_folder {
    struct nsc_export *job;
    char *path;
    char *parts; /* path of the temporary folder, until published */
    int fd;      /* that folder: whatever its name stands for by now */
};

/* Creates the temporary folder for @job's output. Returns 0 or -errno with @diag: -EEXIST if the
 * output's name exists and is not an empty folder. */
int nsc_folder_create(struct nsc_folder *f, struct nsc_export *job, struct nsc_diag *diag);

/* Creates a file in the folder. @name: at most NAME_MAX - 40 bytes. Errors as nsc_output_create().
 */
int nsc_folder_open(struct nsc_folder *f, const char *name, struct nsc_output **out,
                    struct nsc_diag *diag);

/* Finishes a file; if @error is not 0, removes the file and returns @error. */
int nsc_folder_close(struct nsc_folder *f, struct nsc_output *out, int error,
                     struct nsc_diag *diag);

/* Renames the folder to its final name; if @error is not 0, removes it and returns @error. */
int nsc_folder_publish(struct nsc_folder *f, int error, struct nsc_diag *diag);

#endif
