/*
 * model.h - the data model of a trace: structures that the writer takes and the reader returns.
 *
 * Used by every host room that handles traces. Data only; the file layout is in docs/format.md.
 * All times in a trace are timer ticks; nsc_clock_ns() (clock.h) converts them to nanoseconds since
 * the trace's origin. Ids are dense, from 0, in the order in which entries were added to the
 * writer.
 */
#ifndef NSC_TRACE_FORMAT_MODEL_H
#define NSC_TRACE_FORMAT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_NO_ID UINT32_MAX

/* The clocks' values at one instant. The calibration needs two or more such points. */
struct nsc_clock_point {
    uint64_t ticks;
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
    uint64_t boottime_ns;  /* CLOCK_BOOTTIME, 0 if unknown */
    uint64_t realtime_ns;  /* CLOCK_REALTIME, ns since the epoch, 0 if unknown */
};

struct nsc_process {
    uint32_t pid;
    uint32_t parent; /* process id of the forking process in this table, or NSC_NO_ID */
    uint64_t start_ticks, end_ticks; /* end 0: unknown */
    const char *name;                /* command name or executable path; never NULL */
    int32_t exit_status;             /* wait(2) status, or -1 if unknown */
    uint32_t problems;               /* NSC_LIVE_PROBLEM_*, see live.h */
};

/*
 * A thread of the trace is one call stack. A thread that switches between stacks (coroutines,
 * signal stacks) has one entry per stack, with the same tid and stack 0, 1, ...
 */
struct nsc_thread {
    uint32_t process; /* index in the process table */
    uint32_t tid;
    uint32_t stack;                  /* 0 = the thread's own stack */
    uint64_t start_ticks, end_ticks; /* first and last event, or lifetime where known */
    uint64_t recorded;               /* events in the file */
    uint64_t lost;                   /* lost events; counted on stack 0 */
    const char *name;                /* never NULL; may be empty */
};

struct nsc_module {
    const char *path; /* never NULL */
    uint8_t build_id[32];
    uint32_t build_id_bytes;
};

/* A mapping of a module into a process: run-time address range and time of validity. */
struct nsc_mapping {
    uint32_t process, module;
    uint64_t bias;
    uint64_t start, end;               /* run-time addresses, half open */
    uint64_t load_ticks, unload_ticks; /* unload 0 = still mapped at the end of the recording */
};

struct nsc_function {
    const char *name;   /* demangled; "0x1234" in hex when there is no symbol; never NULL */
    const char *symbol; /* the (mangled) linker symbol, or the same as name */
    const char *file;   /* source file, or "" */
    uint32_t line;      /* 1-based, or 0 */
    uint32_t module;    /* index in the module table, or NSC_NO_ID (imported traces) */
    uint64_t va;        /* ELF virtual address of the entry, 0 if none */
};

/* Bounds: which of a call's two times are not exact, and why. */
#define NSC_BOUND_END                                                                              \
    1u /* unwound (longjmp, throw), still open or exit not timed: ends at the next event */
#define NSC_BOUND_START 2u /* entered before recording began or in a gap */

/* Name of a set of bounds for output: "start", "end", "both"; NULL for none. */
static inline const char *nsc_model_bound_name(uint32_t bound)
{
    static const char *const names[] = {NULL, "end", "start", "both"};

    return names[bound & (NSC_BOUND_START | NSC_BOUND_END)];
}

enum nsc_event_kind {
    NSC_EVENT_ENTER = 0,     /* a function is called */
    NSC_EVENT_EXIT = 1,      /* the innermost open call returns */
    NSC_EVENT_UNWIND = 2,    /* the innermost open call ended without returning (NSC_BOUND_END) */
    NSC_EVENT_LATE_EXIT = 3, /* a call that was entered before recording (or in a gap) returns; it
                                was open, below all others, since the thread's start or the gap */
    NSC_EVENT_LOST = 4,      /* a gap: `value` events were lost here, 0 if unknown */
};

