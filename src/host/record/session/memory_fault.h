/*
 * memory_fault.h - survive access to a page of the session's memory that the system cannot
 * allocate.
 *
 * The memory's size is sealed, so no program can truncate it. But a program may punch holes into
 * it. If the system has no memory left for a new page there, access raises SIGBUS. The recorder
 * then reads zeros, ends the recording and keeps the events it has. Called by session.c for as long
 * as the memory is mapped. One session at a time.
 */
#ifndef NSC_RECORD_SESSION_MEMORY_FAULT_H
#define NSC_RECORD_SESSION_MEMORY_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* Handle SIGBUS in these @bytes from now on. No effect while other memory is guarded: a second
 * session belongs to a program of nanoscope itself. Context: installs a SIGBUS handler; other
 * faults end the process as before. */
void nsc_memory_fault_guard(void *memory, size_t bytes);
/* Stop guarding @memory, if it is guarded, and restore the previous SIGBUS action. */
void nsc_memory_fault_end(const void *memory);
/* True if a fault happened since the memory was guarded. */
bool nsc_memory_fault_happened(void);

#endif
