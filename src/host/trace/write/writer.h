/*
 * writer.h - write a .nst trace file: tables, and per thread a stream of calls.
 *
 * Called by record/ (while draining) and formats/ (imports). One thread at a time. Memory stays
 * within the bound of the options for any trace. Must not know about live buffers or ELF.
 */
#ifndef NSC_TRACE_WRITE_WRITER_H
#define NSC_TRACE_WRITE_WRITER_H

#include <stddef.h>

#include "trace/format/model.h"
#include "util/diag.h"

struct nsc_buffer;
struct nsc_writer;
struct nsc_lane; /* one thread's stream; see lane.h for its fast path */

struct nsc_writer_options {
    size_t size;         /* sizeof(struct nsc_writer_options) */
    size_t memory_bytes; /* limit of buffered events and per-thread state; 0 = 80 MiB. Notes may
                            take an eighth more, the index a quarter */
    bool compress;       /* zstd each block as it is written (costs the recorder time) */
    bool sums;           /* sum up calls by function, for nsc_writer_sums() */
    bool overwrite;      /* replace an existing regular file at the final path when finished */
    bool keep_partial;   /* the finished file keeps its temporary name: the caller derives the file
                          * at @path from it */
};

/**
 * nsc_writer_create - begin a trace.
 * @path: final path; the file appears there when nsc_writer_finish() succeeds. Until then the data
 * is in a file "<name>.<pid>.<random>.partial" in the same folder.
 * @options: may be NULL for defaults.
 * @out: receives the writer.
 * @diag: may be NULL.
 *
 * Refuses (with a diagnostic) a path that is a symbolic link, a directory or a device, and a folder
 * that is missing or not writable; never follows a link; creates with mode 0600 & ~umask.
 * Returns 0 or -errno (-ELOOP link, -EEXIST, -ENOENT, -EACCES, -EROFS, -ENOSPC, ...).
 */
int nsc_writer_create(const char *path, const struct nsc_writer_options *options,
                      struct nsc_writer **out, struct nsc_diag *diag);

/**
 * nsc_writer_create_fd - begin a trace in an open, unnamed file of the caller.
 * @fd: empty, open for reading and writing; the caller keeps and closes it.
 * @name: used in messages; copied.
 * nsc_writer_finish() completes the file without naming it; nsc_writer_abandon() leaves it as it
 * is. Otherwise as nsc_writer_create().
 */
int nsc_writer_create_fd(int fd, const char *name, const struct nsc_writer_options *options,
                         struct nsc_writer **out, struct nsc_diag *diag);

/* Path of the temporary file; owned by the writer; NULL after nsc_writer_create_fd(). */
const char *nsc_writer_partial_path(const struct nsc_writer *w);
/* Descriptor of the file; owned by the writer. */
int nsc_writer_fd(const struct nsc_writer *w);

/* Set free text about the recording: "command", "host", "cpu", "mode", "hooks", "nanoscope", ...
 * Replaces the value of an existing key. */
int nsc_writer_meta(struct nsc_writer *w, const char *key, const char *value);
/* Append a module's id to @list, the value of the meta key `timing.full`. */
void nsc_writer_put_timed(struct nsc_buffer *list, uint32_t module);
/* Add a calibration point. In a trace without points and frequency, ticks are nanoseconds. */
int nsc_writer_clock(struct nsc_writer *w, const struct nsc_clock_point *point);
/* Set the timer's nominal frequency, for traces with one point only (crash) or points too close. */
int nsc_writer_clock_frequency(struct nsc_writer *w, uint64_t ticks_per_second);

/* Tables. Strings are copied. Each add function returns the new id through @id. All return 0 or
 * -errno (-ENOMEM, or the latched write error, see nsc_writer_error()). The set functions replace
 * an entry. */
