/*
 * event_intake.h - collects events in any order and writes them to the trace, sorted by track and
 * time and properly nested. Used by importers whose input is not sorted.
 *
 * An importer adds tracks, functions, calls and notes in the order of its input, then calls
 * nsc_intake_finish(). Events wait in a temporary file, so memory grows with the number of distinct
 * names, threads and texts, not with the number of events. The first error is kept: importers need
 * to check nsc_intake_error() only occasionally.
 */
#ifndef NSC_FORMATS_IMPORT_EVENT_INTAKE_H
#define NSC_FORMATS_IMPORT_EVENT_INTAKE_H

#include "formats/import/import.h"
#include "formats/import/slice_nesting.h"

struct nsc_intake;

#define NSC_INTAKE_TIME_LIMIT (1ull << 62) /* ns, exclusive; later events are left out */
/* First tid of tracks that do not belong to a thread of the system. */
#define NSC_INTAKE_NO_TID     0x80000000u

/* @job: must outlive the intake. Returns 0 or -ENOMEM with @diag. */
int nsc_intake_open(struct nsc_import *job, struct nsc_intake **out, struct nsc_diag *diag);
void nsc_intake_close(struct nsc_intake *in);
/* Returns the first error, or 0. Fills @diag on error. */
int nsc_intake_error(const struct nsc_intake *in, struct nsc_diag *diag);

/*
 * Tables. Each function finds or creates an entry and returns its number. After an error it returns
 * 0, which callers may use like any other number.
 */
uint32_t nsc_intake_process(struct nsc_intake *in, uint32_t pid);
/* Track of a thread of a process, or of a further stack of a thread. A track holds calls, samples,
 * states, marks and counters. */
uint32_t nsc_intake_track(struct nsc_intake *in, uint32_t process, uint32_t tid, uint32_t stack);
/* Creates a track in a process that belongs to no thread. */
uint32_t nsc_intake_free_track(struct nsc_intake *in, uint32_t process);
/* Creates a further stack of the thread that @track belongs to. */
uint32_t nsc_intake_further_stack(struct nsc_intake *in, uint32_t track);
/* Turns a track of nsc_intake_free_track(), with all its events, into thread @tid of @process.
 * Returns false and changes nothing if that thread exists or the track has further stacks. */
bool nsc_intake_adopt(struct nsc_intake *in, uint32_t track, uint32_t process, uint32_t tid);
/* Track that holds the counters of a process. */
uint32_t nsc_intake_process_track(struct nsc_intake *in, uint32_t process);

/* Set a name; the last one set wins. Without one, a process gets the import's name and a thread an
 * empty name. NUL bytes become question marks, here and in all names below. */
void nsc_intake_name_process(struct nsc_intake *in, uint32_t process, const char *name,
                             size_t bytes);
void nsc_intake_name_track(struct nsc_intake *in, uint32_t track, const char *name, size_t bytes);
/* Returns whether the thread exists already; if so, @track receives its track. */
bool nsc_intake_has_thread(struct nsc_intake *in, uint32_t process, uint32_t tid, uint32_t *track);

/* Key of a function. Functions that differ in any member are different functions; without file and
 * module, the line is ignored. */
struct nsc_intake_function {
    const char *name;
    size_t name_bytes;
    const char *file; /* NULL = unknown */
    size_t file_bytes;
    uint32_t line;
    uint32_t module; /* of the writer's table, or NSC_NO_ID */
};
uint32_t nsc_intake_function(struct nsc_intake *in, const struct nsc_intake_function *f);
/* As nsc_intake_function(), for a function of which only the name is known. */
uint32_t nsc_intake_function_name(struct nsc_intake *in, const char *name, size_t bytes);

/*
 * Events. Times are in ns, below NSC_INTAKE_TIME_LIMIT; later events are counted and left out.
 * Among events of the same time, begins and ends come first, in the order in which they were added.
 * Slices follow, the longest first. See slice_nesting.h.
 */
void nsc_intake_begin(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t function,
                      enum nsc_nesting_start start);
/* @function: name for a call whose begin is missing, or NSC_NO_ID for "(unknown)".
 * @unwound: the call ended without returning. */
void nsc_intake_end(struct nsc_intake *in, uint32_t track, uint64_t ns, uint32_t function,
                    bool unwound);
/* @duration_ns: NSC_NESTING_OPEN when unknown. */
void nsc_intake_slice(struct nsc_intake *in, uint32_t track, uint64_t ns, uint64_t duration_ns,
                      uint32_t function);
void nsc_intake_lost(struct nsc_intake *in, uint32_t track, uint64_t ns, uint64_t events);

/* Notes. Sample values that are added one by one with the same time form one sample. Notes of a
 * further stack are stored with the thread's own stack. */
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

/* Earliest time of all events and notes added so far, in ns; UINT64_MAX if there are none. */
uint64_t nsc_intake_first_ns(const struct nsc_intake *in);
/* Number of events and notes added so far. */
uint64_t nsc_intake_events(const struct nsc_intake *in);

/**
 * nsc_intake_finish - write everything into the trace, add to @job->threads and @job->notes.
 * Returns 0 or -errno with @diag: the first error that occurred.
 */
int nsc_intake_finish(struct nsc_intake *in, struct nsc_diag *diag);

#endif
