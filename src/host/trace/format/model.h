/*
 * model.h - what a trace holds: the structures that the writer takes and the reader gives.
 *
 * Used by every host room that touches traces. Data only; the file layout is docs/format.md.
 * All times in a trace are timer ticks; nsc_clock_ns() (clock.h) turns them into nanoseconds since
 * the trace's origin. Ids are dense, from 0, in the order in which the writer saw the things.
 */
#ifndef NSC_TRACE_FORMAT_MODEL_H
#define NSC_TRACE_FORMAT_MODEL_H

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
#define NSC_BOUND_END                                                                              \
    1u /* unwound (longjmp, throw), still open or untimed: ended by the next event */
#define NSC_BOUND_START 2u /* entered before recording began or in a gap */

/* What people and programs are told of a set of bounds: "start", "end", "both"; NULL for none. */
static inline const char *nsc_model_bound_name(uint32_t bound)
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

/* Set in the value of a gap whose events were not lost: the budget turned them away. */
#define NSC_GAP_LEFT_OUT (1ull << 62)

/* How many events were lost, and how many turned away, in a gap of that value. */
static inline uint64_t nsc_model_gap_lost(uint64_t value)
{
    return (value & NSC_GAP_LEFT_OUT) != 0 ? 0 : value;
}

static inline uint64_t nsc_model_gap_left_out(uint64_t value)
{
    return (value & NSC_GAP_LEFT_OUT) != 0 ? value & ~NSC_GAP_LEFT_OUT : 0;
}

/* A decoded event: batches of them are the unit of reading. */
struct nsc_event {
    uint64_t ticks;
    uint64_t value; /* LOST: number of events, perhaps NSC_GAP_LEFT_OUT; ENTER: NSC_BOUND_* known so
                       far; EXIT, LATE_EXIT: NSC_BOUND_END where nobody read the timer; else 0 */
    uint32_t function; /* of ENTER, EXIT, UNWIND, LATE_EXIT; else NSC_NO_ID */
    uint32_t depth;    /* number of open calls below this one */
    uint32_t kind;     /* enum nsc_event_kind */
};

/* What is not known of the end of a call that @e (EXIT, UNWIND, LATE_EXIT) ends: NSC_BOUND_END, 0.
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

/* So many calls took as long as a bucket says (duration_bucket.h). */
struct nsc_duration_count {
    uint64_t calls;
    uint32_t bucket;
};

/* Calls of one function that ended in a chunk. The id is as stored: the reader resolves aliases. */
struct nsc_chunk_total {
    uint64_t calls;
    uint64_t total_ticks; /* of calls with no open one of the same function below */
    uint64_t self_ticks;
    uint64_t max_ticks;
    uint32_t function;
    /* If the head has durations: */
    uint32_t count_count;
    const struct nsc_duration_count *counts; /* all calls, longest first */
    uint64_t min_ticks;
    uint64_t unwinds; /* calls whose end is a bound */
};

/* The longest call that ended in a chunk, of those of one depth that began in one span of
 * 2^shift ticks. Calls at depths >= 512 have no rows. */
struct nsc_chunk_row {
    uint64_t end_ticks;
    uint64_t duration_ticks;
    uint32_t function;
    uint32_t depth;
};

/*
 * Notes: what is known of a thread, or of a process, beside its calls. Those of one kind and owner
 * are in order of time. A thread's notes are with its stack 0.
 */
enum nsc_note_kind {
    NSC_NOTE_SAMPLE = 0,
    NSC_NOTE_STATE = 1,
    NSC_NOTE_MARK = 2,
    NSC_NOTE_COUNTER = 3,
    NSC_NOTE_KINDS,
};

