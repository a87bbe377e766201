/*
 * recording.h - what the commands that record share: their options, the progress line, the summary.
 *
 * Used by cmd_record.c, cmd_start.c, cmd_stop.c.
 */
#ifndef NSC_CLI_RECORD_RECORDING_H
#define NSC_CLI_RECORD_RECORDING_H

#include "cli/command.h"
#include "record/options/recording_options.h"

struct nsc_recording {
    struct nsc_record_options options;
    char *output; /* when not given */
    bool quiet, progress_shown;
    bool no_samples;  /* by --ext none, whatever --interval says */
    bool filtered;    /* some filter was in force, whatever the options say */
    char remark[480]; /* on what the trace became, or empty */
};

/* Zeroed but for the size. */
void nsc_recording_begin(struct nsc_recording *r);
void nsc_recording_free(struct nsc_recording *r);

/**
 * nsc_recording_option - take one of the shared options, by its long name: output, mode, buffer,
 * ext, interval, compress, no-children, quiet, and those of a filter (record/options/filter.h).
 * Returns 0 or an exit status after a message.
 */
int nsc_recording_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                         struct nsc_recording *r);

/* When all options have been taken: do they go together? As above. */
int nsc_recording_check(const struct nsc_cli_args *args, const struct nsc_recording *r);

/* Without -o: the trace is called after @program, the last part of its path. With it: may the file
 * be written, and is it to be something else than .nst (cli/record/deliver.h)? 0 or an exit status
 * after a message. */
int nsc_recording_name(struct nsc_recording *r, const char *program);

/* The progress line, where there is a terminal and it is wanted. */
void nsc_recording_show_progress(struct nsc_recording *r);
void nsc_recording_hide_progress(struct nsc_recording *r);

/* One line: how much of what is where; and what is to be known about it. */
void nsc_recording_summarise(const struct nsc_recording *r, const struct nsc_record_result *result);

#endif
