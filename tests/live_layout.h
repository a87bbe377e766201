/*
 * live_layout.h - lays out a session's memory (abi/live.h) for the tests that are a recorder
 * themselves, or make up what one has left.
 */
#ifndef NSC_TESTS_LIVE_LAYOUT_H
#define NSC_TESTS_LIVE_LAYOUT_H

#include <nanoscope/nanoscope.h>

#include "abi/live.h"

/* Tables begin at multiples of this. */
#define LIVE_LAYOUT_PAGE 4096u

NANOSCOPE_NOTRACE static inline uint64_t live_layout_up(uint64_t at, uint64_t to)
{
    return (at + to - 1) & ~(to - 1);
}

/*
 * Fills in what follows from how many entries there are of each table, the sizes of a chunk and of
 * the filter arena, and home_count, which the caller has set: offsets, total_bytes, what is the
 * same in every session of this machine. All chunks but the homes are free, and have pages.
 */
NANOSCOPE_NOTRACE static inline void live_layout(struct nsc_live_header *h)
{
    uint64_t at = LIVE_LAYOUT_PAGE;

    h->magic = NSC_LIVE_MAGIC;
    h->version = NSC_LIVE_VERSION;
    h->header_bytes = sizeof *h;
    h->event_bytes = 16;
#ifdef __x86_64__
    h->exit_bit = 47;
#endif
    h->recorder_state = NSC_LIVE_RECORDER_OPEN;
    h->processes_off = at;
    at += h->processes_max * sizeof(struct nsc_live_process);
    h->modules_off = at = live_layout_up(at, LIVE_LAYOUT_PAGE);
    at += h->modules_max * sizeof(struct nsc_live_module);
    h->threads_off = at = live_layout_up(at, LIVE_LAYOUT_PAGE);
    at += h->threads_max * sizeof(struct nsc_live_thread);
    h->chunks_off = at = live_layout_up(at, LIVE_LAYOUT_PAGE);
    at += h->chunks_max * sizeof(struct nsc_live_chunk);
    h->filter_off = at = live_layout_up(at, LIVE_LAYOUT_PAGE);
    h->data_off = at = live_layout_up(at + h->filter_bytes, h->chunk_bytes);
    h->total_bytes = at + (uint64_t)h->chunks_max * h->chunk_bytes;
    h->chunk_count = h->chunks_free = h->chunks_backed = h->chunks_max - h->home_count;
}

#endif
