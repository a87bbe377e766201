/*
 * reader.h - read a .nst trace file: tables at once, events by thread and time.
 *
 * Called by analyze/, formats/, serve/ and cli/. Treats the file as hostile: every offset, count
 * and id is checked; a damaged chunk is an error with its offset. Uses pread, not mmap (a file that
 * shrinks under us must not kill us). Any number of cursors; not thread-safe per trace object.
 */
#ifndef NSC_TRACE_READER_H
#define NSC_TRACE_READER_H

#include <stddef.h>

#include "trace/clock.h"
#include "trace/model.h"
#include "util/diag.h"

struct nsc_trace;
struct nsc_cursor;

enum nsc_trace_open_flags {
    NSC_TRACE_RECOVER = 1, /* accept an incomplete file: scan blocks, keep what is whole */
};

struct nsc_trace_info {
    uint64_t file_bytes;
    uint64_t calls;  /* entries + late exits */
    uint64_t events; /* recorded events */
    uint64_t lost;   /* events lost, all threads and unattributed */
    uint64_t lost_unattributed;
    uint64_t chunks;
    uint64_t start_ticks, end_ticks; /* first and last event */
    uint32_t process_count, thread_count, module_count, mapping_count, function_count;
    uint32_t meta_count, clock_count;
    bool complete;     /* finished by the writer */
    bool compressed;   /* at least one zstd block */
    char warning[480]; /* what recovery left out; empty if nothing */
};

/**
 * nsc_trace_open - open a .nst file.
 * Returns 0, or -errno with @diag filled: -ENOENT, -EACCES, -EBADMSG (damaged, with the offset),
 * -EPROTO (made by a newer version, or not a trace at all), -ENOMEM, -EINPROGRESS (incomplete file
 * and NSC_TRACE_RECOVER not given: the message names `nanoscope recover`).
 */
int nsc_trace_open(const char *path, unsigned flags, struct nsc_trace **out, struct nsc_diag *diag);
/* The same over an open descriptor (an import's temporary file); takes ownership of @fd. */
int nsc_trace_open_fd(int fd, const char *name, unsigned flags, struct nsc_trace **out,
                      struct nsc_diag *diag);
void nsc_trace_close(struct nsc_trace *t);

const struct nsc_trace_info *nsc_trace_info(const struct nsc_trace *t);
const struct nsc_clock *nsc_trace_clock(const struct nsc_trace *t);
/* Table entries; ids below the counts in info. Owned by the trace. */
const struct nsc_process *nsc_trace_process(const struct nsc_trace *t, uint32_t id);
const struct nsc_thread *nsc_trace_thread(const struct nsc_trace *t, uint32_t id);
const struct nsc_module *nsc_trace_module(const struct nsc_trace *t, uint32_t id);
const struct nsc_mapping *nsc_trace_mapping(const struct nsc_trace *t, uint32_t id);
const struct nsc_function *nsc_trace_function(const struct nsc_trace *t, uint32_t id);
const struct nsc_clock_point *nsc_trace_clock_point(const struct nsc_trace *t, uint32_t index);
/* Meta text by key, or NULL; and by index. */
const char *nsc_trace_meta(const struct nsc_trace *t, const char *key);
int nsc_trace_meta_at(const struct nsc_trace *t, uint32_t index, const char **key,
                      const char **value);

/**
 * nsc_cursor_open - read one thread's events from the chunk that holds @from_ticks on.
 * The cursor begins at a chunk's start, so at or before @from_ticks: the caller skips.
 */
int nsc_cursor_open(struct nsc_trace *t, uint32_t thread, uint64_t from_ticks,
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

/* Check everything: headers, checksums, nesting, tables, index against chunks, totals.
 * Calls @problem for each fault found (up to a limit); returns the number of faults or -errno. */
int nsc_trace_verify(const char *path, void (*problem)(void *ctx, const struct nsc_diag *d),
                     void *ctx, struct nsc_diag *diag);

#endif
