/*
 * writer.h - write a .nst trace file: tables, and per thread a stream of calls.
 *
 * Called by record/ (while draining) and formats/ (imports). One thread at a time. Never holds more
 * than the options' memory bound, whatever the trace. Must not know about live buffers or ELF.
 */
#ifndef NSC_TRACE_WRITE_WRITER_H
#define NSC_TRACE_WRITE_WRITER_H

#include <stddef.h>

#include "trace/format/model.h"
#include "util/diag.h"

struct nsc_buffer;
struct nsc_writer;
struct nsc_lane; /* one thread's stream; see lane.h for its hot functions */

struct nsc_writer_options {
    size_t size;         /* sizeof(struct nsc_writer_options) */
    size_t memory_bytes; /* bound on buffered events and per-thread state; 0 = 80 MiB. Notes may
                            take an eighth more, the index a quarter */
    bool compress;       /* zstd each block as it is written (costs the recorder time) */
    bool sums;           /* add calls up by function, for nsc_writer_sums() */
    bool overwrite;      /* replace an existing regular file at the final path when finished */
    bool keep_partial;   /* finished, the file keeps its temporary name: @path is for something else
                          * made of it */
};

/**
 * nsc_writer_create - begin a trace.
 * @path: final path; the file appears there when nsc_writer_finish() succeeds. Until then the data
 * is in a file of the same folder named "<name>.<pid>.<random>.partial".
 * @options: may be NULL for defaults.
 * @out: receives the writer.
 * @diag: may be NULL.
 *
 * Refuses (with a diagnostic) a path that is a symbolic link, a directory or a device, and a folder
 * that is missing or not writable; never follows a link; creates with mode 0666 & ~umask.
 * Returns 0 or -errno (-ELOOP link, -EEXIST, -ENOENT, -EACCES, -EROFS, -ENOSPC, ...).
 */
int nsc_writer_create(const char *path, const struct nsc_writer_options *options,
                      struct nsc_writer **out, struct nsc_diag *diag);

/**
 * nsc_writer_create_fd - begin a trace in an open file of the caller's, which has no name.
 * @fd: open for reading and writing, empty; stays the caller's.
 * @name: what messages call it; copied.
 * nsc_writer_finish() leaves the file complete and gives it no name; nsc_writer_abandon() leaves it
 * as it is. All else as nsc_writer_create().
 */
int nsc_writer_create_fd(int fd, const char *name, const struct nsc_writer_options *options,
                         struct nsc_writer **out, struct nsc_diag *diag);

/* The path of the temporary file; owned by the writer; NULL after nsc_writer_create_fd(). */
const char *nsc_writer_partial_path(const struct nsc_writer *w);
/* The file itself; owned by the writer. */
int nsc_writer_fd(const struct nsc_writer *w);

/* Free text about the recording: "command", "host", "cpu", "mode", "hooks", "nanoscope", ...
 * A key that was given before gets the new value. */
int nsc_writer_meta(struct nsc_writer *w, const char *key, const char *value);
/* Append a module's id to @list, the text of `timing.full`. */
void nsc_writer_put_timed(struct nsc_buffer *list, uint32_t module);
/* A calibration point. A trace without any has nanoseconds for ticks, exactly. */
int nsc_writer_clock(struct nsc_writer *w, const struct nsc_clock_point *point);
/* The timer's nominal frequency: used when there is one point only (crash) or points too close. */
int nsc_writer_clock_frequency(struct nsc_writer *w, uint64_t ticks_per_second);

/* Tables. Strings are copied. Each returns the new id through @id, 0 or -errno (-ENOMEM, or the
 * write error that the writer has latched: see nsc_writer_error). Things may change later: */
int nsc_writer_add_process(struct nsc_writer *w, const struct nsc_process *p, uint32_t *id);
int nsc_writer_set_process(struct nsc_writer *w, uint32_t id, const struct nsc_process *p);
int nsc_writer_add_module(struct nsc_writer *w, const struct nsc_module *m, uint32_t *id);
int nsc_writer_add_mapping(struct nsc_writer *w, const struct nsc_mapping *m, uint32_t *id);
int nsc_writer_set_mapping(struct nsc_writer *w, uint32_t id, const struct nsc_mapping *m);
/* A function may be added by address alone (name NULL) and named before finish. */
int nsc_writer_add_function(struct nsc_writer *w, const struct nsc_function *f, uint32_t *id);
int nsc_writer_set_function(struct nsc_writer *w, uint32_t id, const struct nsc_function *f);
/* Say that function @id is the same as @canonical (two addresses of one symbol): readers see one.
 */
