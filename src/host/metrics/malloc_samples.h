/*
 * malloc_samples.h - the recorder's side of src/shared/abi/malloc_counts.h: what each thread has
 * allocated and freed.
 *
 * Made by record/ before the program starts, read by thread_sampler.c. What the program's library
 * writes is taken as numbers and nothing else.
 */
#ifndef NSC_METRICS_MALLOC_SAMPLES_H
#define NSC_METRICS_MALLOC_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/diag.h"

struct nsc_malloc_samples;

/* Ever, in all. */
struct nsc_malloc_counts {
    uint64_t allocated_bytes, freed_bytes;
    uint64_t allocated_objects, freed_objects;
};

/* Make the memory. Returns 0 or -errno with @diag. Release with nsc_malloc_samples_free(). */
int nsc_malloc_samples_create(struct nsc_malloc_samples **out, struct nsc_diag *diag);
void nsc_malloc_samples_free(struct nsc_malloc_samples *heap); /* NULL is all right */
/* For NSC_MALLOC_ENV; owned by @heap. */
const char *nsc_malloc_samples_path(const struct nsc_malloc_samples *heap);

/**
 * nsc_malloc_samples_thread - what a thread has done so far.
 * @slot: the caller's, for this thread; NSC_NO_ID at first.
 * Returns false while it has no slot. Costs a look through the slots in use until it has one.
 */
bool nsc_malloc_samples_thread(const struct nsc_malloc_samples *heap, uint32_t *slot, pid_t pid,
                               pid_t tid, struct nsc_malloc_counts *counts);
/* All threads together of the process, since its last exec, of the thread that has @slot; those
 * that have ended included. Costs a look through the slots in use. */
void nsc_malloc_samples_process(const struct nsc_malloc_samples *heap, uint32_t slot,
                                struct nsc_malloc_counts *counts);

/* Give back the slots of threads that have ended: of @tid, if that is so, or with sweep those of
 * whoever is found to be gone, of a few hundred at a time. */
void nsc_malloc_samples_release(struct nsc_malloc_samples *heap, uint32_t slot, pid_t pid,
                                pid_t tid);
void nsc_malloc_samples_sweep(struct nsc_malloc_samples *heap);

uint32_t nsc_malloc_samples_in_use(
    const struct nsc_malloc_samples *heap); /* slots to look through */
uint32_t nsc_malloc_samples_uncounted(
    const struct nsc_malloc_samples *heap); /* threads that found no slot */

#endif
