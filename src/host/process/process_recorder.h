/*
 * process_recorder.h - who records a process: whoever holds the memory file that the process has
 * mapped. Private to reach/.
 */
#ifndef NSC_PROCESS_PROCESS_RECORDER_H
#define NSC_PROCESS_PROCESS_RECORDER_H

#include <sys/types.h>

#include "process/maps.h"

/**
 * nsc_process_recorder - find the recorder of a process and the trace that it writes.
 * @maps: of the process.
 * @recorder: receives its pid, or 0: nobody records it, or nobody that we may see.
 * @output: receives a malloc'ed path, or NULL where it cannot be told.
 */
void nsc_process_recorder(pid_t pid, const struct nsc_maps *maps, pid_t *recorder, char **output);

#endif
