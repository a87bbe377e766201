/*
 * reader.h - read .nst trace files: libnanoscope-reader.
 *
 * For programs that look at recordings, not for those that are recorded (nanoscope.h). Compile with
 * `pkg-config --cflags --libs nanoscope-reader`. docs/reader.md has examples.
 *
 * Times are nanoseconds since the trace's time 0, its first event or the moment just before it. Ids
 * (of threads, functions, ...) count from 0, in the order of the trace's tables.
 *
 * Errors: 0 or a positive number is success, a negative one -errno; the message of a
 * struct nanoscope_error is one line for people. -EINVAL: an argument makes no sense; -ENOMEM: no
 * memory; -EBADMSG: the file is damaged; others: the file cannot be read. Out-parameters are
 * untouched on failure. A file may hold anything: it is checked, and can do no harm.
 *
 * Structures grow at their ends in later versions. Therefore each call that fills one is told its
 * size, as the program knows it: nanoscope_trace_facts(trace, &facts, sizeof facts). What a library
 * older than the program does not know is 0. Of the structures that a program fills, it sets the
 * member `size`, and what it does not use to 0. Members called `reserved` are padding.
 *
 * Context: no function prints, exits, changes the process, or keeps anything outside of the objects
 * that it returns. A trace and the objects that were made of it may be used by one thread at a
 * time; different traces, even of the same file, by several at once. Objects that were made of a
 * trace are closed before it.
 */
#ifndef NANOSCOPE_READER_H
#define NANOSCOPE_READER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nanoscope_trace;
struct nanoscope_calls;
struct nanoscope_totals;
struct nanoscope_losses;
struct nanoscope_notes;

#define NANOSCOPE_NONE UINT32_MAX /* an id of nothing */
#define NANOSCOPE_END  UINT64_MAX /* a time behind all others: to the end; not known when */

struct nanoscope_error {
    size_t size;       /* sizeof(struct nanoscope_error), set by the caller */
    uint64_t offset;   /* where in the file, or UINT64_MAX */
    char message[512]; /* one line, NUL at its end */
};

/* The library's version, "0.1.0". */
const char *nanoscope_reader_version(void);

/* ---- A trace -------------------------------------------------------------------------------- */

/* For nanoscope_trace_open(): read what is whole of a file that is not, since whoever wrote it was
 * killed or is still at it. */
#define NANOSCOPE_OPEN_RECOVER 1u

/**
 * nanoscope_trace_open - open a .nst file.
 * @path: the file; it is kept open.
 * @flags: 0 or NANOSCOPE_OPEN_RECOVER.
 * @trace: receives the trace; nanoscope_trace_close() it.
 * @error: receives what went wrong; may be NULL, here and everywhere.
 *
 * Reads the tables and the index, not the events. Returns 0, -ENOENT, -EACCES, ..., -EPROTO (no
 * trace, or one of a later version), -EBADMSG, -EINPROGRESS (not whole, and not to be recovered),
 * -EINVAL or -ENOMEM.
 */
int nanoscope_trace_open(const char *path, unsigned flags, struct nanoscope_trace **trace,
                         struct nanoscope_error *error);
/* @trace may be NULL. Its texts end with it. */
void nanoscope_trace_close(struct nanoscope_trace *trace);

/* What a trace holds. Texts, here and below, are the trace's, end with it, and are never NULL
 * unless it is said; they are UTF-8 as a rule, but whatever bytes the recorded program had. */
struct nanoscope_facts {
    uint64_t calls, events, lost; /* lost: events that could not be recorded */
    uint64_t start_ns, end_ns;    /* first and last event */
    uint64_t epoch_ns;            /* time 0 in nanoseconds since 1970 (UTC); 0: not known */
    uint64_t monotonic_ns;        /* time 0 on CLOCK_MONOTONIC of the machine; 0: not known */
    double ns_per_tick;           /* how finely times were measured; 1 if that is not known */
    uint64_t samples, states, marks, counters;                 /* how many of each */
    uint32_t processes, threads, functions, modules, left_out; /* entries of the tables */
    uint32_t whole;        /* 1: the file was finished by whoever wrote it */
    uint32_t entries_only; /* 1: ends of calls, or of some, were not timed and are bounds */
    uint32_t reserved;
    const char *command; /* what was recorded, or "" */
    const char *warning; /* what recovery left out, or "" */
};

