/*
 * malloc_counts.h - the contract between the library that counts a program's calls of malloc and
 * the recorder: the layout of the memory that they share.
 *
 * Hermetic: includes <stdint.h> only. Each thread has a slot of its own, and only it adds to the
 * slot's numbers. The recorder treats all of it as hostile. See docs/adr/011-metrics.md.
 */
#ifndef NANOSCOPE_HEAP_H
#define NANOSCOPE_HEAP_H

#include <stdint.h>

#define NSC_MALLOC_MAGIC   0x315041454843534eull /* "NSCHEAP1", little endian */
/* Environment: path that opens the memory. */
#define NSC_MALLOC_ENV     "NANOSCOPE_MALLOC"
#define NSC_MALLOC_LIBRARY "libnanoscope-malloc.so"

struct nsc_malloc_header {
    uint64_t magic;
    uint32_t header_bytes; /* sizeof(struct nsc_malloc_header): there the slots begin */
    uint32_t slots_max;
    uint32_t slot_hint; /* where to look first for a free one; both sides; atomic */
    uint32_t uncounted; /* threads that found no slot; atomic */
    uint8_t reserved[40];
};

/*
 * All zeros while free. A thread takes it by one compare-and-swap of `owner`; the recorder gives
 * it back when the thread is no more, numbers first. Bytes are those that the allocator gave, a
 * little more than were asked for. All since the thread's first call; of a forked process since the
 * fork.
 */
struct nsc_malloc_slot {
    uint64_t owner; /* pid << 32 | tid, as /proc tells them; atomic */
    uint64_t allocated_bytes, freed_bytes;
    uint64_t allocated_objects, freed_objects;
    uint64_t image;       /* ticks when the program was loaded: exec brings another one */
    uint8_t reserved[16]; /* no other thread's slot in the same cache line */
};

#ifdef __cplusplus
static_assert(sizeof(struct nsc_malloc_header) == 64, "layout");
static_assert(sizeof(struct nsc_malloc_slot) == 64, "layout");
#elif __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(struct nsc_malloc_header) == 64, "layout");
_Static_assert(sizeof(struct nsc_malloc_slot) == 64, "layout");
#endif

#endif
