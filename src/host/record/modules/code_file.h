/*
 * code_file.h - which file a module's code comes from, and whether a process has mapped that code
 * where the shared memory claims.
 *
 * The list of sleds comes from a file, the code's location from the shared memory; a program can
 * falsify both. The recorder changes code only where the process's own maps confirm that this file
 * is loaded there. Private to record/. Called by modules.c and hook_switch.c.
 */
#ifndef NSC_RECORD_MODULES_CODE_FILE_H
#define NSC_RECORD_MODULES_CODE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/procfs/maps.h"
#include "util/privileges/credentials.h"

enum { NSC_CODE_FILE_SEGMENTS_MAX = 8, NSC_CODE_FILE_BY_PATH = 1 };

/* An executable segment, from the file's program headers. */
struct nsc_code_segment {
    uint64_t offset, va, bytes;
};

struct nsc_code_file {
    dev_t device;
    ino_t inode;
    uint32_t segment_count; /* 0: unknown, or no code */
    struct nsc_code_segment segments[NSC_CODE_FILE_SEGMENTS_MAX];
};

/* The address range at which the shared memory claims the code is loaded; half open. */
struct nsc_code_place {
    uint64_t start, end, bias;
};

struct statx;

/* As fstat(), but does not ask a file system of another user, which may block. Returns 0 or -errno.
 */
int nsc_code_file_status(int fd, struct statx *st);

/**
 * nsc_code_file_read - read the program headers of an ELF file; at most 64 KiB, whatever the file
 * contains.
 * @owner: credentials of another user who owns the file: a confined child reads it, within two
 * seconds. NULL: this process reads it.
 * Returns 0 or -errno, @out untouched: -EBADMSG, -ENOEXEC, -ETIMEDOUT, errors of statx() or
 * pread().
 */
int nsc_code_file_read(int fd, const struct nsc_credentials *owner, struct nsc_code_file *out);

/**
 * nsc_code_file_check - check whether process @pid has loaded the file's code at @place.
 * @maps: the process's maps.
 *
 * Returns 0, NSC_CODE_FILE_BY_PATH (true if @maps are up to date), -EIO (no code there, as after
 * dlclose) or -EXDEV (other code).
 * All mappings of files in the range must be of this file; the executable ones must fit the bias,
 * and contain the first and the last byte of the range. A mapping's file is identified through
 * /proc/PID/map_files; where the system does not permit that, through the path that the kernel
 * reports for it.
 */
int nsc_code_file_check(const struct nsc_code_file *file, pid_t pid, const struct nsc_maps *maps,
                        const struct nsc_code_place *place);

#endif
