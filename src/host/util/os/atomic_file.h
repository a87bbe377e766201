/*
 * atomic_file.h - an output file that appears under its name only when it is whole.
 *
 * Called by whatever writes a file that people name: exporters, the writer of archives. Until then
 * it has no name, where the file system can do that, else one beside the final one.
 */
#ifndef NSC_UTIL_OS_ATOMIC_FILE_H
#define NSC_UTIL_OS_ATOMIC_FILE_H

#include <stdbool.h>

#include "util/diag.h"

struct nsc_atomic_file {
    int fd;        /* to write to; -1 when closed */
    char *path;    /* for messages, too */
    char *partial; /* name until published; NULL for standard output */
    bool named;    /* the file has that name; before, it has none and goes if we die */
};

/**
 * nsc_atomic_file_create - begin an output.
 * @path: where it will appear, or "-" for standard output (nothing is renamed then).
 * @f: receives the file; end it with nsc_atomic_file_publish() or nsc_atomic_file_abandon(), also
 * on failure. Returns 0 or -errno with @diag: -ELOOP, -EISDIR, -EINVAL (a link, a folder, a
 * device), -ENOMEM, and what open(2) says.
 */
int nsc_atomic_file_create(const char *path, struct nsc_atomic_file *f, struct nsc_diag *diag);

/* All is written: give it its temporary name if it has none, and close it. Many of a set must not
 * all stay open. Returns 0 or -errno, without a message. */
int nsc_atomic_file_close(struct nsc_atomic_file *f);

/* After close: move the file to its name. Releases @f in any case. Returns 0 or -errno with @diag.
 */
int nsc_atomic_file_publish(struct nsc_atomic_file *f, struct nsc_diag *diag);
/**
 * nsc_atomic_file_publish_both - all of both is written: both files get their names, or neither
 * does. If @second cannot have its own, what stood under the name of @first stands there again, as
 * far as the file system can exchange names. Closes and releases both in any case. Returns 0 or
 * -errno with @diag.
 */
int nsc_atomic_file_publish_both(struct nsc_atomic_file *first, struct nsc_atomic_file *second,
                                 struct nsc_diag *diag);
/* Remove the file, release @f. */
void nsc_atomic_file_abandon(struct nsc_atomic_file *f);

#endif
