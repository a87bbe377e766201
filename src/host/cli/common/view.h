/*
 * view.h - what the commands that read a trace have in common: opening it, the options that choose
 * a part of it and a form to print it in, and what is said beneath the results.
 *
 * Their manual sources document these options alike: --from, --to TIME; --thread, --process WHICH;
 * -F, --only PATTERN; -N, --except PATTERN; --format FORMAT; --json. A command has those of them
 * that its manual source names.
 */
#ifndef NSC_CLI_COMMON_VIEW_H
#define NSC_CLI_COMMON_VIEW_H

#include "analyze/calls/gaps.h"
#include "analyze/calls/left_out.h"
#include "analyze/calls/selection.h"
#include "cli/command.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"

/* A trace as a command looks at it. */
struct nsc_cli_view {
    struct nsc_trace *trace;
    struct nsc_selection selection;
    enum nsc_table_format format;
    /* Of the selection; filled by nsc_cli_view_find_gaps(): */
    struct nsc_gaps gaps;
    struct nsc_left_out_list left_out;
    bool shows_estimates; /* the results above contain what is estimated of the left-out calls */
    bool shows_least;     /* ...or numbers that lack them, as nothing is known of them */
};

/**
 * nsc_cli_view_option - take an option that is not the command's own.
 * What chooses a part of the trace is left to nsc_cli_view_open(), which knows the trace.
 * Returns 0 or NSC_CLI_USAGE.
 */
int nsc_cli_view_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                        struct nsc_cli_view *view);

/**
 * nsc_cli_view_open - open a trace, of any readable format, and select what the options choose.
 * @operand: index of the operand that names it.
 * @view: close it with nsc_cli_view_close(), after success only.
 * Returns 0, or an exit status after a message (a thread that is not there is an error). Warnings
 * about the trace have been printed.
 */
int nsc_cli_view_open(const struct nsc_cli_args *args, size_t operand, struct nsc_cli_view *view);
void nsc_cli_view_close(struct nsc_cli_view *view);

/* The same for the commands that take nothing but one trace as operand. */
int nsc_cli_view_open_only(const struct nsc_cli_args *args, struct nsc_cli_view *view);

/* --compensate: take the cost of recording out of all times. Returns 0, or an exit status after a
 * message: the trace does not tell the cost. */
int nsc_cli_view_compensate(struct nsc_cli_view *view);

/* Find out what was lost of the selection, and where, and what was left out. Returns 0, or an exit
 * status after a message.
 */
int nsc_cli_view_find_gaps(struct nsc_cli_view *view);
/* The members "lost", "gaps", "first_gap_ns", "left_out_functions" and "ends_are_bounds" that stand
 * beside the results in JSON. */
void nsc_cli_view_json_gaps(const struct nsc_cli_view *view, struct nsc_json *j);

/* Where remarks on the results go: beneath a table, beside CSV, and nowhere (NULL) with JSON, whose
 * members tell the same. @prefix: receives what their lines begin with. */
FILE *nsc_cli_view_remarks(const struct nsc_cli_view *view, const char **prefix);
/* Tell there what makes the numbers above less than exact: untimed exits, @bounds calls with an end
 * that was not seen, gaps, and functions that were left out. Nothing if there are none. */
void nsc_cli_view_footnotes(const struct nsc_cli_view *view, uint64_t bounds);

/* An option's value as a number of things, k and M allowed. Returns 0 or NSC_CLI_USAGE. */
int nsc_cli_count(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                  uint64_t *count);
/* The same for how many lines to show: one at least. */
int nsc_cli_top(const struct nsc_cli_args *args, const struct nsc_cli_given *given, uint64_t *top);
/* An option's value as a share, "1%", "0.5%" or "0", of @most at most (1: the whole). Returns 0 or
 * NSC_CLI_USAGE. */
int nsc_cli_share(const struct nsc_cli_args *args, const struct nsc_cli_given *given, double most,
                  double *share);

/**
 * nsc_cli_functions - the functions that a pattern fits, as nsc_selection_functions().
 * Returns 0, or an exit status after a message; none fitting is NSC_CLI_FAILED.
 */
int nsc_cli_functions(const struct nsc_trace *t, const char *pattern, uint8_t **functions);

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
