/*
 * live_count.h - how many events a chunk holds: for who makes room of it, thread or recorder, and
 * has to count what is gone. As the recorder's stack rule counts them.
 *
 * Hermetic, as live.h.
 */
#ifndef NANOSCOPE_LIVE_COUNT_H
#define NANOSCOPE_LIVE_COUNT_H

#include "abi/live.h"

/**
 * nsc_live_count - events in a chunk that nobody adds any to.
 * @words: its slots, @slots of them.
 * @exit_bit: the header's.
 * @marked: NSC_LIVE_FLAG_ENTRY_TIMING is set: a slot may be two events.
 *
 * A hole that has anything behind it is one. Context: any.
 */
static inline uint64_t nsc_live_count(const uint64_t *words, uint64_t slots, unsigned exit_bit,
                                      int marked)
{
    const uint64_t exit = 1ull << exit_bit;
    uint64_t events = 0, holes = 0, at, word;

    for (at = 0; at < slots; at++) {
        word = __atomic_load_n(&words[2 * at], __ATOMIC_ACQUIRE);
        if (word == 0) {
            holes++;
            continue;
        }
        events += holes;
        holes = 0;
        if ((word & NSC_LIVE_ADDRESS_MASK & ~exit) < NSC_LIVE_ESC_LIMIT) {
            at += word >> 12 & 15;
            continue;
        }
        events++;
        if (marked && (word & exit) == 0 &&
            (__atomic_load_n(&words[2 * at + 1], __ATOMIC_RELAXED) & NSC_LIVE_TICKS_RETURNED) != 0)
            events++;
    }
    return events;
}

#endif
