/*
 * malloc_samples.h - the recorder's side of src/shared/abi/malloc_counts.h: each thread's counts of
 * allocated and freed memory.
 *
 * Created by record/ before the program starts, read by thread_sampler.c. The program's library is
 * untrusted: what it writes is used only as numbers.
 */
#ifndef NSC_METRICS_MALLOC_SAMPLES_H
#define NSC_METRICS_MALLOC_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/diag.h"

struct nsc_malloc_samples;

/* Running totals. */
struct nsc_malloc_counts {
    uint64_t allocated_bytes, freed_bytes;
    uint64_t allocated_objects, freed_objects;
};

/* Create the shared memory. Returns 0 or -errno with @diag. Release with
 * nsc_malloc_samples_free(). */
int nsc_malloc_samples_create(struct nsc_malloc_samples **out, struct nsc_diag *diag);
void nsc_malloc_samples_free(struct nsc_malloc_samples *heap); /* may be NULL */
/* The value for NSC_MALLOC_ENV; owned by @heap. */
const char *nsc_malloc_samples_path(const struct nsc_malloc_samples *heap);

/**
 * nsc_malloc_samples_thread - read a thread's counts.
 * @slot: cached slot, kept by the caller for this thread; NSC_NO_ID at first.
 * Returns false while the thread has no slot. Searches the slots in use until it has one.
 */
bool nsc_malloc_samples_thread(const struct nsc_malloc_samples *heap, uint32_t *slot, pid_t pid,
                               pid_t tid, struct nsc_malloc_counts *counts);
/* The sum over all threads of the process of @slot since its last exec, including threads that have
 * ended. Reads all slots in use. */
void nsc_malloc_samples_process(const struct nsc_malloc_samples *heap, uint32_t slot,
                                struct nsc_malloc_counts *counts);

/* Release the slots of threads that have ended: nsc_malloc_samples_release() the slot of @tid, if
 * it has ended; nsc_malloc_samples_sweep() those of any ended threads, checking 256 slots per
 * call. */
void nsc_malloc_samples_release(struct nsc_malloc_samples *heap, uint32_t slot, pid_t pid,
                                pid_t tid);
void nsc_malloc_samples_sweep(struct nsc_malloc_samples *heap);

uint32_t nsc_malloc_samples_in_use(
    const struct nsc_malloc_samples *heap); /* number of slots to search */
uint32_t nsc_malloc_samples_uncounted(
    const struct nsc_malloc_samples *heap); /* number of threads that found no slot */

#endif
