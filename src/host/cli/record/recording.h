/*
 * recording.h - options, progress line and summary of the commands that record.
 *
 * Used by cmd_record.c, cmd_start.c, cmd_stop.c, cmd_snapshot.c and cmd_attend.c.
 */
#ifndef NSC_CLI_RECORD_RECORDING_H
#define NSC_CLI_RECORD_RECORDING_H

#include "cli/command.h"
#include "record/options/recording_options.h"

struct nsc_recording {
    struct nsc_record_options options;
    char *output;        /* owned default name; NULL if the user gave a name */
    const char *program; /* the default name is made of it; borrowed */
    unsigned number;     /* of the default name, if it may not replace a file: 1, 2, ... */
    bool quiet, progress_shown;
    bool no_samples;  /* --ext none was given; it overrides --interval */
    bool filtered;    /* a filter was active, even if the options have none */
    char remark[480]; /* a warning of the conversion of the trace, or empty */
};

/* Initialise @r: zero, except for the options' size and the path of nanoscope-calibrate. */
void nsc_recording_begin(struct nsc_recording *r);
void nsc_recording_free(struct nsc_recording *r);

/**
 * nsc_recording_option - handle one of the shared options, by its long name: output, mode, buffer,
 * budget, timing, ext, interval, compress, no-children, quiet, and those of a filter
 * (record/options/filter.h).
 * Returns 0 or an exit status after a message.
 */
int nsc_recording_option(const struct nsc_cli_args *args, const struct nsc_cli_given *given,
                         struct nsc_recording *r);

/* Check that the options are compatible, after all of them have been handled. Returns 0 or an exit
 * status after a message. */
int nsc_recording_check(const struct nsc_cli_args *args, const struct nsc_recording *r);

/* Set the output. Without -o, it is the base name of the path @program with ".nst". With -o and a
 * format other than .nst, check that the file may be written, and set up the conversion
 * (cli/record/deliver.h). Returns 0 or an exit status after a message. */
int nsc_recording_name(struct nsc_recording *r, const char *program);

/* The same for a program that the user has not started. Its name may be chosen by another user, so
 * a default name never replaces a file: if PROGRAM.nst exists, it is PROGRAM-2.nst, -3 and so on.
 * The number may grow until the trace is complete. @program must live until then. */
int nsc_recording_name_new(struct nsc_recording *r, const char *program);

/* Enable the progress line, if stderr is a terminal and --quiet was not given; remove it. */
void nsc_recording_show_progress(struct nsc_recording *r);
void nsc_recording_hide_progress(struct nsc_recording *r);

/* Print one line with the counts, size and name of the trace, then samples, budget and warnings. */
void nsc_recording_summarise(const struct nsc_recording *r, const struct nsc_record_result *result);

#endif
