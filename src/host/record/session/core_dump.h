/*
 * core_dump.h - copy a recording's memory out of a core dump. It is found by its magic number, in
 * any mapping. Called by core_recover.c. The file is untrusted input.
 */
#ifndef NSC_RECORD_SESSION_CORE_DUMP_H
#define NSC_RECORD_SESSION_CORE_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/diag.h"

/* True if the file is an ELF core dump; false also if it cannot be read. */
bool nsc_core_is_one(const char *path);

/**
 * nsc_core_read - copy the recording's memory out of a core dump.
 * @base: receives a mapping of @bytes, for munmap(); parts that the dump does not contain read
 * zero.
 *
 * If the dump contains several recordings, open ones are preferred; among equals, the latest begun.
 * Returns 0 or -errno with @diag: -ENODATA (no recording: it did not use --mode ring, or the
 * process's coredump_filter excluded it), -EBADMSG (the file is damaged), -EIO, -ENOMEM.
 */
int nsc_core_read(const char *path, uint8_t **base, uint64_t *bytes, struct nsc_diag *diag);

#endif
