/*
 * session_adopt.c - nsc_session_adopt() of session.h: a session from a core dump, which is
 * untrusted. All offsets are checked, and kept outside the memory, as in session.c.
 */
#include <errno.h>

#include "abi/live_check.h"
#include "record/session/session.h"

int nsc_session_adopt(void *memory, uint64_t bytes, struct nsc_record_session *session,
                      struct nsc_diag *diag)
{
    const struct nsc_live_header *h = memory;
    uint8_t *base = memory;
    uint64_t overwritten_at;

    if (!nsc_live_header_fits(h) || h->total_bytes > bytes ||
        (h->exit_bit != 47 && h->exit_bit != 0))
        return nsc_diag_set(
            diag, NSC_DIAG_NO_OFFSET, EBADMSG,
            "the recording's memory is damaged, or of another version of nanoscope");
    *session = (struct nsc_record_session){
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
    overwritten_at = nsc_live_overwritten_at(h);
    if (overwritten_at != 0)
        session->overwritten = (void *)(base + overwritten_at);
    return 0;
}
