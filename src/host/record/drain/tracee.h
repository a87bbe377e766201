/*
 * tracee.h - the recorder's state of the traced processes and threads of a session.
 *
 * Adopts the entries of the tables in the shared memory, detects ended processes and threads, and
 * frees their slots. Everything read from the shared memory is untrusted. Called by drain.c.
 */
#ifndef NSC_RECORD_DRAIN_TRACEE_H
#define NSC_RECORD_DRAIN_TRACEE_H

#include <sys/types.h>

#include "metrics/metrics.h"
#include "process/call_limit.h"
#include "record/modules/address_space.h"
#include "record/modules/admission.h"
#include "record/modules/sled_switch.h"
#include "record/session/session.h"
#include "record/stack/disabled_calls.h"
#include "record/stack/stack.h"

struct nsc_tracees;

struct nsc_tracee_process {
    struct nsc_tracees *all;
    uint32_t slot;
    uint32_t id; /* in the trace; NSC_NO_ID when the process is left out */
    pid_t pid;
    int pidfd;
    bool left_out; /* a child process, which the user excludes */
    bool is_other; /* exceeds the limits: shares one entry in the trace */
    bool dead;
    uint32_t threads; /* adopted and not yet finished */
    struct nsc_process entry;
    char name[256];
    struct nsc_space space;
    struct nsc_process_sleds onoff;
    struct nsc_admission_verdict verdict; /* for its threads and modules */
};

struct nsc_tracee_thread {
    struct nsc_tracee_process *process;
    uint32_t slot;
    pid_t tid;
    bool dead;
    uint32_t checks;                /* number of checks that found it alive */
    uint32_t next_seq;              /* of the chunk to read next */
    uint32_t stalls;                /* passes in which that chunk was not found */
    uint32_t resume_seq, resume_at; /* a partly read chunk, and its next slot; seq 0: none */
    uint32_t held;                  /* passes spent waiting for an incomplete slot */
    uint64_t pass;                  /* last pass that found a chunk of this thread */
    uint64_t start_ticks;
    /* Events without room: up to the last pass; those caused by the quota, not by the pool; and
     * those of them that were reported. */
    uint64_t lost_seen, turned_away, turned_told;
    struct nsc_live_overwritten overwritten; /* as reported */
    char name[17];
    struct nsc_stacks stacks;
    uint32_t *ids; /* thread id in the trace, by stack */
    uint32_t id_count;
    struct nsc_lane *spare; /* of stack 0, if added to the trace before any event */
    struct nsc_metrics_thread *metrics;
};

struct nsc_tracee_stats {
    uint64_t recorded, lost; /* events of finished threads and processes */
    uint64_t lost_unattributed;
    uint64_t left_out[NSC_LEFT_OUT_REASONS];
    uint64_t clamped, unmatched, holes;
    uint32_t threads, processes; /* with an entry in the trace */
    uint32_t calling;            /* finished threads with calls in the trace */
    uint32_t problems;           /* NSC_LIVE_PROBLEM_* of any process */
    bool mistrusted;             /* hooks left unchanged: a process or module failed its check */
};

/* A module slot that has been read. */
struct nsc_tracee_module {
    struct nsc_tracee_process *process; /* NULL: not read */
    uint32_t mapping;
    bool unloaded;
};

