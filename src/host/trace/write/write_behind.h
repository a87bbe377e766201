/*
 * write_behind.h - write to a file from a background thread, so that a slow disk does not keep the
 * recorder from draining the traced program's buffers.
 *
 * Used inside trace/ by trace_file.c, from one thread. Bytes reach the file in the order given.
 * Memory is bounded: when the limit is reached, nsc_write_behind_put() blocks like write(2). The
 * thread starts with the first buffer to be written. If it cannot be started, the caller's thread
 * writes the buffers.
 */
#ifndef NSC_TRACE_WRITE_WRITE_BEHIND_H
#define NSC_TRACE_WRITE_WRITE_BEHIND_H

#include <stdbool.h>
#include <stddef.h>

struct nsc_write_behind;

#define NSC_WRITE_BEHIND_BYTES ((size_t)32 << 20) /* limit of bytes that wait to be written */

/* Create a background writer for @fd, which the caller keeps and closes. Returns NULL if out of
 * memory. */
struct nsc_write_behind *nsc_write_behind_new(int fd);

/**
 * nsc_write_behind_put - append @bytes bytes.
 * Returns 0, or the -errno of the first write that failed; nothing is written after it. A failure
 * may be reported late, at the latest by nsc_write_behind_wait().
 */
int nsc_write_behind_put(struct nsc_write_behind *spool, const void *data, size_t bytes);

/* Whether more than a quarter of NSC_WRITE_BEHIND_BYTES waits to be written. */
bool nsc_write_behind_behind(struct nsc_write_behind *spool);

/* Start writing the current, partly filled buffer without waiting. No-op while the thread still
 * writes earlier buffers. Returns as nsc_write_behind_put(). */
int nsc_write_behind_push(struct nsc_write_behind *spool);

/* Wait until everything is written. Returns 0 or the -errno of the first write that failed. */
int nsc_write_behind_wait(struct nsc_write_behind *spool);

/* End the thread and free the memory. Waits for a write in progress; drops waiting bytes. NULL:
 * no-op.
 */
void nsc_write_behind_free(struct nsc_write_behind *spool);

#endif
