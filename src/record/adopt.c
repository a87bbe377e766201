/*
 * adopt.c - see nsc_session_adopt() in session.h: a session out of a core dump, which anybody may
 * have made. All places are checked, and kept here, as in session.c.
 */
#include <errno.h>

#include "record/session.h"

enum { CHUNK_BYTES_MIN = 8 << 10, CHUNKS_MOST = 1 << 20, TABLE_MOST = 1 << 20 };

static bool table_fits(uint64_t offset, uint64_t count, uint64_t entry_bytes, uint64_t end)
{
    return count > 0 && count <= TABLE_MOST && offset % 8 == 0 &&
           offset >= sizeof(struct nsc_live_header) && offset <= end &&
           count <= (end - offset) / entry_bytes;
}

static bool makes_sense(const struct nsc_live_header *h, uint64_t bytes)
{
    return h->header_bytes >= sizeof *h && h->total_bytes <= bytes && h->event_bytes == 16 &&
           (h->exit_bit == 47 || h->exit_bit == 0) && h->chunk_bytes >= CHUNK_BYTES_MIN &&
           (h->chunk_bytes & (h->chunk_bytes - 1)) == 0 && h->chunks_max <= CHUNKS_MOST &&
           h->data_off <= h->total_bytes && h->data_off % 8 == 0 &&
           table_fits(h->processes_off, h->processes_max, sizeof(struct nsc_live_process),
                      h->data_off) &&
           table_fits(h->modules_off, h->modules_max, sizeof(struct nsc_live_module),
                      h->data_off) &&
           table_fits(h->threads_off, h->threads_max, sizeof(struct nsc_live_thread),
                      h->data_off) &&
           table_fits(h->chunks_off, h->chunks_max, sizeof(struct nsc_live_chunk), h->data_off) &&
           table_fits(h->data_off, h->chunks_max, h->chunk_bytes, h->total_bytes) &&
           h->filter_off <= h->data_off && h->filter_bytes <= h->data_off - h->filter_off &&
           h->home_count < h->chunks_max;
}

int nsc_session_adopt(void *memory, uint64_t bytes, struct nsc_session *session,
                      struct nsc_diag *diag)
{
    const struct nsc_live_header *h = memory;
    uint8_t *base = memory;

    if (h->magic != NSC_LIVE_MAGIC || h->version != NSC_LIVE_VERSION || !makes_sense(h, bytes))
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, EBADMSG,
            "the recording's memory is damaged, or of another version of nanoscope");
    *session = (struct nsc_session){
        .fd = -1,
        .base = base,
        .total_bytes = bytes,
        .header = (void *)base,
        .processes = (void *)(base + h->processes_off),
        .modules = (void *)(base + h->modules_off),
        .threads = (void *)(base + h->threads_off),
        .chunks = (void *)(base + h->chunks_off),
        .filter = base + h->filter_off,
        .data = base + h->data_off,
        .processes_max = h->processes_max,
        .modules_max = h->modules_max,
        .threads_max = h->threads_max,
        .chunks_max = h->chunks_max,
        .filter_bytes = h->filter_bytes,
        .chunk_bytes = h->chunk_bytes,
        .chunk_count = h->chunks_max - h->home_count,
        .pool_max = h->chunks_max - h->home_count,
        .home_count = h->home_count,
        .backed = h->chunks_max,
        .kept = h->chunks_max,
        .exit_bit = h->exit_bit,
        .entry_timing = (h->flags & NSC_LIVE_FLAG_ENTRY_TIMING) != 0,
        .fixed = true,
    };
    return 0;
}