struct nsc_tracees {
    struct nsc_record_session *session;
    struct nsc_admission admission; /* which processes may be modified or measured */
    struct nsc_writer *writer;
    struct nsc_modules modules;
    struct nsc_metrics *metrics; /* samples the threads; NULL: no sampling */
    pid_t main_pid;
    const char *main_path; /* the executed file; borrowed */
    bool no_children;
    bool dead;                          /* no process lives: process ids must not be looked up */
    bool keep;                          /* calls are kept from a thread's start (false: ring) */
    bool attached;                      /* to a running program */
    struct nsc_call_limit *calls;       /* of control functions; begun at each command */
    bool switched;                      /* sleds are switched while programs run */
    struct nsc_disabled_functions offs; /* disabled functions */
    uint64_t on_ticks;                  /* time of the last enabling; 0: never */
    uint64_t end_ticks; /* of nsc_switch_notice_end_recording(); 0: the recording continues */
    struct nsc_tracee_process **processes; /* by slot */
    struct nsc_tracee_thread **threads;    /* by slot */
    struct nsc_tracee_module *module_slots;
    uint32_t process_high, thread_high, module_high; /* all slots in use are below */
    uint32_t live_processes, live_threads;
    uint32_t names_left;    /* thread names that may still be read in this pass */
    uint32_t other_process; /* id of the entry for all processes beyond the limits */
    bool has_other;
    struct nsc_tracee_stats stats;
};

int nsc_tracees_init(struct nsc_tracees *all, struct nsc_record_session *session,
                     struct nsc_writer *writer, const struct nsc_filter *filter);
void nsc_tracees_free(struct nsc_tracees *all);

/* Scan the tables for new and changed entries. @whole: all of the tables; otherwise only where
 * entries are expected. */
void nsc_tracees_scan(struct nsc_tracees *all, bool whole);
/* Also adopt threads without a chunk, as their losses count. */
void nsc_tracees_scan_threads(struct nsc_tracees *all);

/* Get the thread of a slot; adopts it if necessary. NULL if there is none (the slot is invalid, or
 * out of memory). */
struct nsc_tracee_thread *nsc_tracees_thread(struct nsc_tracees *all, uint32_t slot);

/* Get the thread's id in the trace, which is that of its stack 0 and of its notes. Adds it to the
 * trace if it has no event yet. NSC_NO_ID: its process is left out, or out of memory. */
uint32_t nsc_tracee_thread_id(struct nsc_tracee_thread *thread);
/* Return true if the thread may be measured from outside: its process lives and is admitted. */
bool nsc_tracee_is_measurable(const struct nsc_tracee_thread *thread);

/* Check which processes have ended. */
void nsc_tracees_check_processes(struct nsc_tracees *all);
/* Check whether a thread has ended; sets thread->dead. */
void nsc_tracee_check(struct nsc_tracee_thread *thread);
/* Return how many of the @lost events without room were caused by the quota. Those come first. */
uint64_t nsc_tracee_turned_away(struct nsc_tracee_thread *thread, uint64_t lost);
/* Return the number of events that were overwritten, or lost just before those, since the last
 * call.
 * @chunks: receives the number of chunks that contained them. */
uint64_t nsc_tracee_overwritten(struct nsc_tracee_thread *thread, uint64_t *chunks);
/* Finish a thread without remaining chunks: close its lanes, count its losses, free its slot. */
void nsc_tracee_finish(struct nsc_tracee_thread *thread, bool free_slot);
/* Free the slots of ended processes whose threads are all finished. */
void nsc_tracees_reap(struct nsc_tracees *all);
/**
 * nsc_tracees_set_filter - apply another filter to events from @ticks on, whenever they are read.
 * @filter: ownership of its contents passes to @all.
 *
 * Does not switch sleds. Calls open at @ticks that are in the trace get their end; open calls that
 * are not in the trace do not appear.
 * Returns 0 or -ENOMEM, without any change.
 */
int nsc_tracees_set_filter(struct nsc_tracees *all, const struct nsc_filter *filter,
                           uint64_t ticks);
/* Return true if any loaded module has hooks other than sleds. */
bool nsc_tracees_have_header(const struct nsc_tracees *all);
/* Store the exit status of the program itself. */
void nsc_tracees_main_ended(struct nsc_tracees *all, int status);
/* Return true if the program itself was the only process of the session. */
bool nsc_tracees_main_only(const struct nsc_tracees *all);
/* Complete all process entries at the end of the recording. */
void nsc_tracees_complete(struct nsc_tracees *all);

#endif
