/*
 * lane_delta.c - the table of short deltas, and the choice of `least`, the bias that the next
 * chunks of a lane subtract from deltas. Called by lane.c between two chunks.
 *
 * The hook's run time is a lower bound of the time between two events. Without it many deltas fit
 * one byte instead of two. A delta smaller than `least` costs a FULL record of three more bytes.
 * The best bias is computed from the first events of a chunk. This takes less than a percent of the
 * encoder's time and none of the fast path's. Source: docs/format.md section 5.
 */
#include "base/leb.h"
#include "trace/format/duration_bucket.h"
#include "trace/write/writer_state.h"

#define SAMPLE_BYTES ((size_t)16 << 10)
#define EVENTS_MIN   256u /* a sample of fewer events is too small */
#define CHUNKS       7u   /* chunks that keep a choice */
#define GAIN_PART    64u  /* minimum gain: one byte per so many events */
#define FULL_COST    8u   /* of a FULL record in bytes: three, plus the cost of its time */
#define ONE_BYTE     32u  /* smallest delta that does not fit one byte with its kind */

void nsc_lane_shorts_fill(uint32_t shorts[NSC_LANE_SHORTS])
{
    memset(shorts, 0, NSC_LANE_LEAST_MAX * sizeof *shorts);
    shorts += NSC_LANE_LEAST_MAX;
    for (uint32_t ticks = 0; ticks < NSC_LANE_SHORT_MAX; ticks++) {
        uint8_t bytes[NSC_LEB_MAX] = {0};
        uint32_t count = (uint32_t)(nsc_leb_put(bytes, (uint64_t)ticks << 2) - bytes);

        shorts[ticks] = bytes[0] | (uint32_t)bytes[1] << 8 | nsc_bucket_of(ticks) << 16;
        shorts[ticks] |= count << 24;
    }
}

struct deltas {
    uint32_t counts[ONE_BYTE + NSC_LANE_LEAST_MAX]; /* by ticks */
    uint32_t events;
};

/* Count the deltas between adjacent ENTER and EXIT records at the start of the open chunk. The
 * bytes are trusted (the lane wrote them): finding the end of each record is enough. */
static void count_deltas(const struct nsc_lane *lane, struct deltas *d)
{
    const uint8_t *at = lane->buffer, *end = lane->at;
    uint64_t v, ignored, untold = 0;
    bool behind = false, timed, full;

    if ((size_t)(end - at) > SAMPLE_BYTES)
        end = at + SAMPLE_BYTES;
    if (lane->least > 0)
        at = nsc_leb_get(at, end, &ignored);
    while (at != NULL && (at = nsc_leb_get(at, end, &v)) != NULL) {
        timed = (v & 3) == NSC_FORMAT_ENTER || (v & 3) == NSC_FORMAT_EXIT;
        d->events += timed;
        v += (untold << 2);
        if (timed && behind && v >> 2 < sizeof d->counts / sizeof d->counts[0])
            d->counts[v >> 2]++;
        full = false;
        if ((v & 3) == NSC_FORMAT_OTHER) {
            at = nsc_leb_get(at, end, &ignored);
            full = at != NULL && ignored == NSC_FORMAT_OTHER_FULL;
        }
        if (at != NULL && ((v & 3) == NSC_FORMAT_OTHER || (v & 3) == NSC_FORMAT_ENTER))
            at = nsc_leb_get(at, end, &ignored);
        /* A FULL record keeps the state: its own delta is 0. */
        behind = timed || (full && behind);
        untold = timed ? lane->least : 0;
    }
}

void nsc_lane_choose_least(struct nsc_lane *lane)
{
    struct deltas d = {.events = 0};
    uint64_t shorter = 0, near = 0, best = 0, least = 0;

    count_deltas(lane, &d);
    if (d.events < EVENTS_MIN)
        return;
    for (uint64_t ticks = 1; ticks <= NSC_LANE_LEAST_MAX; ticks++) {
        near += d.counts[ticks - 1];
        shorter += d.counts[ONE_BYTE + ticks - 1];
        if (shorter > best + near * FULL_COST) {
            best = shorter - near * FULL_COST;
            least = ticks;
        }
    }
    lane->least = best > d.events / GAIN_PART ? least : 0;
    lane->shorts = lane->writer->shorts + NSC_LANE_LEAST_MAX - lane->least;
    lane->until_choice = CHUNKS;
}
