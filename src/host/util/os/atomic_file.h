/*
 * atomic_file.h - an output file that appears under its name only when it is complete.
 *
 * Called by exporters and the archive writer. Until it is published, the file has no name
 * (O_TMPFILE), or a temporary name in the same folder if the file system does not support that.
 */
#ifndef NSC_UTIL_OS_ATOMIC_FILE_H
#define NSC_UTIL_OS_ATOMIC_FILE_H

#include <stdbool.h>

#include "util/diag.h"

struct nsc_atomic_file {
    int fd;        /* to write to; -1 when closed */
    char *path;    /* final name; also for messages */
    char *partial; /* temporary name; NULL for standard output */
    bool named;    /* it has the temporary name; before, the kernel frees it if the process dies */
};

/**
 * nsc_atomic_file_create - create an output file.
 * @path: its final name, or "-" for standard output (nothing is renamed then).
 * @f: receives the file; release it with nsc_atomic_file_publish() or nsc_atomic_file_abandon(),
 *     also on failure.
 * Returns 0 or -errno with @diag: -ELOOP (@path is a link), -EISDIR (a folder), -EINVAL (a device),
 * -EEXIST (see made_output.h), -ENOMEM, and open(2)'s.
 */
int nsc_atomic_file_create(const char *path, struct nsc_atomic_file *f, struct nsc_diag *diag);

/* After the last write: give the file its temporary name if it has none, and close it, so that the
 * files of a large set are not all open. Returns 0 or -errno, without a message. */
int nsc_atomic_file_close(struct nsc_atomic_file *f);

/* After close: rename the file to its final name. Always releases @f. Returns 0 or -errno with
 * @diag. */
int nsc_atomic_file_publish(struct nsc_atomic_file *f, struct nsc_diag *diag);
/**
 * nsc_atomic_file_publish_both - close and rename two files, or neither.
 *
 * If @second cannot be renamed, the previous file under the name of @first is restored, provided
 * that the file system supports RENAME_EXCHANGE. Always closes and releases both.
 * Returns 0 or -errno with @diag.
 */
int nsc_atomic_file_publish_both(struct nsc_atomic_file *first, struct nsc_atomic_file *second,
                                 struct nsc_diag *diag);
/* Remove the file and release @f. */
void nsc_atomic_file_abandon(struct nsc_atomic_file *f);

#endif
