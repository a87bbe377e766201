/*
 * live_check.h - whether the header of a session's memory makes sense: for the runtime, which is
 * given a memory file by whoever names it, and for the recorder, which finds one in a core dump.
 *
 * Hermetic, as live.h. What is checked must be a copy, or nobody else's to change.
 */
#ifndef NANOSCOPE_LIVE_CHECK_H
#define NANOSCOPE_LIVE_CHECK_H

#include "abi/live.h"

#define NSC_LIVE_PAGE_BYTES      4096u
#define NSC_LIVE_CHUNK_BYTES_MIN 8192u
#define NSC_LIVE_TABLE_LIMIT     0xfffffu /* no table has as many entries: numbers fit 20 bits */

/* Whether @count entries of @entry_bytes at @offset lie behind the header and before @end. */
static inline int nsc_live_table_fits(uint64_t offset, uint64_t count, uint64_t entry_bytes,
                                      uint64_t end)
{
    return count > 0 && count < NSC_LIVE_TABLE_LIMIT && offset % 8 == 0 &&
           offset >= sizeof(struct nsc_live_header) && offset <= end &&
           count <= (end - offset) / entry_bytes;
}

/**
 * nsc_live_header_fits - whether this is the header of a session of this version, whose tables and
 * chunks all lie within the total_bytes that it names, tables first.
 *
 * Not checked: whether there are as many bytes, whose exit_bit it is, and whatever changes while
 * the session is open. Returns 0 or 1. Context: any.
 */
static inline int nsc_live_header_fits(const struct nsc_live_header *h)
{
    const uint64_t end = h->data_off; /* of the tables */

    return h->magic == NSC_LIVE_MAGIC && h->version == NSC_LIVE_VERSION &&
           h->header_bytes >= sizeof(*h) && h->event_bytes == 16 &&
           h->chunk_bytes >= NSC_LIVE_CHUNK_BYTES_MIN &&
           (h->chunk_bytes & (h->chunk_bytes - 1)) == 0 && h->home_count < h->chunks_max &&
           h->data_off % NSC_LIVE_PAGE_BYTES == 0 &&
           nsc_live_table_fits(h->data_off, h->chunks_max, h->chunk_bytes, h->total_bytes) &&
           nsc_live_table_fits(h->processes_off, h->processes_max, sizeof(struct nsc_live_process),
                               end) &&
           nsc_live_table_fits(h->modules_off, h->modules_max, sizeof(struct nsc_live_module),
                               end) &&
           nsc_live_table_fits(h->threads_off, h->threads_max, sizeof(struct nsc_live_thread),
                               end) &&
           nsc_live_table_fits(h->chunks_off, h->chunks_max, sizeof(struct nsc_live_chunk), end) &&
           h->filter_off <= end && h->filter_bytes <= end - h->filter_off;
}

/**
 * nsc_live_overwritten_at - the offset of the table that header.overwritten_page tells of; 0 if
 * there is none, if it is not where it could be, or if the states of chunks have no room for so
 * many threads or events. Context: any.
 */
static inline uint64_t nsc_live_overwritten_at(const struct nsc_live_header *h)
{
    const uint64_t at = (uint64_t)h->overwritten_page * NSC_LIVE_PAGE_BYTES;

    if (h->threads_max > NSC_LIVE_TAKEN_RECORDER || h->chunk_bytes / 8 >= NSC_LIVE_TAKEN_WHOLE)
        return 0; /* a slot of 16 bytes may be two events */
    return at != 0 && nsc_live_table_fits(at, h->threads_max, sizeof(struct nsc_live_overwritten),
                                          h->data_off)
               ? at
               : 0;
}

#endif
