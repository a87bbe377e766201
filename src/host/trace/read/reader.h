/*
 * reader.h - read a .nst trace file: all tables at open, events by thread and time.
 *
 * Called by analyze/, formats/, viewer/server/ and cli/. Treats the file as hostile: every offset,
 * count and id is checked; a damaged chunk is an error with its offset. Uses pread, not mmap: a
 * file that shrinks while it is read must not raise SIGBUS. Any number of cursors; not thread-safe
 * per trace object.
 */
#ifndef NSC_TRACE_READ_READER_H
#define NSC_TRACE_READ_READER_H

#include <stddef.h>

#include "trace/format/model.h"
#include "trace/read/clock.h"
#include "util/diag.h"

struct nsc_trace;
struct nsc_cursor;
struct nsc_chunk;

enum nsc_trace_open_flags {
    NSC_NST_RECOVER =
        1, /* accept a file without end or index: scan the blocks, keep the intact ones */
    NSC_TRACE_SCAN = 2, /* with RECOVER: always scan, to skip damaged events, too */
};

struct nsc_trace_info {
    uint64_t file_bytes;
    uint64_t calls;  /* entries + late exits */
    uint64_t events; /* recorded events */
    uint64_t lost;   /* events lost, all threads and unattributed */
    uint64_t lost_unattributed;
    uint64_t chunks;
    uint64_t start_ticks, end_ticks; /* first and last event */
    uint32_t system_threads; /* threads of the OS: additional stacks of a thread not counted */
    uint32_t process_count, thread_count, module_count, mapping_count, function_count;
    uint32_t meta_count, clock_count, left_out_count;
    uint64_t notes[NSC_NOTE_KINDS]; /* number of notes of each kind */
    bool exits_bound; /* only entries read the timer: ends of calls are bounds (meta `timing`) */
    bool some_exits_timed; /* except in some modules (meta `timing.full`) */
    bool complete;         /* finished by the writer */
    bool recovered;        /* opened by scanning the blocks: see `warning` */
    bool compressed;       /* compression was requested */
    char warning[480];     /* what recovery omitted; empty if nothing */
};

/**
 * nsc_trace_open - open a .nst file.
 * Returns 0, or -errno with @diag filled: -ENOENT, -EACCES, -EBADMSG (damaged, with the offset),
 * -EPROTO (made by a newer version, or not a trace at all), -ENOMEM, -EINPROGRESS (incomplete file
 * and NSC_NST_RECOVER not given: the message names `nanoscope recover`).
 */
int nsc_trace_open(const char *path, unsigned flags, struct nsc_trace **out, struct nsc_diag *diag);
/* The same over an open descriptor (an import's temporary file); takes ownership of @fd. */
int nsc_trace_open_fd(int fd, const char *name, unsigned flags, struct nsc_trace **out,
                      struct nsc_diag *diag);
void nsc_trace_close(struct nsc_trace *t);

/**
 * nsc_trace_watch - install a cancellation callback.
 * @is_gone: called before the events of each chunk are read; if it returns true, reading fails with
 *           -ECANCELED. NULL removes the callback.
 * @context: passed to @is_gone.
 * Everything that reads events of the trace (e.g. analyses) then fails with the same error.
 */
void nsc_trace_watch(struct nsc_trace *t, bool (*is_gone)(void *context), void *context);

