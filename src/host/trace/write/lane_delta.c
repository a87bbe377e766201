/*
 * lane_delta.c - how short deltas are coded, and which ticks the next chunks of a lane leave out of
 * them: `least` in docs/format.md section 5. Called by lane.c between two chunks.
 *
 * Two events are no nearer to each other than the hook takes. Without that part many a delta fits
 * one byte instead of two; one that is smaller than `least` takes a FULL record of three bytes
 * more. What would have been best is counted in the beginning of a chunk: a part of a percent of
 * the encoder's time, and none of the hot path's.
 */
#include "base/leb.h"
#include "trace/format/duration_bucket.h"
#include "trace/write/writer_state.h"

#define SAMPLE_BYTES ((size_t)16 << 10)
#define EVENTS_MIN   256u /* fewer say too little */
#define CHUNKS       7u   /* that keep a choice */
#define GAIN_PART    64u  /* fewer bytes than this part of the events are not worth it */
#define FULL_COST    8u   /* of a FULL record in bytes: three, and time */
#define ONE_BYTE     32u  /* ticks that do not fit one byte with their kind */

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

/* The deltas of ENTER and EXIT behind one of these, in the first records of the open chunk. These
 * are the lane's own bytes: it needs to know no more of them than where each record ends. */
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
        /* Behind a FULL record, too: its own delta is 0. */
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