/* Flag in the value of a gap: its events were rejected by the budget, not lost. */
#define NSC_GAP_LEFT_OUT (1ull << 62)

/* Number of events that a gap of that value lost, and number that the budget rejected in it. */
static inline uint64_t nsc_model_gap_lost(uint64_t value)
{
    return (value & NSC_GAP_LEFT_OUT) != 0 ? 0 : value;
}

static inline uint64_t nsc_model_gap_left_out(uint64_t value)
{
    return (value & NSC_GAP_LEFT_OUT) != 0 ? value & ~NSC_GAP_LEFT_OUT : 0;
}

/* A decoded event. The reader returns events in batches. */
struct nsc_event {
    uint64_t ticks;
    uint64_t value;    /* LOST: number of events, perhaps with NSC_GAP_LEFT_OUT; ENTER: NSC_BOUND_*
                          known so far; EXIT, LATE_EXIT: NSC_BOUND_END if the exit was not timed;
                          else 0 */
    uint32_t function; /* of ENTER, EXIT, UNWIND, LATE_EXIT; else NSC_NO_ID */
    uint32_t depth;    /* number of open calls below this one */
    uint32_t kind;     /* enum nsc_event_kind */
};

/* NSC_BOUND_END if the end of the call that @e (EXIT, UNWIND, LATE_EXIT) ends is not exact, else 0.
 */
static inline uint32_t nsc_model_end_bound(const struct nsc_event *e)
{
    return ((uint32_t)e->value & NSC_BOUND_END) | (e->kind == NSC_EVENT_UNWIND ? NSC_BOUND_END : 0);
}

/* An open call at some point of a thread. */
struct nsc_frame {
    uint64_t start_ticks;
    uint32_t function;
    uint32_t bound; /* NSC_BOUND_* known so far */
};

/* Number of calls in a duration bucket (duration_bucket.h). */
struct nsc_duration_count {
    uint64_t calls;
    uint32_t bucket;
};

/* Sums over one function's calls that ended in a chunk. The function id is as stored: aliases are
 * not resolved. */
struct nsc_chunk_total {
    uint64_t calls;
    uint64_t total_ticks; /* inclusive time; of recursive calls only the outermost counts */
    uint64_t self_ticks;
    uint64_t max_ticks;
    uint32_t function;
    /* Valid if the head has durations: */
    uint32_t count_count;
    const struct nsc_duration_count *counts; /* histogram of all calls, longest first */
    uint64_t min_ticks;
    uint64_t unwinds; /* calls whose end is a bound */
};

/* Summary row of a chunk: the longest call of one depth and one time span of 2^shift ticks, of
 * the calls that began in the span and ended in the chunk. Depths >= 512 have no rows. */
struct nsc_chunk_row {
    uint64_t end_ticks;
    uint64_t duration_ticks;
    uint32_t function;
    uint32_t depth;
};

/*
 * Notes: data of a thread or process other than calls. Notes of one kind and owner are in time
 * order. A thread's notes belong to its stack 0.
 */
enum nsc_note_kind {
    NSC_NOTE_SAMPLE = 0,
    NSC_NOTE_STATE = 1,
    NSC_NOTE_MARK = 2,
    NSC_NOTE_COUNTER = 3,
    NSC_NOTE_KINDS,
};

/* Fields of a sample. All values are cumulative since the start of the thread or process, except
 * PROCESS_BYTES and PROCESS_OBJECTS. */