/* Returns 0 or -EINVAL. */
int nanoscope_trace_facts(const struct nanoscope_trace *trace, struct nanoscope_facts *facts,
                          size_t size);

/* What the trace says of itself under a key of docs/format.md section 6: "host", "cpu", "mode", ...
 * NULL if nothing. */
const char *nanoscope_trace_meta(const struct nanoscope_trace *trace, const char *key);

struct nanoscope_process {
    uint32_t pid;
    uint32_t parent; /* process id in this table, or NANOSCOPE_NONE */
    uint64_t start_ns;
    uint64_t end_ns;     /* NANOSCOPE_END: not known */
    int32_t exit_status; /* as of wait(2); -1: not known */
    uint32_t reserved;
    const char *name;
};

/* A thread, or a further stack (coroutine, signal stack) of one: then with the same tid. */
struct nanoscope_thread {
    uint32_t process; /* id */
    uint32_t tid;
    uint32_t stack; /* 0: the thread's own */
    uint32_t reserved;
    uint64_t start_ns;
    uint64_t end_ns; /* NANOSCOPE_END: not known */
    uint64_t events; /* recorded */
    uint64_t lost;   /* of all stacks; told with stack 0 */
    const char *name;
};

struct nanoscope_module {
    const char *path;
    const unsigned char *build_id; /* @build_id_bytes of them */
    size_t build_id_bytes;
};

struct nanoscope_function {
    const char *name;   /* for people; an address if it is not known */
    const char *symbol; /* as linked */
    const char *file;   /* source file, or "" */
    uint32_t line;      /* from 1, or 0 */
    uint32_t module;    /* id, or NANOSCOPE_NONE */
    uint64_t address;   /* in its module: ELF virtual address; or 0 */
    uint32_t canonical; /* its own id, or that of the function that it is another address of: calls
                           and totals are of that one */
    uint32_t reserved;
};

/* An entry of a table. Returns 0 or -EINVAL: there is no such id. */
int nanoscope_trace_process(const struct nanoscope_trace *trace, uint32_t id,
                            struct nanoscope_process *process, size_t size);
int nanoscope_trace_thread(const struct nanoscope_trace *trace, uint32_t id,
                           struct nanoscope_thread *thread, size_t size);
int nanoscope_trace_module(const struct nanoscope_trace *trace, uint32_t id,
                           struct nanoscope_module *module, size_t size);
int nanoscope_trace_function(const struct nanoscope_trace *trace, uint32_t id,
                             struct nanoscope_function *function, size_t size);

/* ---- Calls ---------------------------------------------------------------------------------- */

/* Why a call's times are not exact. */
#define NANOSCOPE_BOUND_END   1u /* it did not return, or was still open: it ended then or before */
#define NANOSCOPE_BOUND_START 2u /* nobody saw it begin: it began then or later */

struct nanoscope_call {
    uint64_t start_ns;    /* also when before the window */
    uint64_t end_ns;      /* a call that is open at the window's end ends there, as a bound */
    uint64_t duration_ns; /* measured as such: may differ from the difference by a rounding */
    uint64_t self_ns;     /* inside the window and outside of what it called */
    uint64_t number;      /* of this thread's calls in this reading, by their starts, from 1 */
    uint64_t parent;      /* number of the call that made it; 0: none, or not known */
    uint64_t children;    /* calls that it made itself */
    uint32_t function;    /* id */
    uint32_t caller;      /* function that made it, or NANOSCOPE_NONE */
    uint32_t depth;       /* number of open calls below it */
    uint32_t bound;       /* NANOSCOPE_BOUND_* */
};

struct nanoscope_calls_options {
    size_t size;
    uint64_t from_ns, to_ns; /* calls that overlap [from, to); to 0: to the end */
    uint64_t least_ns;       /* only calls that took so long or longer */
    uint32_t one_function;   /* 1: only calls of @function */
    uint32_t function;
};

/**
 * nanoscope_calls_open - begin to read the calls of one thread, in the order in which they end.
 * @options: NULL: all calls.
 * So a call comes behind those that it made. Memory is taken for the open calls alone.
 * Returns 0, -EINVAL (no such thread or function, or an empty window), -EBADMSG or -ENOMEM.
 */