/* What a sample may know. All values are sums since the thread or process began. */
enum nsc_sample_field {
    NSC_SAMPLE_CPU_NS = 0, /* CPU time of the thread */
    NSC_SAMPLE_MAJOR_FAULTS = 1,
    NSC_SAMPLE_MINOR_FAULTS = 2,
    NSC_SAMPLE_SWITCHES = 3,        /* context switches of the thread, of both sorts */
    NSC_SAMPLE_PREEMPTIONS = 4,     /* those of them that it did not ask for */
    NSC_SAMPLE_PROCESS_BYTES = 5,   /* memory of the whole process; may shrink */
    NSC_SAMPLE_PROCESS_OBJECTS = 6, /* blocks of memory that it has allocated and not freed */
    NSC_SAMPLE_ALLOCATED_BYTES = 7, /* by the thread, ever */
    NSC_SAMPLE_FREED_BYTES = 8,     /* likewise */
    NSC_SAMPLE_FIELDS,
};

struct nsc_sample {
    uint32_t known; /* which values are: bits 1 << enum nsc_sample_field; others are 0 */
    uint64_t values[NSC_SAMPLE_FIELDS];
};

/* What a thread is doing. The numbers are those of the file and of `.state`. */
enum nsc_thread_state {
    NSC_STATE_UNKNOWN = 0,
    NSC_STATE_RUNNING = 1,      /* on a processor */
    NSC_STATE_RUNNABLE = 2,     /* waits for a processor */
    NSC_STATE_SLEEPING = 3,     /* waits for something else than the following */
    NSC_STATE_BLOCKED_IO = 4,   /* waits for a disk, a pipe, a socket, in poll */
    NSC_STATE_BLOCKED_LOCK = 5, /* waits for another thread: a lock, a condition (futex) */
    NSC_STATE_STOPPED = 6,      /* by a signal or a debugger */
    NSC_STATE_DEAD = 7,
    NSC_STATES,
    NSC_STATE_ART_FIRST = 66, /* imported traces: states of Android's runtime */
    NSC_STATE_ART_LAST = 90,
};

struct nsc_state_change {
    uint32_t old_state, new_state; /* enum nsc_thread_state */
};

struct nsc_mark {
    const char *name;     /* never NULL */
    const char *metadata; /* free text; never NULL, may be empty */
    bool cut;             /* there was more text than was kept */
};

struct nsc_counter {
    const char *name; /* never NULL */
    bool is_real;     /* which of the two holds the value */
    int64_t integer;
    double real;
};

/* What people are told: "CPU time", "major faults", ... */
const char *nsc_model_sample_field_name(enum nsc_sample_field field);
/* "running", "blocked on I/O", or Android's own name; NULL for numbers that are neither. */
const char *nsc_model_state_name(uint32_t state);
/* The other way round; a number is a state's name as well. False: it is none. */
bool nsc_model_sample_field_find(const char *name, enum nsc_sample_field *field);
bool nsc_model_state_find(const char *name, uint32_t *state);

#define NSC_NOTE_TEXT_MAX 65535 /* bytes of a name or of metadata; what is longer is cut */

struct nsc_note {
    uint64_t ticks;
    uint32_t kind;   /* enum nsc_note_kind */
    uint32_t owner;  /* index in the thread table, or in the process table: */
    bool of_process; /* counters may be a whole process's */
    union {
        struct nsc_sample sample;
        struct nsc_state_change state;
        struct nsc_mark mark;
        struct nsc_counter counter;
    };
};

/* ---- What was left out ---- */

enum nsc_left_out_reason {
    NSC_LEFT_OUT_OTHER = 0,   /* exits of calls that began before their function was switched on */
    NSC_LEFT_OUT_FILTER = 1,  /* the user did not want it */
    NSC_LEFT_OUT_BUDGET = 2,  /* recording it would have cost too much */
    NSC_LEFT_OUT_TRIGGER = 3, /* recording waited for a trigger */
    NSC_LEFT_OUT_SHORT = 4,   /* calls below a duration were dropped */
    NSC_LEFT_OUT_DEPTH = 5,   /* calls below a depth were dropped */
    NSC_LEFT_OUT_UNDER = 6,   /* not called, directly or not, by a function asked for */
    NSC_LEFT_OUT_THREAD = 7,  /* calls of other threads than those asked for */
    NSC_LEFT_OUT_REASONS,
};