int nsc_writer_alias_function(struct nsc_writer *w, uint32_t id, uint32_t canonical);
uint32_t nsc_writer_function_count(const struct nsc_writer *w);
int nsc_writer_get_function(const struct nsc_writer *w, uint32_t id, struct nsc_function *out);

/**
 * nsc_writer_add_thread - begin a thread's stream.
 * @lane: receives the stream; owned by the writer, valid until nsc_lane_close() or finish.
 */
int nsc_writer_add_thread(struct nsc_writer *w, const struct nsc_thread *t, uint32_t *id,
                          struct nsc_lane **lane);
/* Name, lifetime and losses may be set until finish (recorded is the writer's own count). */
int nsc_writer_set_thread(struct nsc_writer *w, uint32_t id, const struct nsc_thread *t);

/**
 * nsc_writer_note - add a sample, a change of state, a mark or a counter.
 * @note: copied. Its owner must be in the table. Times must not run backwards within a kind and an
 *        owner: a smaller one is raised to the last one. Texts that are too long are cut.
 *
 * Returns 0, -EINVAL (no such owner or kind), -ENOMEM, or the latched write error.
 */
int nsc_writer_note(struct nsc_writer *w, const struct nsc_note *note);
/* No note comes any more of the thread or process @owner: what it has is written, its memory freed.
 * Notes that come all the same begin again. */
void nsc_writer_close_notes(struct nsc_writer *w, uint32_t owner, bool of_process);

/* That a function was left out, from some time on; what is estimated, and the end, may be set until
 * finish. As for the tables above; -EINVAL: no such function or process. */
int nsc_writer_add_left_out(struct nsc_writer *w, const struct nsc_left_out *l, uint32_t *id);
int nsc_writer_set_left_out(struct nsc_writer *w, uint32_t id, const struct nsc_left_out *l);

/* What the calls of a function add up to that have ended. */
struct nsc_writer_sum {
    uint64_t calls;
    uint64_t total_ticks; /* in recursion, the outermost call's */
    uint64_t self_ticks;
};

/**
 * nsc_writer_sums - what the calls so far add up to, by function id.
 * @out: receives the sums of functions 0 to @count - 1.
 * For the writer's options.sums only. Cost: the functions that ran since each stream's last chunk.
 */
void nsc_writer_sums(const struct nsc_writer *w, struct nsc_writer_sum *out, uint32_t count);

/* Events of threads that are not in the table at all (they found no slot). */
void nsc_writer_set_lost_unattributed(struct nsc_writer *w, uint64_t events);

/* The first write error, as -errno, or 0. After an error, events are counted but not kept. */
int nsc_writer_error(const struct nsc_writer *w);
uint64_t nsc_writer_dropped(const struct nsc_writer *w); /* events not kept because of it */
uint64_t nsc_writer_bytes(const struct nsc_writer *w);   /* written so far */
uint64_t nsc_writer_calls(const struct nsc_writer *w);   /* calls (entries) so far */

/* Send all buffered events to the file, without waiting for it. For readers of a trace under way.
 */
int nsc_writer_flush(struct nsc_writer *w);

/* The same, and wait until it is with the kernel. */
int nsc_writer_sync(struct nsc_writer *w);

/**
 * nsc_writer_branch - in a forked child: write the trace so far, and what comes, to @path instead.
 * The parent must have called nsc_writer_sync() just before it forked, and no thread may have a
 * stream. Its own file is left alone. Returns 0 or -errno with @diag.
 */
int nsc_writer_branch(struct nsc_writer *w, const char *path, struct nsc_diag *diag);

/**
 * nsc_writer_finish - close all streams, write tables and index, move the file to its final path.
 * Frees the writer in any case. On failure the temporary file stays (recover reads it) and
 * @diag says its name.
 */
int nsc_writer_finish(struct nsc_writer *w, struct nsc_diag *diag);
/* Throw the temporary file away and free the writer. */
void nsc_writer_abandon(struct nsc_writer *w);

#endif
