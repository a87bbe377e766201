/*
 * partial_trace.h - find an unfinished trace by its final name.
 *
 * Until it is complete, a trace has a temporary name (util/os/partial_name.h). Used by the commands
 * that read such files.
 */
#ifndef NSC_CLI_COMMON_PARTIAL_TRACE_H
#define NSC_CLI_COMMON_PARTIAL_TRACE_H

/* Find the unfinished file with the final name @path. Returns its path, which the caller frees;
 * NULL if there is none, or several. */
char *nsc_cli_partial_of(const char *path);

#endif
