/* perf_ring.c - see perf_ring.h. */
#include "metrics/perf_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* Offsets in a record, in bytes. The header is followed by TID and TIME and, in samples, by the
 * group's values. */
enum {
    HEADER_BYTES = 8,
    TIME_AT = 16,
    COUNT_AT = 24,
    COUNTERS_AT = 32,
    SAMPLE_BYTES = COUNTERS_AT + 8 * NSC_METRICS_COUNTERS,
    SWITCH_BYTES = 24, /* header, TID, TIME */
    LOST_BYTES = 24,   /* header, id, number */
    LOST_AT = 16,
};

/* Record offsets and the ring's size are multiples of 8: a word never wraps around. */
static uint64_t word_at(const struct nsc_ring *ring, uint64_t offset)
{
    uint64_t word;

    memcpy(&word, ring->data + (offset & (ring->bytes - 1)), sizeof word);
    return word;
}

static int decode(const struct nsc_ring *ring, const struct perf_event_header *header,
                  struct nsc_ring_record *record)
{
    unsigned i;

    switch (header->type) {
    case PERF_RECORD_SAMPLE:
        if (header->size < SAMPLE_BYTES ||
            word_at(ring, ring->tail + COUNT_AT) != NSC_METRICS_COUNTERS)
            return -EBADMSG;
        record->kind = NSC_RING_SAMPLE;
        record->ns = word_at(ring, ring->tail + TIME_AT);
        for (i = 0; i < NSC_METRICS_COUNTERS; i++)
            record->counters[i] = word_at(ring, ring->tail + COUNTERS_AT + i * 8);
        return 0;
    case PERF_RECORD_SWITCH:
        if (header->size < SWITCH_BYTES)
            return -EBADMSG;
        if ((header->misc & PERF_RECORD_MISC_SWITCH_OUT) == 0)
            record->kind = NSC_RING_IN;
        else if ((header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0)
            record->kind = NSC_RING_PREEMPTED;
        else
            record->kind = NSC_RING_OUT;
        record->ns = word_at(ring, ring->tail + TIME_AT);
        return 0;
    case PERF_RECORD_LOST:
        if (header->size < LOST_BYTES)
            return -EBADMSG;
        record->kind = NSC_RING_LOST;
        record->lost = word_at(ring, ring->tail + LOST_AT);
        return 0;
    default:
        return 0;
    }
}

int nsc_ring_next(struct nsc_ring *ring, struct nsc_ring_record *record)
{
    struct nsc_ring_record found = {.kind = NSC_RING_OTHER};
    struct perf_event_header header;
    uint64_t left = ring->head - ring->tail, word;

    if (left == 0)
        return 0;
    if (left < HEADER_BYTES || left > ring->bytes || (ring->tail & 7) != 0)
        goto bad;
    word = word_at(ring, ring->tail);
    memcpy(&header, &word, sizeof header);
    if (header.size < HEADER_BYTES || (header.size & 7) != 0 || header.size > left ||
        decode(ring, &header, &found) != 0)
        goto bad;
    ring->tail += header.size;
    *record = found;
    return 1;
bad:
    ring->tail = ring->head;
    return -EBADMSG;
}
