/*
 * confine.h - sandbox for a forked child that parses untrusted data.
 *
 * Called by symbols/ in children that parse ELF, DWARF and C++ names. A hostile file may take over
 * its parser: a sealed child can only compute, read its kept descriptors and write to its pipe.
 * Only for single-threaded children of fork(). Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_CONFINE_H
#define NSC_UTIL_PRIVILEGES_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/privileges/credentials.h"

#define NSC_CONFINE_KEEP_MAX 4

struct nsc_confine {
    const struct nsc_credentials *credentials; /* the user to become; NULL: unchanged */
    int keep[NSC_CONFINE_KEEP_MAX];            /* descriptors that stay open; negative: none */
    const void *shared;    /* start of the only shared mapping to keep; NULL: keep none */
    uint64_t memory_bytes; /* limit of address space, beyond what is mapped now */
    uint32_t cpu_seconds;
};

/**
 * nsc_confine_enter - drop inherited resources; files can still be opened afterwards.
 *
 * Closes all other descriptors, connects 0 to 2 to /dev/null, unmaps shared memory, assumes the
 * credentials, limits memory and CPU time, restores the default action of fatal signals and ignores
 * SIGINT, SIGTERM and SIGHUP. The child is killed when its parent ends, and processes of its new
 * user cannot trace it.
 * Returns 0 or -errno (the credentials cannot be assumed); after an error the caller must exit.
 */
int nsc_confine_enter(const struct nsc_confine *confine);

/**
 * nsc_confine_seal - permanently restrict the child to computing and its open descriptors.
 *
 * Drops all capabilities, forbids new descriptors, files and processes, and installs a system call
 * filter. The filter allows reading, writing, memory without PROT_EXEC, time and exit. execve,
 * socket, ptrace and the like kill the child. All other calls fail: those with file names with
 * EACCES, others with ENOSYS.
 * Returns 0, or -errno if there is no filter (a kernel without seccomp, another CPU architecture,
 * an emulator). The other restrictions are in force then, and the caller may continue.
 */
int nsc_confine_seal(void);

#endif
