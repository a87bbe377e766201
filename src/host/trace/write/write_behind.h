/*
 * write_behind.h - writes to a file from a thread of its own, so that a disk that makes its writers
 * wait does not keep the recorder from emptying the traced program's buffers.
 *
 * Used inside trace/ by trace_file.c, from one thread. Bytes reach the file in the order given.
 * Memory is bounded: when the disk is that far behind, putting waits as a plain write would. The
 * thread starts with the first full buffer; where none can be started, buffers are written as they
 * fill.
 */
#ifndef NSC_TRACE_WRITE_WRITE_BEHIND_H
#define NSC_TRACE_WRITE_WRITE_BEHIND_H

#include <stdbool.h>
#include <stddef.h>

struct nsc_write_behind;

#define NSC_WRITE_BEHIND_BYTES ((size_t)32 << 20) /* most that may wait to be written */

/* Over the open file @fd, which stays the caller's. NULL: no memory. */
struct nsc_write_behind *nsc_write_behind_new(int fd);

/**
 * nsc_write_behind_put - append @bytes bytes.
 * Returns 0, or the -errno of the first write that failed: nothing is written after it. A failure
 * may show only later, at the latest in nsc_write_behind_wait().
 */
int nsc_write_behind_put(struct nsc_write_behind *spool, const void *data, size_t bytes);

/* Is the file far behind, by a quarter of what may wait? */
bool nsc_write_behind_behind(struct nsc_write_behind *spool);

/* Begin to write what was put, without waiting; nothing to do while the thread has not yet written
 * what it was given before. Returns as nsc_write_behind_put(). */
int nsc_write_behind_push(struct nsc_write_behind *spool);

/* Wait until all is written. Returns 0 or the -errno of the first write that failed. */
int nsc_write_behind_wait(struct nsc_write_behind *spool);

/* Ends the thread and frees memory; waits for what is being written, drops what is not. NULL:
 * no-op.
 */
void nsc_write_behind_free(struct nsc_write_behind *spool);

#endif
