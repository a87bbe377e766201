/*
 * selection.h - what the commands that read a trace have in common: opening it, the options that
 * choose a part of it, and what is said beneath the results.
 */
#ifndef NSC_CLI_SELECTION_H
#define NSC_CLI_SELECTION_H

#include "analyze/select.h"
#include "cli/command.h"
#include "util/json.h"
#include "util/table.h"

/* Ids that a command gives these options, 0 = it has none. They are documented alike:
 * --from, --to TIME; --thread, --process WHICH; -F, --only PATTERN; -N, --except PATTERN. */
struct nsc_cli_selection_ids {
    int from, to, thread, process, only, except;
};

/**
 * nsc_cli_open_trace - open the one trace that a command wants, of any readable format.
 * @operand: index of the operand that names it.
 * Returns 0, or an exit status after a message. Warnings about the trace have been printed.
 */
int nsc_cli_open_trace(const struct nsc_cli_args *args, size_t operand, struct nsc_trace **out);

/**
 * nsc_cli_select - the part of a trace that the options choose.
 * @selection: free with nsc_selection_free(), also after failure.
 * Returns 0, or an exit status after a message (a thread that is not there is an error).
 */
int nsc_cli_select(const struct nsc_cli_args *args, const struct nsc_cli_selection_ids *ids,
                   const struct nsc_trace *t, struct nsc_selection *selection);

/* An option's value as a number of things, k and M allowed. Returns 0 or NSC_CLI_USAGE. */
int nsc_cli_count(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                  uint64_t *count);

/**
 * nsc_cli_functions - the functions that a pattern fits, as nsc_select_functions().
 * Returns 0, or an exit status after a message; none fitting is NSC_CLI_FAILED.
 */
int nsc_cli_functions(const struct nsc_trace *t, const char *pattern, uint8_t **functions);

/* Tell on @out what makes the numbers above it less than exact: bounds and losses. Nothing if both
 * are 0. @prefix begins each line. */
void nsc_cli_footnotes(FILE *out, const char *prefix, uint64_t bounds, uint64_t lost);

/* "1234", and "1234 name" in @text; a coroutine's stack n > 0 adds "/n". Returns @text. */
const char *nsc_cli_thread_label(const struct nsc_trace *t, uint32_t thread, char *text,
                                 size_t bytes);
/* "name (pid)". Returns @text. */
const char *nsc_cli_process_label(const struct nsc_trace *t, uint32_t process, char *text,
                                  size_t bytes);

/* Exit status for what nsc_table_write() returned: NSC_CLI_FAILED when memory was short; a closed
 * pipe or a full disk is main's business. */
int nsc_cli_table_status(int table_error);

#endif
