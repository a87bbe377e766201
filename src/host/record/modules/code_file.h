/*
 * code_file.h - which file a module's code comes from, and whether a process has that code where
 * the shared memory says it has.
 *
 * The list of sleds comes from a file, the place of the code from the shared memory; a program can
 * lie about both. Code is changed only where the process's own maps confirm that this very file is
 * loaded at that place. Private to record/. Called by modules.c and hook_switch.c.
 */
#ifndef NSC_RECORD_MODULES_CODE_FILE_H
#define NSC_RECORD_MODULES_CODE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/maps.h"
#include "util/privileges/credentials.h"

enum { NSC_CODE_FILE_SEGMENTS_MAX = 8 };

/* An executable segment, as the file's program headers have it. */
struct nsc_code_segment {
    uint64_t offset, va, bytes;
};

struct nsc_code_file {
    dev_t device;
    ino_t inode;
    uint32_t segment_count; /* 0: not known, or no code */
    struct nsc_code_segment segments[NSC_CODE_FILE_SEGMENTS_MAX];
};

/* Where code is loaded, as the shared memory says; the range is half open. */
struct nsc_code_place {
    uint64_t start, end, bias;
};

/**
 * nsc_code_file_read - read the program headers of an ELF file: at most 64 KiB, whatever it holds.
 * @owner: another user whose file it is: a confined child reads it, for two seconds at most; NULL:
 *         this process does.
 * Returns 0 or -errno, @out untouched: -EBADMSG, -ENOEXEC, -ETIMEDOUT, what statx() or pread() say.
 */
int nsc_code_file_read(int fd, const struct nsc_credentials *owner, struct nsc_code_file *out);

/**
 * nsc_code_file_check - has process @pid loaded the file's code at @place?
 * @maps: the process's, read a moment ago.
 *
 * Returns 0, -EIO (there is no code, as after dlclose) or -EXDEV (there is other code).
 * It has if the first and the last byte of the range lie in executable mappings of this file, all
 * executable mappings in between are of this file as well, and the bias follows from where they
 * are. Which file a mapping is of is asked through /proc/PID/map_files; where the system does not
 * permit that, by the inode's number.
 */
int nsc_code_file_check(const struct nsc_code_file *file, pid_t pid, const struct nsc_maps *maps,
                        const struct nsc_code_place *place);

#endif
