/*
 * view.h - shared code of the commands that read a trace: opening it, the options that select a
 * part of it and the output format, and the footnotes of the results.
 *
 * The shared options are: --from, --to TIME; --thread, --process WHICH; -F, --only PATTERN;
 * -N, --except PATTERN; --format FORMAT; --json. A command accepts those in its manual source.
 */
#ifndef NSC_CLI_COMMON_VIEW_H
#define NSC_CLI_COMMON_VIEW_H

#include "analyze/calls/gaps.h"
#include "analyze/calls/left_out.h"
#include "analyze/calls/selection.h"
#include "cli/command.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"

/* An open trace with the user's selection and output format. */
struct nsc_cli_view {
    struct nsc_trace *trace;
    struct nsc_selection selection;
    enum nsc_table_format format;
    /* Of the selection; filled by nsc_cli_view_find_gaps(): */
    struct nsc_gaps gaps;
    struct nsc_left_out_list left_out;
    bool shows_estimates; /* the results contain estimates of left-out calls */
    bool shows_least;     /* the results contain lower bounds: left-out calls without an estimate */
};

/**
 * nsc_cli_view_option - handle one of the shared options.
 * The options that select a part of the trace are only accepted here: nsc_cli_view_open() evaluates
 * them when the trace is open. Returns 0 or NSC_CLI_USAGE.
 */
int nsc_cli_view_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                        struct nsc_cli_view *view);

/**
 * nsc_cli_view_open - open a trace of any readable format and evaluate the options that select.
 * @operand: index of the operand that names it.
 * @view: close it with nsc_cli_view_close(), after success only.
 * Prints warnings about the trace. Returns 0, or an exit status after a message, e.g. if the trace
 * does not contain a selected thread.
 */
int nsc_cli_view_open(const struct nsc_cli_args *args, size_t operand, struct nsc_cli_view *view);
void nsc_cli_view_close(struct nsc_cli_view *view);

/* As nsc_cli_view_open(), for commands with exactly one operand, the trace. */
int nsc_cli_view_open_only(const struct nsc_cli_args *args, struct nsc_cli_view *view);

/* --compensate: subtract the cost of the hooks from all times. Returns 0, or an exit status after a
 * message: the trace has no measured cost, or only entries were timed. */
int nsc_cli_view_compensate(struct nsc_cli_view *view);

/* Find the lost events, gaps and left-out calls of the selection. Returns 0, or an exit status
 * after a message. */
int nsc_cli_view_find_gaps(struct nsc_cli_view *view);
/* Write the members "lost", "gaps", "first_gap_ns", "left_out_functions" and "ends_are_bounds",
 * which accompany the results in JSON. */
void nsc_cli_view_json_gaps(const struct nsc_cli_view *view, struct nsc_json *j);

/* The stream for remarks on the results: stdout with an aligned table, stderr with CSV, NULL with
 * JSON, whose members contain the same. @prefix: receives the start of each line of a remark. */
FILE *nsc_cli_view_remarks(const struct nsc_cli_view *view, const char **prefix);
/* Print as remarks why the numbers are not exact: untimed exits, estimated durations, gaps and
 * left-out functions. Prints nothing if there are none. @bounds: number of calls whose start or end
 * was not recorded. */
void nsc_cli_view_footnotes(const struct nsc_cli_view *view, uint64_t bounds);

/* Parse an option's value as a count; k and M are allowed. Returns 0 or NSC_CLI_USAGE. */
int nsc_cli_count(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                  uint64_t *count);
/* Parse an option's value as the number of rows to show, at least 1. */
int nsc_cli_top(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t *top);
/* Parse an option's value as a percentage: "1%", "0.5%" or "0". @share: receives it as a fraction.
 * @most: the largest allowed fraction (1: 100 %). Returns 0 or NSC_CLI_USAGE. */
int nsc_cli_share(const struct nsc_cli_args *args, const struct nsc_cli_given *given, double most,
                  double *share);

/**
 * nsc_cli_functions - find the functions that match a pattern.
 * @functions: receives a byte per function, see nsc_selection_functions(); the caller frees it.
 * Returns 0, or an exit status after a message: NSC_CLI_FAILED if no function matches.
 */
int nsc_cli_functions(const struct nsc_trace *t, const char *pattern, uint8_t **functions);

/* Write "TID" or "TID NAME" into @text, with "/n" after TID for a coroutine's stack n > 0. Returns
 * @text. */
const char *nsc_cli_thread_label(const struct nsc_trace *t, uint32_t thread, char *text,
                                 size_t bytes);
/* Write "NAME (PID)" into @text. Returns @text. */
const char *nsc_cli_process_label(const struct nsc_trace *t, uint32_t process, char *text,
                                  size_t bytes);

/* The exit status for a result of nsc_table_write(): NSC_CLI_FAILED after a message if memory ran
 * out. main.c reports failed writes. */
int nsc_cli_table_status(int table_error);

#endif
