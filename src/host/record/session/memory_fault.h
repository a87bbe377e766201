/*
 * memory_fault.h - survive a page of the session's memory that cannot be had.
 *
 * The size of the memory is sealed, so that no program can cut it. But a program may punch holes
 * into it, and where the system has no memory left for a new page there, touching it is SIGBUS. The
 * recorder then reads zeros, ends the recording and keeps what it has. Called by
 * session.c for as long as the memory is mapped. One session at a time.
 */
#ifndef NSC_RECORD_SESSION_MEMORY_FAULT_H
#define NSC_RECORD_SESSION_MEMORY_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* From now on faults in these @bytes are survived. Without effect while other memory is guarded: a
 * second session is that of a program of our own. Context: takes SIGBUS; other faults end the
 * process as before. */
void nsc_memory_fault_guard(void *memory, size_t bytes);
/* @memory is not guarded any more, if it was: SIGBUS is what it was. */
void nsc_memory_fault_end(const void *memory);
/* Has there been one since the memory was guarded? */
bool nsc_memory_fault_happened(void);

#endif
