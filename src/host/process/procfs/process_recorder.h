/*
 * process_recorder.h - find the recorder of a process: another process that has the session's
 * memory file open, which this process has mapped. Private to process/.
 */
#ifndef NSC_PROCESS_PROCFS_PROCESS_RECORDER_H
#define NSC_PROCESS_PROCFS_PROCESS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/procfs/maps.h"

struct nsc_recorder_process;

/* The processes that have memory files of sessions open. Zero-initialize before use. They are
 * searched once, when the first process needs them, as that reads all descriptors of the machine.
 */
struct nsc_recorder_list {
    bool is_complete;
    struct nsc_recorder_process *at;
    uint32_t count, room;
};

void nsc_recorder_list_free(struct nsc_recorder_list *list);

/**
 * nsc_process_recorder - find the recorder of a process and the trace that it writes.
 * @maps: mappings of the process.
 * @recorder: receives the recorder's pid, or 0: none, or not visible to this user.
 * @output: receives the path of the trace, malloc'ed, or NULL if not known.
 */
void nsc_process_recorder(struct nsc_recorder_list *list, pid_t pid, const struct nsc_maps *maps,
                          pid_t *recorder, char **output);

#endif
