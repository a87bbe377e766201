/*
 * external_sort.h - external merge sort of events by track and time, in bounded memory: sorted runs
 * in a temporary file, merged when they are read.
 *
 * Used by event_intake.c. Does not interpret events.
 */
#ifndef NSC_FORMATS_IMPORT_EXTERNAL_SORT_H
#define NSC_FORMATS_IMPORT_EXTERNAL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

/*
 * Sort order: by track, then by time. At equal times, items without @last come first, in the order
 * in which they were added. Items with @last follow, the largest value first.
 */
struct nsc_external_sort_item {
    uint64_t ns;
    uint64_t value;
    uint32_t track;
    uint32_t name;
    uint8_t kind, flags;
    uint8_t last;
    uint8_t spare;
    uint32_t order; /* set by nsc_external_sort_add() */
};

struct nsc_external_sort;

/* @run_items: number of events held in memory; 0 = 2^20 (32 MiB). Returns NULL when out of memory.
 */
struct nsc_external_sort *nsc_external_sort_new(uint32_t run_items);
void nsc_external_sort_free(struct nsc_external_sort *s);

/* Returns 0 or -errno with @diag. */
int nsc_external_sort_add(struct nsc_external_sort *s, const struct nsc_external_sort_item *item,
                          struct nsc_diag *diag);

uint64_t nsc_external_sort_count(const struct nsc_external_sort *s);

/**
 * nsc_external_sort_next - get the next event in order. After the first call, no event may be
 * added.
 * Returns 1, 0 at the end, or -errno with @diag.
 */
int nsc_external_sort_next(struct nsc_external_sort *s, struct nsc_external_sort_item *item,
                           struct nsc_diag *diag);

#endif
