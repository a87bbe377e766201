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
 * instructions; brings its own stack; changes no vector register, errno or signal state (signals
 * are blocked while it runs). -EAGAIN: another call is under way.
 *
 * A tracer sets pc and the two argument registers. The return address is looked for where a call
 * leaves it (at the stack pointer; x30 on AArch64) by the last instruction only; nothing is written
 * to the caller's stack.
 */
enum nsc_control_verb {
    /* What the runtime is: returns NSC_CONTROL_VERSION. */
    NSC_CONTROL_HELLO = 0,
    /* Makes an empty memory file; returns its descriptor, for the recorder to lay a session out in.
     */
    NSC_CONTROL_MEMORY = 1,
    /* @argument: descriptor of a memory file that holds a session (live.h). Maps it, closes the
     * descriptor, registers the process, publishes every module and makes its sleds ready, off;
     * inlined hooks are on (nsc_live_process.hooks_off_at). The first time in a process's life this
     * takes 10 to 20 ms, which the kernel's membarrier() needs to get ready.
     * -EBUSY: a session is open already: its recorder has not closed it, and exists, or its
     * heartbeat moves. -EINVAL: no session, one of another version, or a closed one. -ENOSPC: no
     * process slot. On failure the descriptor stays open. */
    NSC_CONTROL_JOIN = 2,
    /* Bring every sled in line with the verdicts in the shared memory (nsc_live_module.filter_*);
     * a module without a verdict is on. -ENOTCONN: no session is open. */
    NSC_CONTROL_APPLY = 3,
    /* All sleds and inlined hooks off, also those of modules that are loaded later. */
    NSC_CONTROL_OFF = 4,
    /* Close descriptor @argument, made last by NSC_CONTROL_MEMORY; -EBADF: another one. */
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
 * means nothing; NSC_CONTROL_MEMORY and _DROP are refused with -EINVAL. Anything else than such a
 * request closes the connection without a reply, so does a second's silence. Clients other than the
 * program's user and root are refused.
 *
 * The user is the effective one of the program's start. Forked children have no endpoint; a static
 * program has one if it contains pthread_create().
 */
#define NSC_CONTROL_DIRECTORY  "/tmp/nanoscope-" /* and the user's id; 0700 */
/*
 * Another user may hold that name. The directory is then the first of these that belongs to the
 * user, is no link and closed to others, and is made there: <NSC_CONTROL_DIRECTORY><uid>,
 * <NSC_CONTROL_RUN><uid>/nanoscope, <NSC_CONTROL_DIRECTORY><uid>-1, -2, ... Whoever looks for
 * something looks at each such directory. (What lies below /run/user goes when the user logs out,
 * so that it is not the first.) For root, NSC_CONTROL_RUN_ROOT replaces the second: only root can
 * make it, and it needs no login session.
 */
#define NSC_CONTROL_RUN        "/run/user/"
#define NSC_CONTROL_RUN_ROOT   "/run/nanoscope"
#define NSC_CONTROL_FOLDERS    10
#define NSC_CONTROL_MAGIC      0x4c54434e /* "NCTL" */
/* Environment: with this set to 1 a program opens its endpoint at start. */
#define NSC_CONTROL_LISTEN_ENV "NANOSCOPE_LISTEN"

/*
 * A program that is about to be started, waited for by name: the target of the link
 * <directory>/start/<name of its file> is "/proc/<pid>/fd/<number>:<inode number>" of the session's
 * memory. The runtime opens it once, and takes it only if it is owned by the program's user or root
 * and has that inode number: a recorder that was killed leaves the link, and its pid to others.
 */
#define NSC_CONTROL_START "start"

/*
 * The recorder of a program listens at <directory>/<pid>.rec, where <pid> is the program's
 * (record/control/command_server.h). A program that started its own recording ends it with the
 * request NSC_COMMAND_STOP and, in the same packet, a new name of the trace, without NUL; without a
 * name, the trace keeps the one it has. The kernel says which user sent it: a child that has given
 * up its user shares the session's memory, and must not name a file that the recorder writes.
 */
#define NSC_COMMAND_MAGIC    0x31434552u /* "REC1" */
#define NSC_COMMAND_STOP     2u
#define NSC_COMMAND_NAME_MAX 1024u /* bytes of a name, with a NUL */

struct nsc_command_request {
    uint32_t magic;
    uint32_t verb;
    uint32_t text_bytes; /* bytes that follow in the same packet */
    uint32_t reserved;
};

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
