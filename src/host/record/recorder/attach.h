/*
 * attach.h - records a program that is already running, or that is started later by another
 * process.
 *
 * Called by cli/record/cmd_start.c and, for a program that requests its own recording,
 * cli/record/cmd_attend.c. recorder.c controls the course of the recording; process/ gives access
 * to the process.
 */
#ifndef NSC_RECORD_RECORDER_ATTACH_H
#define NSC_RECORD_RECORDER_ATTACH_H

#include "abi/control.h"
#include "process/find/process_find.h"
#include "record/options/recording_options.h"

/* Reason for the end of a recording. */
enum nsc_attach_end {
    NSC_ATTACH_ASKED,    /* requested by the user, a signal or the socket */
    NSC_ATTACH_DURATION, /* the duration is over */
    NSC_ATTACH_EXITED,   /* the program and all its forked children have ended */
    NSC_ATTACH_EXEC,     /* the program has executed another program */
};

struct nsc_attach_options {
    size_t size;                             /* sizeof(struct nsc_attach_options) */
    const struct nsc_process_target *target; /* NULL: wait for a program called @name */
    const char *name;                        /* name of the program's file, without folders */
    int memory; /* descriptor of the session's memory, which the target has created. The target
                 * joins by itself when begun() is called; 0: none */
    uint64_t delay_ns;    /* between finding the program and recording; needs a target */
    uint64_t duration_ns; /* from the first possible event; 0: no limit */
    /* Returns true if the user requests the end. Called often; must be cheap. May be NULL. */
    bool (*wants_end)(void *context);
    /* Called when the recording has begun in process @pid; @pid 0: waiting for the program. May be
     * NULL. */
    void (*begun)(void *context, pid_t pid);
    void *context;
};

struct nsc_attach_result {
    enum nsc_attach_end end;
    pid_t pid;                            /* 0: no program was recorded */
    uint64_t switch_on_ns, switch_off_ns; /* spent on switching sleds */
    char output[NSC_COMMAND_NAME_MAX];    /* new name of the trace from the program; empty: none */
    char warning[480];                    /* warning for the user, or empty */
};

/**
 * nsc_record_attach - record until the end is requested or the program ends.
 * @options: argv and until_main are ignored.
 * @result: filled in as far as possible, also on failure; status, started, no_program and built are
 *          unused.
 *
 * Returns 0 or -errno with @diag: -EBUSY (another recorder records the program; the message names
 * it), errors of nsc_process_open() and nsc_process_join(), or an error when creating the file. The
 * program continues in any case. Context: handles SIGINT, SIGTERM and SIGHUP meanwhile; one call at
 * a time.
 */
int nsc_record_attach(const struct nsc_record_options *options,
                      const struct nsc_attach_options *attach, struct nsc_record_result *result,
                      struct nsc_attach_result *attach_result, struct nsc_diag *diag);

#endif