/* Name of the trace for messages: usually its path. */
const char *nsc_trace_name(const struct nsc_trace *t);
/* Descriptor of the file, or of that which it was imported into; owned by the trace. */
int nsc_trace_fd(const struct nsc_trace *t);
const struct nsc_trace_info *nsc_trace_info(const struct nsc_trace *t);
const struct nsc_clock *nsc_trace_clock(const struct nsc_trace *t);
/* Table entries; ids below the counts in info. Owned by the trace. */
const struct nsc_process *nsc_trace_process(const struct nsc_trace *t, uint32_t id);
const struct nsc_thread *nsc_trace_thread(const struct nsc_trace *t, uint32_t id);
const struct nsc_module *nsc_trace_module(const struct nsc_trace *t, uint32_t id);
const struct nsc_mapping *nsc_trace_mapping(const struct nsc_trace *t, uint32_t id);
const struct nsc_function *nsc_trace_function(const struct nsc_trace *t, uint32_t id);
const struct nsc_clock_point *nsc_trace_clock_point(const struct nsc_trace *t, uint32_t index);
/* Values of the clocks at the trace's time 0; 0: unknown. */
struct nsc_clock_point nsc_trace_zero(const struct nsc_trace *t);
/* Period in which a function was not recorded, by index; function ids are canonical. */
const struct nsc_left_out *nsc_trace_left_out(const struct nsc_trace *t, uint32_t index);
/* Meta text by key (NULL if there is none), and by index. */
const char *nsc_trace_meta(const struct nsc_trace *t, const char *key);
int nsc_trace_meta_at(const struct nsc_trace *t, uint32_t index, const char **key,
                      const char **value);

/*
 * Chunks. Their contents are described without reading the events, for tools that show a time range
 * at some zoom. To read all events, use a cursor.
 */
struct nsc_chunk {
    uint64_t offset; /* of its head in the file */
    uint64_t sequence;
    uint64_t first_ticks, last_ticks;
    uint64_t events, calls; /* calls: entries and late exits */
    uint64_t lost;          /* lost events in its gaps */
    uint32_t thread;
    uint32_t min_depth, max_depth;
    uint32_t depth;  /* open calls at its start */
    uint32_t common; /* outermost frames of its opening stack that are inherited from the previous
                        chunk and not repeated in its head */
    bool missing;    /* its head was read but its events are damaged (NSC_NST_RECOVER) */
};

/* Contents of a chunk's head. */
struct nsc_chunk_head {
    const struct nsc_frame *frames; /* opening stack from `common` up, outermost first */
    const uint64_t *child_ticks;    /* for each of them: time in direct callees that had ended */
    uint32_t frame_count;
    /* Small or unusual chunks omit these sections: read their events instead. */
    bool has_totals, has_summary, has_durations;
    const struct nsc_chunk_total *totals;
    uint32_t total_count;
    uint32_t summary_shift;
    const struct nsc_chunk_row *rows;
    uint32_t row_count;
};

/* The chunks of a thread, in order; NULL and 0 when there are none. */
const struct nsc_chunk *nsc_trace_chunks(const struct nsc_trace *t, uint32_t thread,
                                         uint32_t *count);
/*
 * Whether a chunk, one of @count, may contain a LATE_EXIT. Without one, 2 * calls + depth equals
 * events + the next chunk's depth. Returns true (unknown) for a missing chunk and for chunks after
 * a missing one.
 */
static inline bool nsc_reader_may_have_late(const struct nsc_chunk *chunks, uint32_t count,
                                            uint32_t index)
{
    const struct nsc_chunk *c = &chunks[index];
    uint64_t depth_after = index + 1 < count ? c[1].depth : 0;

    return c->missing || c->sequence != index ||
           c->calls + c->calls + c->depth != c->events + depth_after;
}

/**
 * nsc_trace_chunk_head - read a chunk's head.
 * @head: valid until the next call on this trace.
 * Returns 0 or -errno (-EBADMSG with @diag).
 */
int nsc_trace_chunk_head(struct nsc_trace *t, const struct nsc_chunk *chunk,
                         struct nsc_chunk_head *head, struct nsc_diag *diag);
/* Number of calls of function @id, without its aliases, that ended in the file. Returns false if
 * unknown: the file is incomplete or of an earlier version. */
bool nsc_trace_function_calls(const struct nsc_trace *t, uint32_t id, uint64_t *calls);
/**
 * nsc_trace_set_function - set name, symbol, address and source line of a function in memory, for
 * traces whose recording has not ended, where functions have no names yet.
 * @f: copied. Call it before reading anything with the trace. Returns 0, -EINVAL or -ENOMEM.
 */