int nanoscope_calls_open(struct nanoscope_trace *trace, uint32_t thread,
                         const struct nanoscope_calls_options *options,
                         struct nanoscope_calls **calls, struct nanoscope_error *error);

/**
 * nanoscope_calls_read - the next calls.
 * @out: an array of @count structures of @size bytes each.
 * Returns how many calls were stored, 0 when there are no more, or -errno, which further readings
 * give again. Calls that were read before the failure are given before it.
 */
int64_t nanoscope_calls_read(struct nanoscope_calls *calls, struct nanoscope_call *out, size_t size,
                             size_t count, struct nanoscope_error *error);
void nanoscope_calls_close(struct nanoscope_calls *calls);

/* ---- Totals per function --------------------------------------------------------------------- */

/* What a function's calls in a window come to. */
struct nanoscope_total {
    uint64_t calls;
    uint64_t bounds;   /* of these, those whose times are not exact */
    uint64_t total_ns; /* inside its calls; in recursion that of the outermost */
    uint64_t self_ns;  /* the same without what they called */
    /* Of the calls' whole durations. Percentiles are within 1/64, or 1/16 if `rough`. */
    uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    uint32_t function; /* id */
    uint32_t rough;    /* 1: percentiles come from the index */
};

struct nanoscope_totals_options {
    size_t size;
    uint64_t from_ns, to_ns; /* the window [from, to); to 0: to the end */
    const uint32_t *threads; /* ids; NULL: all threads */
    size_t thread_count;
    uint32_t exact; /* 1: read all events even where the index would do; only percentiles gain */
    uint32_t reserved;
};

/**
 * nanoscope_totals_make - add the calls of a window up by function.
 * @options: NULL: the whole trace, all threads.
 * @totals: receives the totals; nanoscope_totals_close() them.
 * Reads no more events than the window's edges have, if the file has an index and the window a
 * million events or more. Returns 0, -EINVAL, -EBADMSG or -ENOMEM.
 */
int nanoscope_totals_make(struct nanoscope_trace *trace,
                          const struct nanoscope_totals_options *options,
                          struct nanoscope_totals **totals, struct nanoscope_error *error);

/**
 * nanoscope_totals_read - functions with calls in the window, those with the most time first.
 * @first: read from this one on, counting from 0.
 * @out: an array of @count structures of @size bytes each.
 * Returns how many were stored, 0 behind the last, or -EINVAL.
 */
int64_t nanoscope_totals_read(const struct nanoscope_totals *totals, size_t first,
                              struct nanoscope_total *out, size_t size, size_t count);
void nanoscope_totals_close(struct nanoscope_totals *totals);

/* ---- What is missing ------------------------------------------------------------------------- */

/* Events that were lost. */
struct nanoscope_loss {
    uint64_t time_ns; /* NANOSCOPE_END: not known */
    uint64_t events;  /* 0: not known */
    uint32_t thread;  /* id; NANOSCOPE_NONE: of threads that are not in the trace */
    uint32_t reserved;
};

/* All losses of the trace: first those whose time is known, thread by thread. Returns 0, -EBADMSG
 * or -ENOMEM. */
int nanoscope_losses_find(struct nanoscope_trace *trace, struct nanoscope_losses **losses,
                          struct nanoscope_error *error);
/* As nanoscope_totals_read(). */
int64_t nanoscope_losses_read(const struct nanoscope_losses *losses, size_t first,
                              struct nanoscope_loss *out, size_t size, size_t count);
void nanoscope_losses_close(struct nanoscope_losses *losses);

#define NANOSCOPE_KNOWS_CALLS 1u
#define NANOSCOPE_KNOWS_TOTAL 2u
#define NANOSCOPE_KNOWS_SELF  4u

/* A time in which a function was not recorded, on purpose; and what is estimated of its calls. */
struct nanoscope_left_out {
    uint32_t function; /* id; NANOSCOPE_NONE: all functions */
    uint32_t process;  /* id; NANOSCOPE_NONE: in all processes */
    uint32_t known;    /* NANOSCOPE_KNOWS_*: which of the numbers below there are */
    uint32_t reserved;
    const char *reason; /* "filter", "budget", ... */
    uint64_t from_ns;
    uint64_t to_ns;              /* NANOSCOPE_END: to the end of the recording */
    uint64_t calls, calls_error; /* calls that are not in the trace, and the standard error */
    uint64_t total_ns, total_error_ns;
    uint64_t self_ns, self_error_ns;
};

