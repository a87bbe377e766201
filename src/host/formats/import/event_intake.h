/*
 * event_intake.h - what an importer whose events come in any order writes to: tracks, functions,
 * calls and notes, which reach the trace sorted by track and time and properly nested.
 *
 * Memory is bounded by the distinct names, threads and texts, whatever the number of events; the
 * rest waits in a temporary file. An importer adds everything, in the order of its input, and calls
 * nsc_intake_finish(). Errors are kept: they need be asked for now and then only.
 */
#ifndef NSC_FORMATS_IMPORT_EVENT_INTAKE_H
#define NSC_FORMATS_IMPORT_EVENT_INTAKE_H

#include "formats/import/import.h"
#include "formats/import/slice_nesting.h"

struct nsc_intake;

#define NSC_INTAKE_TIME_LIMIT (1ull << 62) /* ns; what is not below it is refused */
/* Tracks that are no thread of the system get numbers from here on. */
#define NSC_INTAKE_NO_TID     0x80000000u

/* @job: must outlive the intake. Returns 0 or -ENOMEM with @diag. */
int nsc_intake_open(struct nsc_import *job, struct nsc_intake **out, struct nsc_diag *diag);
void nsc_intake_close(struct nsc_intake *in);
/* The first error, or 0; @diag is filled if there is one. */
int nsc_intake_error(const struct nsc_intake *in, struct nsc_diag *diag);

/*
 * Tables. Each finds or makes an entry and returns its number; after an error the number is 0 and
 * may be used as any other.
 */
uint32_t nsc_intake_process(struct nsc_intake *in, uint32_t pid);
/* A thread of a process, or a further stack of one: its calls, samples, states, marks, counters. */
uint32_t nsc_intake_track(struct nsc_intake *in, uint32_t process, uint32_t tid, uint32_t stack);
/* A new track of a process that belongs to no thread. */
uint32_t nsc_intake_free_track(struct nsc_intake *in, uint32_t process);
/* A new further stack of the thread of @track. */
uint32_t nsc_intake_further_stack(struct nsc_intake *in, uint32_t track);
/* Make a track of nsc_intake_free_track() the thread @tid of @process, with all its events. False:
 * that thread is there already, or the track has further stacks; nothing changes. */
bool nsc_intake_adopt(struct nsc_intake *in, uint32_t track, uint32_t process, uint32_t tid);
/* What the counters of a process belong to. */
uint32_t nsc_intake_process_track(struct nsc_intake *in, uint32_t process);

/* The last name given counts. Until one is given, a process has the import's name, a thread none.
 * NUL bytes become question marks, here and in all names below. */
void nsc_intake_name_process(struct nsc_intake *in, uint32_t process, const char *name,
                             size_t bytes);
void nsc_intake_name_track(struct nsc_intake *in, uint32_t track, const char *name, size_t bytes);
/* Whether there is such a thread by now; @track receives it. */
bool nsc_intake_has_thread(struct nsc_intake *in, uint32_t process, uint32_t tid, uint32_t *track);

/* A function by all that is known of it: one more file or line, one more function. */
struct nsc_intake_function {
    const char *name;
    size_t name_bytes;
    const char *file; /* NULL = unknown */
    size_t file_bytes;
    uint32_t line;
    uint32_t module; /* of the writer's table, or NSC_NO_ID */
};
uint32_t nsc_intake_function(struct nsc_intake *in, const struct nsc_intake_function *f);
/* One of which only the name is known. */
uint32_t nsc_intake_function_name(struct nsc_intake *in, const char *name, size_t bytes);

/*
 * Events. Times in ns below NSC_INTAKE_TIME_LIMIT; events beyond it are counted and left out.
 * At the same time, begins and ends count in the order in which they were added, then slices, the
 * longest first. See slice_nesting.h.
 */
void nsc_intake_begin(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t function,
                      enum nsc_nesting_start start);
/* @function: NSC_NO_ID, or what to call it if nobody saw it begin. @unwound: without returning. */
void nsc_intake_end(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t function,
                    bool unwound);
/* @duration_ns: NSC_NESTING_OPEN when unknown. */
void nsc_intake_slice(struct nsc_intake *in, uint32_t track, uint64_t ns, uint64_t duration_ns,
                      uint32_t function);
void nsc_intake_lost(struct nsc_intake *in, uint32_t track, uint64_t ns, uint64_t events);

/* Notes. Values of a sample that come one by one at the same time become one sample. Those of a
 * further stack go to the thread's own. */
void nsc_intake_sample(struct nsc_intake *in, uint32_t track, uint64_t ns,
                       enum nsc_sample_field field, uint64_t value);
void nsc_intake_state(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t old_state,
                      uint32_t new_state);
void nsc_intake_mark(struct nsc_intake *in, uint32_t track, uint64_t ns, const char *name,
                     size_t bytes, const char *metadata, size_t metadata_bytes, bool cut);
/* A counter of a thread, or of a process (nsc_intake_process_track()). */
void nsc_intake_count(struct nsc_intake *in, uint32_t track, uint64_t ns, const char *name,
                      size_t bytes, int64_t value);
void nsc_intake_count_real(struct nsc_intake *in, uint32_t track, uint64_t ns, const char *name,
                           size_t bytes, double value);

/* The earliest time of all events that were added, notes too; UINT64_MAX: there are none. */
uint64_t nsc_intake_first_ns(const struct nsc_intake *in);
/* Events added so far, notes too. */
uint64_t nsc_intake_events(const struct nsc_intake *in);

/**
 * nsc_intake_finish - write everything into the trace; @job->threads and its notes get their share.
 * Returns 0 or -errno with @diag: the first error of all.
 */
int nsc_intake_finish(struct nsc_intake *in, struct nsc_diag *diag);

#endif