int nsc_trace_set_function(struct nsc_trace *t, uint32_t id, const struct nsc_function *f);
/* Likewise make a function an alias of @canonical, which must not be an alias itself. */
int nsc_trace_alias_function(struct nsc_trace *t, uint32_t id, uint32_t canonical);
/* Canonical id of function @id: itself unless it is an alias. */
uint32_t nsc_trace_canonical(const struct nsc_trace *t, uint32_t id);

/* NSC_BOUND_END if the ends of the function's calls were not timed, else 0. */
uint32_t nsc_trace_end_bound(const struct nsc_trace *t, uint32_t function);
/* Whether exits of this module's calls were timed although only entries were elsewhere. */
bool nsc_trace_timed_in_full(const struct nsc_trace *t, uint32_t module);

/**
 * nsc_cursor_open - open a cursor over one thread's events at the chunk that holds @from_ticks.
 * The cursor starts at the chunk's start: the caller skips events before @from_ticks.
 */
int nsc_cursor_open(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks,
                    struct nsc_cursor **out, struct nsc_diag *diag);
/* The same from @chunk on, one of nsc_trace_chunks() that is not missing. */
int nsc_cursor_open_chunk(struct nsc_trace *t, const struct nsc_chunk *chunk,
                          struct nsc_cursor **out, struct nsc_diag *diag);
/* Open calls, outermost first, at the position of the next batch. Valid until the next call. */
int nsc_cursor_stack(struct nsc_cursor *c, const struct nsc_frame **frames, uint32_t *depth);
/**
 * nsc_cursor_next - decode the next batch (one chunk or a part of one).
 * @events, @count: the batch, valid until the next call. Function ids are canonical (aliases
 * resolved). Returns 1, 0 at the end of the thread, or -errno (-EBADMSG with @diag).
 */
int nsc_cursor_next(struct nsc_cursor *c, const struct nsc_event **events, size_t *count,
                    struct nsc_diag *diag);
void nsc_cursor_close(struct nsc_cursor *c);

/* The chunk that the last batch came from (a batch never spans two), or NULL for the events that
 * bridge a gap. */
const struct nsc_chunk *nsc_cursor_chunk(const struct nsc_cursor *c);
/* Whether the last batch was the last of its chunk. */
bool nsc_cursor_at_chunk_end(const struct nsc_cursor *c);

/*
 * Notes: samples, states, marks, counters. A block holds notes of one kind and owner. The index
 * gives the time range of each block.
 */
struct nsc_note_cursor;

/**
 * nsc_note_cursor_open - read one owner's notes of one kind, those at @from_ticks and after.
 * @owner, @of_process: as in struct nsc_note. An owner without notes is no error.
 * Returns 0 or -ENOMEM with @diag. The trace must stay open.
 */
int nsc_note_cursor_open(struct nsc_trace *t, enum nsc_note_kind kind, uint32_t owner,
                         bool of_process, uint64_t from_ticks, struct nsc_note_cursor **out,
                         struct nsc_diag *diag);
/* The next note; texts in it are valid until the next call. Returns 1, 0 at the end, or -errno
 * (-EBADMSG with @diag). */
int nsc_note_cursor_next(struct nsc_note_cursor *n, struct nsc_note *note, struct nsc_diag *diag);
void nsc_note_cursor_close(struct nsc_note_cursor *n);
/* Number of notes of a kind and owner. */
uint64_t nsc_trace_note_count(const struct nsc_trace *t, enum nsc_note_kind kind, uint32_t owner,
                              bool of_process);

/**
 * nsc_trace_verify - check everything: headers, checksums, nesting, tables, index against chunks,
 * totals and summaries against the events they sum up.
 * @problem: called for each fault found, with its offset.
 * Returns the number of faults (past NSC_VERIFY_FAULTS_MAX it stops looking), or -errno with @diag
 * when the file cannot be read at all (missing, no permission, not a trace).
 */
#define NSC_VERIFY_FAULTS_MAX 100
int nsc_trace_verify(const char *path, void (*problem)(void *ctx, const struct nsc_diag *d),
                     void *ctx, struct nsc_diag *diag);

#endif
