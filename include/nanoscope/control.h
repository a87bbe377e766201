/*
 * control.h - the contract between a program built for tracing and whoever starts a recording in it
 * while it runs: the control function, the note that tells where it is, and the messages of the
 * endpoint.
 *
 * Hermetic: includes <stdint.h> only. See docs/adr/010-reaching-a-running-program.md.
 */
#ifndef NANOSCOPE_CONTROL_H
#define NANOSCOPE_CONTROL_H

#include <stdint.h>

/*
 * ---- The control function --------------------------------------------------------------------
 *
 *   int64_t nsc_runtime_control(uint64_t verb, uint64_t argument)
 *
 * Returns a value >= 0 or a negative errno. May be called in any thread between any two
 * instructions; brings its own stack; changes no vector register, errno or signal state.
 * -EAGAIN: another call is under way.
 */
enum nsc_control_verb {
    /* What the runtime is: returns NSC_CONTROL_VERSION. */
    NSC_CONTROL_HELLO = 0,
    /* Makes an empty memory file; returns its descriptor, for the recorder to lay a session out in.
     */
    NSC_CONTROL_MEMORY = 1,
    /* @argument: descriptor of a memory file that holds a session (live.h). Maps it, closes the
     * descriptor, registers the process, publishes every module and makes its sleds ready, off.
     * -EBUSY: a session is open already. On failure the descriptor stays open. */
    NSC_CONTROL_JOIN = 2,
    /* Bring every sled in line with the verdicts in the shared memory (nsc_live_module.filter_*);
     * a module without a verdict is on. */
    NSC_CONTROL_APPLY = 3,
    /* All sleds off. */
    NSC_CONTROL_OFF = 4,
    /* Close descriptor @argument, made by NSC_CONTROL_MEMORY. */
    NSC_CONTROL_DROP = 5,
};

#define NSC_CONTROL_VERSION 1

/*
 * ELF note in the file that holds the runtime (libnanoscope.so, or a program linked with
 * libnanoscope.a): name "nanoscope", type 1; description: one int64_t, address of the control
 * function minus address of this very field.
 */
#define NSC_CONTROL_NOTE_NAME "nanoscope"
#define NSC_CONTROL_NOTE_TYPE 1

/*
 * ---- The endpoint ----------------------------------------------------------------------------
 *
 * SOCK_SEQPACKET socket <directory>/<pid>.sock of mode 0600. One request, of exactly this size,
 * gets one reply; NSC_CONTROL_JOIN has the memory file as SCM_RIGHTS beside it, and `argument`
 * means nothing. Clients other than the program's user and root are refused.
 */
#define NSC_CONTROL_DIRECTORY  "/tmp/nanoscope-" /* and the user's id; 0700 */
#define NSC_CONTROL_MAGIC      0x4c54434e        /* "NCTL" */
/* Environment: with this set to 1 a program opens its endpoint at start. */
#define NSC_CONTROL_LISTEN_ENV "NANOSCOPE_LISTEN"

/*
 * A program that is about to be started, waited for by name: the link <directory>/start/<name of
 * its file> leads to the session's memory. The runtime opens it once, and takes it only if it is
 * owned by the program's user or root.
 */
#define NSC_CONTROL_START "start"

struct nsc_control_request {
    uint32_t magic;
    uint32_t verb; /* enum nsc_control_verb */
    uint64_t argument;
};

struct nsc_control_reply {
    uint32_t magic;
    uint32_t reserved;
    int64_t result; /* of the control function */
};

#endif
