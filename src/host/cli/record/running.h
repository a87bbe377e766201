/*
 * running.h - recordings under way: find the one that the user means.
 *
 * Used by cmd_stop.c and cmd_filter.c.
 */
#ifndef NSC_CLI_RECORD_RUNNING_H
#define NSC_CLI_RECORD_RUNNING_H

#include "record/control/command_server.h"

/**
 * nsc_cli_running - the recording of a process.
 * @process: process id or name; NULL: the only one that there is.
 * @entry: receives it.
 * Returns 0, or an exit status after a message: none, or several.
 */
int nsc_cli_running(const char *process, struct nsc_command_entry *entry);

#endif
