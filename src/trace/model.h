/*
 * model.h - what a trace holds: the structures that the writer takes and the reader gives.
 *
 * Used by every host room that touches traces. Data only; the file layout is docs/format.md.
 * All times in a trace are timer ticks; nsc_clock_ns() (clock.h) turns them into nanoseconds since
 * the trace's origin. Ids are dense, from 0, in the order in which the writer saw the things.
 */
#ifndef NSC_TRACE_MODEL_H
#define NSC_TRACE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_NO_ID UINT32_MAX

/* One reading of the clocks, taken at the same instant. Two or more make the calibration. */
struct nsc_clock_point {
    uint64_t ticks;
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
    uint64_t boottime_ns;  /* CLOCK_BOOTTIME, 0 if unknown */
    uint64_t realtime_ns;  /* CLOCK_REALTIME, ns since the epoch, 0 if unknown */
};

struct nsc_process {
    uint32_t pid;
    uint32_t parent; /* process id of the forking process in this table, or NSC_NO_ID */
    uint64_t start_ticks, end_ticks; /* end 0 while unknown */
    const char *name;                /* command name or executable path; never NULL */
    int32_t exit_status;             /* wait(2) status, or -1 if unknown */
    uint32_t problems;               /* NSC_LIVE_PROBLEM_*, see live.h */
};

/*
 * A thread in the sense of the trace: one stack that calls nest on. A thread that switches between
 * stacks (coroutines, signal stacks) has one entry for each, with the same tid and stack 0, 1, ...
 */
struct nsc_thread {
    uint32_t process; /* index in the process table */
    uint32_t tid;
    uint32_t stack;                  /* 0 = the thread's own stack */
    uint64_t start_ticks, end_ticks; /* first and last event, or lifetime where known */
    uint64_t recorded;               /* events in the file */
    uint64_t lost;                   /* events that could not be kept; counted on stack 0 */
    const char *name;                /* never NULL; may be empty */
};

struct nsc_module {
    const char *path; /* never NULL */
    uint8_t build_id[32];
    uint32_t build_id_bytes;
};

/* A load of a module into a process: run-time address range and when it was valid. */
struct nsc_mapping {
    uint32_t process, module;
    uint64_t bias;
    uint64_t start, end;               /* run-time addresses, half open */
    uint64_t load_ticks, unload_ticks; /* unload 0 = still loaded at the end */
};

struct nsc_function {
    const char *name;   /* demangled; "0x1234" in hex when there is no symbol; never NULL */
    const char *symbol; /* as linked (mangled), or the same as name */
    const char *file;   /* source file, or "" */
    uint32_t line;      /* 1-based, or 0 */
    uint32_t module;    /* index in the module table, or NSC_NO_ID (imported traces) */
    uint64_t va;        /* ELF virtual address of the entry, 0 if none */
};

/* Why a frame's time is not exact. */
#define NSC_BOUND_END   1u /* unwound (longjmp, throw) or still open: ended by the next event */
#define NSC_BOUND_START 2u /* entered before recording began or in a gap */

/* What people and programs are told of a set of bounds: "start", "end", "both"; NULL for none. */
static inline const char *nsc_bound_name(uint32_t bound)
{
    static const char *const names[] = {NULL, "end", "start", "both"};

    return names[bound & (NSC_BOUND_START | NSC_BOUND_END)];
}

enum nsc_event_kind {
    NSC_EVENT_ENTER = 0,     /* function is called */
    NSC_EVENT_EXIT = 1,      /* the innermost open call returns */
    NSC_EVENT_UNWIND = 2,    /* the innermost open call ended without returning (NSC_BOUND_END) */
    NSC_EVENT_LATE_EXIT = 3, /* a call that was entered before recording (or in a gap) returns; it
                                was open, below all others, since the thread's start or the gap */
    NSC_EVENT_LOST = 4,      /* a gap: `value` events were lost just here, 0 if unknown */
};

/* A decoded event: batches of them are the unit of reading. */
struct nsc_event {
    uint64_t ticks;
    uint64_t value;    /* LOST: number of events; ENTER: NSC_BOUND_* known so far; else 0 */
    uint32_t function; /* of ENTER, EXIT, UNWIND, LATE_EXIT; else NSC_NO_ID */
    uint32_t depth;    /* number of open calls below this one */
    uint32_t kind;     /* enum nsc_event_kind */
};

/* An open call at some point of a thread. */
struct nsc_frame {
    uint64_t start_ticks;
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_* known so far */
};

#endif
