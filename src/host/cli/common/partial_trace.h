/*
 * partial_trace.h - files that are still being written (util/os/partial_name.h has their names), by
 * the name that they will have.
 *
 * Used by the commands that read such files.
 */
#ifndef NSC_CLI_COMMON_PARTIAL_TRACE_H
#define NSC_CLI_COMMON_PARTIAL_TRACE_H

/* The one unfinished file that will be @path, for free(); NULL if there is none, or several. */
char *nsc_cli_partial_of(const char *path);

#endif
