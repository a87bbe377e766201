/*
 * running.h - find a running recording.
 *
 * Used by cmd_stop.c, cmd_filter.c and cmd_snapshot.c.
 */
#ifndef NSC_CLI_RECORD_RUNNING_H
#define NSC_CLI_RECORD_RUNNING_H

#include "record/control/command_server.h"

/**
 * nsc_cli_running - find the recording of a process.
 * @process: name or process id of the program, or process id of the recorder; NULL: the only
 * running recording.
 * @entry: receives the recording.
 * Returns 0, or an exit status after a message: there is none, or there are several.
 */
int nsc_cli_running(const char *process, struct nsc_command_entry *entry);

#endif