enum nsc_sample_field {
    NSC_SAMPLE_CPU_NS = 0, /* CPU time of the thread */
    NSC_SAMPLE_MAJOR_FAULTS = 1,
    NSC_SAMPLE_MINOR_FAULTS = 2,
    NSC_SAMPLE_SWITCHES = 3,        /* context switches, voluntary and involuntary */
    NSC_SAMPLE_PREEMPTIONS = 4,     /* involuntary context switches */
    NSC_SAMPLE_PROCESS_BYTES = 5,   /* memory of the whole process; may shrink */
    NSC_SAMPLE_PROCESS_OBJECTS = 6, /* heap blocks that the process has not freed yet */
    NSC_SAMPLE_ALLOCATED_BYTES = 7, /* allocated by the thread in total */
    NSC_SAMPLE_FREED_BYTES = 8,     /* freed by the thread in total */
    NSC_SAMPLE_FIELDS,
};

struct nsc_sample {
    uint32_t known; /* fields that have a value: bits 1 << enum nsc_sample_field; others are 0 */
    uint64_t values[NSC_SAMPLE_FIELDS];
};

/* Scheduling state of a thread. The numbers are those of the .nst file and of `.state` files. */
enum nsc_thread_state {
    NSC_STATE_UNKNOWN = 0,
    NSC_STATE_RUNNING = 1,      /* on a CPU */
    NSC_STATE_RUNNABLE = 2,     /* waits for a CPU */
    NSC_STATE_SLEEPING = 3,     /* waits, neither for I/O nor for a lock */
    NSC_STATE_BLOCKED_IO = 4,   /* waits for a disk, a pipe, a socket, in poll */
    NSC_STATE_BLOCKED_LOCK = 5, /* waits for another thread: a lock, a condition variable (futex) */
    NSC_STATE_STOPPED = 6,      /* by a signal or a debugger */
    NSC_STATE_DEAD = 7,
    NSC_STATES,
    NSC_STATE_ART_FIRST = 66, /* imported traces: thread states of the Android runtime (ART) */
    NSC_STATE_ART_LAST = 90,
};

struct nsc_state_change {
    uint32_t old_state, new_state; /* enum nsc_thread_state */
};

struct nsc_mark {
    const char *name;     /* never NULL */
    const char *metadata; /* free text; never NULL, may be empty */
    bool cut;             /* the text was truncated */
};

struct nsc_counter {
    const char *name; /* never NULL */
    bool is_real;     /* the value is @real, else @integer */
    int64_t integer;
    double real;
};

/* Display name of a sample field: "CPU time", "major faults", ... */
const char *nsc_model_sample_field_name(enum nsc_sample_field field);
/* Display name of a state: "running", "blocked on I/O", or ART's own name. NULL if unknown. */
const char *nsc_model_state_name(uint32_t state);
/* Find a field or state by its display name; a state also by its number. Returns false if there is
 * none. */
bool nsc_model_sample_field_find(const char *name, enum nsc_sample_field *field);
bool nsc_model_state_find(const char *name, uint32_t *state);

#define NSC_NOTE_TEXT_MAX 65535 /* bytes of a name or of metadata; longer text is truncated */

struct nsc_note {
    uint64_t ticks;
    uint32_t kind;   /* enum nsc_note_kind */
    uint32_t owner;  /* index in the thread table, or in the process table if of_process */
    bool of_process; /* the owner is a process; only counters may have one */
    union {
        struct nsc_sample sample;
        struct nsc_state_change state;
        struct nsc_mark mark;
        struct nsc_counter counter;
    };
};

/* ---- Calls that were not recorded on purpose ("left out") ---- */

enum nsc_left_out_reason {
    NSC_LEFT_OUT_OTHER = 0,   /* exits of calls that began before their function was enabled */
    NSC_LEFT_OUT_FILTER = 1,  /* excluded by the user's filter */
    NSC_LEFT_OUT_BUDGET = 2,  /* recording would have exceeded the overhead budget */
    NSC_LEFT_OUT_TRIGGER = 3, /* recording waited for a trigger */
    NSC_LEFT_OUT_SHORT = 4,   /* calls shorter than a minimum duration */
    NSC_LEFT_OUT_DEPTH = 5,   /* calls deeper than a maximum depth */
    NSC_LEFT_OUT_UNDER = 6,   /* not called, directly or indirectly, by a selected function */
    NSC_LEFT_OUT_THREAD = 7,  /* calls of threads that were not selected */
    NSC_LEFT_OUT_REASONS,
};

