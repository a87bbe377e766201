/*
 * control_find.h - find the control function of a process.
 *
 * Private to process/. The maps, memory and files of a process are untrusted input.
 */
#ifndef NSC_PROCESS_FIND_CONTROL_FIND_H
#define NSC_PROCESS_FIND_CONTROL_FIND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/procfs/maps.h"

struct nsc_control_place {
    /* Run-time addresses of the control function and of the note's data, which holds the distance
     * to it; 0: not found. */
    uint64_t control, note;
    bool is_32_bit;  /* the program is, or has another byte order: not supported */
    bool unreadable; /* a file of another user's process lies on a file system that may block */
};

/**
 * nsc_control_find - find the control function among the files that a process has loaded.
 * @mem: the process's memory, open for reading; -1, or a process of another user: the files are
 * read instead.
 * @program: path of its program, as in @maps.
 *
 * The note and the function must be in one file, which the process has mapped privately and to
 * execute it.
 * Context: allocates; opens files of another user with that user's credentials.
 */
void nsc_control_find(pid_t pid, int mem, const struct nsc_maps *maps, const char *program,
                      struct nsc_control_place *place);

/* Return true if nsc_control_find() finds exactly these addresses now. */
bool nsc_control_is_at(pid_t pid, int mem, uint64_t control, uint64_t note);

#endif
