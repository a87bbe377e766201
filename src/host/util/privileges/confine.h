/*
 * confine.h - what a forked child gives up before it parses data of somebody it must not trust.
 *
 * Called by symbols/ in children that parse ELF, DWARF and C++ names. Parsers may be taken over by
 * what they parse: afterwards the child can compute, read the descriptors that it keeps and write
 * to its pipe, nothing else. Only for children of fork() with one thread. Must not print.
 */
#ifndef NSC_UTIL_PRIVILEGES_CONFINE_H
#define NSC_UTIL_PRIVILEGES_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/privileges/credentials.h"

#define NSC_CONFINE_KEEP_MAX 4

struct nsc_confine {
    const struct nsc_credentials *credentials; /* the user to become; NULL: stay the same */
    int keep[NSC_CONFINE_KEEP_MAX];            /* descriptors that stay open; negative: none */
    const void *shared;    /* start of the only shared mapping that stays; NULL: none stays */
    uint64_t memory_bytes; /* address space beyond what is mapped now */
    uint32_t cpu_seconds;
};

/**
 * nsc_confine_enter - give up what was inherited, while files can still be opened.
 *
 * Closes all other descriptors, connects 0 to 2 to /dev/null, unmaps shared memory, assumes the
 * credentials, limits memory and processor time, restores the default action of fatal signals.
 * The child ends with its parent and cannot be traced by processes of its new user.
 * Returns 0 or -errno (the credentials cannot be assumed); then the caller must exit.
 */
int nsc_confine_enter(const struct nsc_confine *confine);

/**
 * nsc_confine_seal - give up everything but computing and the open descriptors, for good.
 *
 * No capabilities, no new descriptors, files or processes, and a system call filter: reading,
 * writing, memory without PROT_EXEC, time and exit are allowed; execve, socket, ptrace and the like
 * kill the child; the rest fails (names of files: EACCES, others: ENOSYS).
 * Returns 0, or -errno where there is no filter (a kernel without seccomp, another processor, an
 * emulator): all else is in force then, and the caller may go on.
 */
int nsc_confine_seal(void);

#endif