/* Name of a reason: "filter", "budget", ...; "other" for reasons of later versions. */
const char *nsc_model_left_out_reason_name(uint32_t reason);

#define NSC_LEFT_OUT_CALLS 1u
#define NSC_LEFT_OUT_TOTAL 2u
#define NSC_LEFT_OUT_SELF  4u

/* A quantity with its standard error; error 0: the value is an exact count. */
struct nsc_estimate {
    uint64_t value;
    uint64_t error;
};

/*
 * A period in which a function was not recorded. To estimate its calls, the recorder may have
 * recorded it in short windows of the period. The calls of these windows are in the trace like all
 * others; the estimates cover only the calls that are not in the trace.
 */
struct nsc_left_out {
    uint32_t function; /* NSC_NO_ID: all functions */
    uint32_t process;  /* NSC_NO_ID: all processes */
    uint32_t reason;   /* enum nsc_left_out_reason */
    uint32_t known;    /* estimates that are present: NSC_LEFT_OUT_* */
    uint64_t from_ticks;
    uint64_t to_ticks;               /* 0: to the end of the recording */
    uint64_t windows, window_ticks;  /* number of windows and their total length */
    struct nsc_estimate calls;       /* calls that began */
    struct nsc_estimate total_ticks; /* inclusive time; of recursive calls only the outermost */
    struct nsc_estimate self_ticks;  /* time without callees, recorded or not */
};

/* ---- Meta keys that this version interprets (docs/format.md section 6) ---- */

#define NSC_META_FREQUENCY        "ticks_per_second" /* nominal timer frequency */
#define NSC_META_PROGRAM_EVENTS   "program_events"   /* events that the program emitted itself */
#define NSC_META_RECOVERED        "recovered"        /* what a recovered file lacks */
#define NSC_META_WINDOW           "window" /* the trace is an excerpt: from and to, in ticks */
#define NSC_META_EARLIER          "earlier_calls" /* chunks with ENTERs whose start is a bound: */
#define NSC_EARLIER_FIRST         "first chunks"  /* of threads */
#define NSC_EARLIER_ANYWHERE      "anywhere"
#define NSC_META_LEFT_OUT         "left_out_events"    /* events that were excluded on purpose */
#define NSC_META_LEFT_OUT_BY      "left_out_%s_events" /* the same by reason */
#define NSC_META_FILTER           "filter"             /* filter options at the start */
#define NSC_META_FILTER_LATER     "filter.%u" /* 2, 3...: ticks of the change, space, options */
#define NSC_META_TIMING           "timing"    /* NSC_TIMING_* or absent */
#define NSC_TIMING_ENTRY          "entry"     /* only entries read the timer: see docs/format.md */
#define NSC_TIMING_FULL           "full" /* entries and exits do, although less was requested */
#define NSC_META_TIMED_FULL       "timing.full" /* exceptions: module ids, separated by blanks */
/* Cost of a recorded call in ticks: all of it, and the part between its two timer reads. */
#define NSC_META_HOOK_TICKS       "hook_ticks"
#define NSC_META_HOOK_INNER_TICKS "hook_inner_ticks"
#define NSC_META_METRICS          "metrics"             /* source of the samples */
#define NSC_META_METRICS_INTERVAL "metrics_interval_ns" /* between two samples of a thread */
#define NSC_META_SAMPLES_DUE      "samples_due"         /* expected number of samples */
#define NSC_META_SAMPLES_TAKEN    "samples_taken"       /* actual number of samples */
#define NSC_META_BUDGET           "budget"              /* share of the program's time, e.g. 0.1 */
#define NSC_META_OVERHEAD         "overhead"            /* measured share that recording took */
#define NSC_META_WITHIN           "within_budget_ns" /* program time from which the budget held */

#endif
