/*
 * tracee.h - the traced processes and threads of a session, as the recorder knows them.
 *
 * Adopts what appears in the tables of the shared memory, finds out who has ended, and gives slots
 * back. Everything read from the shared memory is hostile. Called by drain.c.
 */
#ifndef NSC_RECORD_DRAIN_TRACEE_H
#define NSC_RECORD_DRAIN_TRACEE_H

#include <sys/types.h>

#include "metrics/metrics.h"
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
    bool left_out; /* a child, and the user wants none */
    bool is_other; /* beyond the limits: it shares its entry in the trace */
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
    uint32_t checks;                /* how often it was found alive */
    uint32_t next_seq;              /* of the chunk to read next */
    uint32_t stalls;                /* passes in which that chunk was not to be seen */
    uint32_t resume_seq, resume_at; /* a chunk read in part, and its next slot; seq 0 = none */
    uint32_t held;                  /* passes that it has waited for an open slot */
    uint64_t pass;                  /* last pass that saw a chunk of this thread */
    uint64_t start_ticks;
    /* Events that it had no room for: by the last pass; those that a ration turned away, not the
     * pool; and those of them that have been told. */
    uint64_t lost_seen, turned_away, turned_told;
    struct nsc_live_overwritten overwritten; /* that has been told */
    char name[17];
    struct nsc_stacks stacks;
    uint32_t *ids; /* thread id in the trace, by stack */
    uint32_t id_count;
    struct nsc_lane *spare; /* of stack 0, in the trace before it has any event */
    struct nsc_metrics_thread *metrics;
};

struct nsc_tracee_stats {
    uint64_t recorded, lost; /* events of threads and processes that are finished */
    uint64_t lost_unattributed;
    uint64_t left_out[NSC_LEFT_OUT_REASONS];
    uint64_t clamped, unmatched, holes;
    uint32_t threads, processes; /* that have an entry in the trace */
    uint32_t calling;            /* threads that are finished and have calls there */
    uint32_t problems;           /* NSC_LIVE_PROBLEM_* of any process */
    bool mistrusted; /* hooks stayed as they were: a process or module was not what it said */
};

/* A module slot that has been read. */
struct nsc_tracee_module {
    struct nsc_tracee_process *process; /* NULL: not read */
    uint32_t mapping;
    bool unloaded;
};

struct nsc_tracees {
    struct nsc_record_session *session;
    struct nsc_admission admission; /* which processes may be touched */
    struct nsc_writer *writer;
    struct nsc_modules modules;
    struct nsc_metrics *metrics; /* whoever samples the threads; NULL: nobody does */
    pid_t main_pid;
    const char *main_path; /* the file that was started; the caller's */
    bool no_children;
    bool dead;                          /* nobody lives: process ids are not to be asked about */
    bool keep;                          /* threads begin with calls kept (false: ring) */
    bool attached;                      /* to a program that ran before */
    bool switched;                      /* sleds are switched while programs run */
    struct nsc_disabled_functions offs; /* functions that were switched off */
    uint64_t on_ticks;                  /* when the last switching on was done; 0: never was */
    uint64_t end_ticks; /* nsc_switch_notice_end_recording(); 0: the recording goes on */
    struct nsc_tracee_process **processes; /* by slot */
    struct nsc_tracee_thread **threads;    /* by slot */
    struct nsc_tracee_module *module_slots;
    uint32_t process_high, thread_high, module_high; /* slots in use lie below */
    uint32_t live_processes, live_threads;
    uint32_t names_left;    /* thread names that may be asked for in this pass */
    uint32_t other_process; /* in the trace: what stands for all that are beyond the limits */
    bool has_other;
    struct nsc_tracee_stats stats;
};

int nsc_tracees_init(struct nsc_tracees *all, struct nsc_record_session *session,
                     struct nsc_writer *writer, const struct nsc_filter *filter);
void nsc_tracees_free(struct nsc_tracees *all);

/* Look through the tables for what is new or has changed. @whole: through all of the tables, else
 * where something is expected. */
void nsc_tracees_scan(struct nsc_tracees *all, bool whole);
/* Adopt threads that have no chunk either (their losses count). */
void nsc_tracees_scan_threads(struct nsc_tracees *all);

/* The thread of a slot, adopted if need be; NULL if there is none (a lie, or no memory). */
struct nsc_tracee_thread *nsc_tracees_thread(struct nsc_tracees *all, uint32_t slot);

/* The thread's id in the trace, that of its stack 0, to which its notes belong; the table gets it
 * if it has no event yet. NSC_NO_ID: its process is left out, or there is no memory. */
uint32_t nsc_tracee_thread_id(struct nsc_tracee_thread *thread);
/* May the thread be measured from outside? It may if its process lives and is admitted. */
bool nsc_tracee_is_measurable(const struct nsc_tracee_thread *thread);

/* Find out which processes have ended. */
void nsc_tracees_check_processes(struct nsc_tracees *all);
/* Find out whether a thread has; sets thread->dead. */
void nsc_tracee_check(struct nsc_tracee_thread *thread);
/* Of @lost events that the thread had no room for, how many did a ration turn away? Those come
 * first. */
uint64_t nsc_tracee_turned_away(struct nsc_tracee_thread *thread, uint64_t lost);
/* Events of the thread that were overwritten, or lost just before those, and have not been told
 * yet; now they have. @chunks: receives how many chunks they were in. */
uint64_t nsc_tracee_overwritten(struct nsc_tracee_thread *thread, uint64_t *chunks);
/* The thread has no chunk left: close its streams, count its losses, free its slot. */
void nsc_tracee_finish(struct nsc_tracee_thread *thread, bool free_slot);
/* Free the slots of processes that are dead and have no thread left. */
void nsc_tracees_reap(struct nsc_tracees *all);
/**
 * nsc_tracees_set_filter - another filter, for events from @ticks on, whenever they are read.
 * @filter: its contents are taken over.
 *
 * Sleds are not touched. Calls that are open then and in the trace get their end; open calls that
 * are not in the trace do not appear.
 * Returns 0 or -ENOMEM, which leaves all as it was.
 */
int nsc_tracees_set_filter(struct nsc_tracees *all, const struct nsc_filter *filter,
                           uint64_t ticks);
/* Does any module that is loaded have hooks other than sleds? */
bool nsc_tracees_have_header(const struct nsc_tracees *all);
/* What the program itself ended with. */
void nsc_tracees_main_ended(struct nsc_tracees *all, int status);
/* Was the program itself the only process to take part? */
bool nsc_tracees_main_only(const struct nsc_tracees *all);
/* The end: complete all process entries. */
void nsc_tracees_complete(struct nsc_tracees *all);

#endif