int nsc_writer_add_process(struct nsc_writer *w, const struct nsc_process *p, uint32_t *id);
int nsc_writer_set_process(struct nsc_writer *w, uint32_t id, const struct nsc_process *p);
int nsc_writer_add_module(struct nsc_writer *w, const struct nsc_module *m, uint32_t *id);
int nsc_writer_add_mapping(struct nsc_writer *w, const struct nsc_mapping *m, uint32_t *id);
int nsc_writer_set_mapping(struct nsc_writer *w, uint32_t id, const struct nsc_mapping *m);
/* A function may be added by address alone (name NULL) and named before finish. */
int nsc_writer_add_function(struct nsc_writer *w, const struct nsc_function *f, uint32_t *id);
int nsc_writer_set_function(struct nsc_writer *w, uint32_t id, const struct nsc_function *f);
/* Make function @id an alias of @canonical (two addresses of one symbol): readers see one function.
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
/* Set name, lifetime and losses, until finish. Ignores @t->recorded: the writer counts events. */
int nsc_writer_set_thread(struct nsc_writer *w, uint32_t id, const struct nsc_thread *t);

/**
 * nsc_writer_note - add a sample, a change of state, a mark or a counter.
 * @note: copied. Its owner must be in the table. Times must not run backwards within a kind and an
 *        owner: a smaller one is raised to the last one. Texts that are too long are truncated.
 *
 * Returns 0, -EINVAL (no such owner or kind), -ENOMEM, or the latched write error.
 */
int nsc_writer_note(struct nsc_writer *w, const struct nsc_note *note);
/* Write the buffered notes of an ended thread or process @owner and free their memory. Later notes
 * of the owner start new blocks. */
void nsc_writer_close_notes(struct nsc_writer *w, uint32_t owner, bool of_process);

/* Add or replace a period in which a function was not recorded. Its end and estimates may be set
 * until finish. Results as for the tables above; -EINVAL: no such function or process. */
int nsc_writer_add_left_out(struct nsc_writer *w, const struct nsc_left_out *l, uint32_t *id);
int nsc_writer_set_left_out(struct nsc_writer *w, uint32_t id, const struct nsc_left_out *l);

/* Sums over a function's ended calls. */
struct nsc_writer_sum {
    uint64_t calls;
    uint64_t total_ticks; /* of recursive calls only the outermost counts */
    uint64_t self_ticks;
};

/**
 * nsc_writer_sums - return the sums of all calls so far, by function id.
 * @out: receives the sums of functions 0 to @count - 1.
 * Requires options.sums. Cost: linear in the functions that ran since each stream's last chunk.
 */
void nsc_writer_sums(const struct nsc_writer *w, struct nsc_writer_sum *out, uint32_t count);

/* Set the number of lost events of threads without a table entry (they got no slot). */
void nsc_writer_set_lost_unattributed(struct nsc_writer *w, uint64_t events);

/* The first write error, as -errno, or 0. After an error, events are counted but not kept. */
int nsc_writer_error(const struct nsc_writer *w);
uint64_t nsc_writer_dropped(const struct nsc_writer *w); /* events not kept because of it */
uint64_t nsc_writer_bytes(const struct nsc_writer *w);   /* bytes written so far */
uint64_t nsc_writer_calls(const struct nsc_writer *w);   /* calls (entries) so far */

/* Write all buffered events to the file, without waiting. For readers of a running recording.
 */
int nsc_writer_flush(struct nsc_writer *w);

/* The same, and wait until the kernel has the bytes. */
int nsc_writer_sync(struct nsc_writer *w);

/**
 * nsc_writer_branch - in a forked child: continue the trace in a copy at @path.
 * The parent must have called nsc_writer_sync() just before it forked, and no thread may have a
 * stream. The parent's file is not changed. Returns 0 or -errno with @diag.
 */
int nsc_writer_branch(struct nsc_writer *w, const char *path, struct nsc_diag *diag);

/**
 * nsc_writer_finish - close all streams, write tables and index, move the file to its final path.
 * Frees the writer in any case. On failure the temporary file stays (`nanoscope recover` reads it)
 * and @diag names it.
 */
int nsc_writer_finish(struct nsc_writer *w, struct nsc_diag *diag);
/* Delete the temporary file and free the writer. */
void nsc_writer_abandon(struct nsc_writer *w);

#endif