/* "filter", "budget", ...; "other" for reasons of later versions. */
const char *nsc_model_left_out_reason_name(uint32_t reason);

#define NSC_LEFT_OUT_CALLS 1u
#define NSC_LEFT_OUT_TOTAL 2u
#define NSC_LEFT_OUT_SELF  4u

/* A quantity with its standard error; 0: it was counted. */
struct nsc_estimate {
    uint64_t value;
    uint64_t error;
};

/*
 * A function that was not recorded for some time. In short windows of that time it may have been
 * recorded all the same, to estimate the rest: the calls of the windows are in the trace like all
 * others, and the estimates are about the calls that are not.
 */
struct nsc_left_out {
    uint32_t function; /* NSC_NO_ID: all functions */
    uint32_t process;  /* where; NSC_NO_ID: in all processes */
    uint32_t reason;   /* enum nsc_left_out_reason */
    uint32_t known;    /* which estimates there are: NSC_LEFT_OUT_* */
    uint64_t from_ticks;
    uint64_t to_ticks;               /* 0: to the end of the recording */
    uint64_t windows, window_ticks;  /* how many windows there were, and how long together */
    struct nsc_estimate calls;       /* calls that began */
    struct nsc_estimate total_ticks; /* time in them, in recursion the outermost call's */
    struct nsc_estimate self_ticks;  /* without what they called, recorded or not */
};

/* ---- Meta keys that this version gives a meaning (docs/format.md section 6) ---- */

#define NSC_META_FREQUENCY        "ticks_per_second" /* nominal ticks of the timer in a second */
#define NSC_META_PROGRAM_EVENTS   "program_events"   /* those of the file that it emitted itself */
#define NSC_META_RECOVERED        "recovered" /* what is missing of a file made of a cut one */
#define NSC_META_WINDOW           "window" /* from and to, in ticks: the file is a part of a longer one */
#define NSC_META_EARLIER          "earlier_calls" /* where they are, if not as with a window: */
#define NSC_EARLIER_FIRST         "first chunks"  /* of threads */
#define NSC_EARLIER_ANYWHERE      "anywhere"
#define NSC_META_LEFT_OUT         "left_out_events"    /* those that were not wanted */
#define NSC_META_LEFT_OUT_BY      "left_out_%s_events" /* for each reason */
#define NSC_META_FILTER           "filter"             /* options in force from the start */
#define NSC_META_FILTER_LATER     "filter.%u" /* 2, 3...: since when, in ticks, space, options */
#define NSC_META_TIMING           "timing"    /* NSC_TIMING_* or absent */
#define NSC_TIMING_ENTRY          "entry"     /* only entries read the timer: see docs/format.md */
#define NSC_TIMING_FULL           "full"      /* all do, though less was asked for */
#define NSC_META_TIMED_FULL       "timing.full" /* but in these modules all do: ids, blanks between */
/* What a recorded call costs, in ticks: all of it, and the part between its two readings. */
#define NSC_META_HOOK_TICKS       "hook_ticks"
#define NSC_META_HOOK_INNER_TICKS "hook_inner_ticks"
#define NSC_META_METRICS          "metrics"             /* where samples came from */
#define NSC_META_METRICS_INTERVAL "metrics_interval_ns" /* between two samples of a thread */
#define NSC_META_SAMPLES_DUE      "samples_due"         /* samples that there should be */
#define NSC_META_SAMPLES_TAKEN    "samples_taken"       /* and those that there are */
#define NSC_META_BUDGET           "budget"              /* share of the program's time, e.g. 0.1 */
#define NSC_META_OVERHEAD         "overhead" /* what recording took of it, by the budget's count */
#define NSC_META_WITHIN           "within_budget_ns" /* since when, in the program's own time */

#endif