/* By number, from 0 to below nanoscope_facts.left_out. Returns 0 or -EINVAL. */
int nanoscope_trace_left_out(const struct nanoscope_trace *trace, uint32_t number,
                             struct nanoscope_left_out *left_out, size_t size);

/* ---- Samples, states, marks, counters -------------------------------------------------------- */

enum nanoscope_note_kind {
    NANOSCOPE_SAMPLES = 0,
    NANOSCOPE_STATES = 1,
    NANOSCOPE_MARKS = 2,
    NANOSCOPE_COUNTERS = 3,         /* of a thread */
    NANOSCOPE_PROCESS_COUNTERS = 4, /* of a process */
};

/**
 * nanoscope_notes_open - begin to read what is known of a thread, or a process, beside its calls.
 * @kind: enum nanoscope_note_kind.
 * @owner: id of the thread (a further stack has none) or of the process.
 * @from_ns, @to_ns: those in [from, to); to 0: to the end.
 * Returns 0, -EINVAL or -ENOMEM.
 */
int nanoscope_notes_open(struct nanoscope_trace *trace, unsigned kind, uint32_t owner,
                         uint64_t from_ns, uint64_t to_ns, struct nanoscope_notes **notes,
                         struct nanoscope_error *error);
void nanoscope_notes_close(struct nanoscope_notes *notes);

/* What a sample knows, by bit of `known`. Sums since the thread or process began. */
enum nanoscope_sample_field {
    NANOSCOPE_SAMPLE_CPU_NS = 0,
    NANOSCOPE_SAMPLE_MAJOR_FAULTS = 1,
    NANOSCOPE_SAMPLE_MINOR_FAULTS = 2,
    NANOSCOPE_SAMPLE_SWITCHES = 3,
    NANOSCOPE_SAMPLE_PREEMPTIONS = 4,
    NANOSCOPE_SAMPLE_PROCESS_BYTES = 5, /* memory of the process: no sum */
    NANOSCOPE_SAMPLE_PROCESS_OBJECTS = 6,
    NANOSCOPE_SAMPLE_ALLOCATED_BYTES = 7,
    NANOSCOPE_SAMPLE_FREED_BYTES = 8,
};

struct nanoscope_sample {
    uint64_t time_ns;
    uint64_t known;      /* bits 1 << enum nanoscope_sample_field */
    uint64_t values[32]; /* by field; 0 where nothing is known */
};

struct nanoscope_state {
    uint64_t time_ns;
    uint32_t old_state, new_state; /* numbers as in docs/format.md section 9 */
    const char *name;              /* of the new one: "running", ...; "" for an unknown number */
};

struct nanoscope_mark_note {
    uint64_t time_ns;
    const char *name;
    const char *text;
    uint32_t cut; /* 1: there was more text */
    uint32_t reserved;
};

struct nanoscope_counter_note {
    uint64_t time_ns;
    const char *name;
    int64_t integer;
    double real;
    uint32_t is_real; /* 1: the value is @real, else @integer */
    uint32_t reserved;
};

/* The next one, of notes of that kind. Texts are valid until the next. Return 1, 0 at the end, or
 * -errno: -EINVAL (notes of another kind), -EBADMSG, -ENOMEM. */
int nanoscope_notes_sample(struct nanoscope_notes *notes, struct nanoscope_sample *sample,
                           size_t size, struct nanoscope_error *error);
int nanoscope_notes_state(struct nanoscope_notes *notes, struct nanoscope_state *state, size_t size,
                          struct nanoscope_error *error);
int nanoscope_notes_mark(struct nanoscope_notes *notes, struct nanoscope_mark_note *mark,
                         size_t size, struct nanoscope_error *error);
int nanoscope_notes_counter(struct nanoscope_notes *notes, struct nanoscope_counter_note *counter,
                            size_t size, struct nanoscope_error *error);

#ifdef __cplusplus
}
#endif

#endif
