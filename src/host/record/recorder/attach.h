/*
 * attach.h - record a program that runs already, or is about to be started by somebody else.
 *
 * Called by cli/record/cmd_start.c and, for a program that asks for it itself,
 * cli/record/cmd_attend.c. The course of the recording is recorder.c's; how a process is reached is
 * reach/'s.
 */
#ifndef NSC_RECORD_RECORDER_ATTACH_H
#define NSC_RECORD_RECORDER_ATTACH_H

#include "abi/control.h"
#include "process/process_find.h"
#include "record/options/recording_options.h"

/* Why a recording ended. */
enum nsc_attach_end {
    NSC_ATTACH_ASKED,    /* by the user, a signal or the socket */
    NSC_ATTACH_DURATION, /* its time was up */
    NSC_ATTACH_EXITED,   /* the program has ended, and all that it forked */
    NSC_ATTACH_EXEC,     /* the program runs another program now */
};

struct nsc_attach_options {
    size_t size;                             /* sizeof(struct nsc_attach_options) */
    const struct nsc_process_target *target; /* the process; NULL: wait for one of that name */
    const char *name;                        /* of the program's file, without folders */
    int memory; /* the target has made the session's memory, this descriptor, and joins by itself
                 * when begun() is called; 0: it has not */
    uint64_t delay_ns;    /* between finding it and recording; needs a target */
    uint64_t duration_ns; /* from the first possible event on; 0: no limit */
    /* Asked often, and cheap: does the user want the end? May be NULL. */
    bool (*wants_end)(void *context);
    /* The recording has begun in process @pid; with @pid 0, the program is waited for. May be NULL.
     */
    void (*begun)(void *context, pid_t pid);
    void *context;
};

struct nsc_attach_result {
    enum nsc_attach_end end;
    pid_t pid;                            /* 0: no program came */
    uint64_t switch_on_ns, switch_off_ns; /* spent on switching sleds */
    char output[NSC_COMMAND_NAME_MAX];    /* the trace's new name from the program; empty: none */
    char warning[480];                    /* something to know about it, or empty */
};

/**
 * nsc_record_attach - record from now on, until somebody wants the end.
 * @options: argv and until_main mean nothing.
 * @result: filled in as far as things went, also on failure; status, started, no_program and built
 * mean nothing.
 *
 * Returns 0 or -errno with @diag: -EBUSY (it is being recorded; the message says by whom), what
 * nsc_process_open() and nsc_process_join() say, or what the file could not be made for. The
 * program goes on in any case. Context: handles SIGINT, SIGTERM and SIGHUP meanwhile; one call at a
 * time.
 */
int nsc_record_attach(const struct nsc_record_options *options,
                      const struct nsc_attach_options *attach, struct nsc_record_result *result,
                      struct nsc_attach_result *attach_result, struct nsc_diag *diag);

#endif
