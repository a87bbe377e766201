/*
 * core_dump.h - the memory of a recording in a core dump: found by its magic number, in whatever
 * mapping. Called by core_recover.c. The file is hostile.
 */
#ifndef NSC_RECORD_SESSION_CORE_DUMP_H
#define NSC_RECORD_SESSION_CORE_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "util/diag.h"

/* Is the file an ELF core dump? False also where it cannot be read. */
bool nsc_core_is_one(const char *path);

/**
 * nsc_core_read - copy the recording's memory out of a core dump.
 * @base: receives a mapping of @bytes, for munmap(); what the dump does not have of it reads zero.
 * Of several, that which was open, or was written to last, is taken.
 * Returns 0 or -errno with @diag: -ENODATA (there is none: no recording with --mode ring, or the
 * process's coredump_filter left it out), -EBADMSG (the file is damaged), -EIO, -ENOMEM.
 */
int nsc_core_read(const char *path, uint8_t **base, uint64_t *bytes, struct nsc_diag *diag);

#endif
