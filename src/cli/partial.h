/*
 * partial.h - names of files that are still being written: "app.nst.4711.partial" (trace/writer.h).
 *
 * Used by the commands that read such files.
 */
#ifndef NSC_CLI_PARTIAL_H
#define NSC_CLI_PARTIAL_H

#include <stddef.h>
#include <sys/types.h>

/**
 * nsc_cli_partial_name - take such a name apart.
 * @pid: receives the writer's process id; may be NULL.
 * Returns the length of @name without ".PID.partial", or 0 when it does not end so.
 */
size_t nsc_cli_partial_name(const char *name, pid_t *pid);

/* The one unfinished file that will be @path, for free(); NULL if there is none, or several. */
char *nsc_cli_partial_of(const char *path);

#endif
