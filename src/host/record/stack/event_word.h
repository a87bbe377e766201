/*
 * event_word.h - what the two words of a live slot say (live.h). Called by event_loop.c for every
 * event; looks at slots only, and knows nothing of stacks.
 */
#ifndef NSC_RECORD_STACK_EVENT_WORD_H
#define NSC_RECORD_STACK_EVENT_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/live.h"
#include "record/stack/stack_state.h"

/* Ticks of a header hook's event: its low 48 bits are right, and it is less than 2^47 from @near.
 */
static inline uint64_t restore_ticks(uint64_t word, uint64_t near)
{
    return near + (uint64_t)((int64_t)((word - near) << 16) >> 16);
}

/* The time of the slot at @slot. */
static inline uint64_t slot_ticks(const uint64_t *slot, uint64_t near, bool header)
{
    uint64_t ticks = __atomic_load_n(&slot[1], __ATOMIC_RELAXED);

    return header ? restore_ticks(ticks, near) : ticks & ~NSC_LIVE_TICKS_RETURNED;
}

/* Does the entry of a sled tell its own exit, too? */
static inline bool has_returned(const uint64_t *slot)
{
    return (__atomic_load_n(&slot[1], __ATOMIC_RELAXED) & NSC_LIVE_TICKS_RETURNED) != 0;
}

/* The same for an entry that may be a header hook's, whose upper bits are others. */
static inline bool returned_sled(const uint64_t *slot, const struct nsc_code *code)
{
    return has_returned(slot) && (code->flags & NSC_CODE_HEADER) == 0;
}

/* Is word 0 an escape record, or empty? (On x86-64 an exit bit makes a record look like an event:
 * no hook writes that.) */
static inline bool is_record(uint64_t word)
{
    return (uint32_t)(word >> 16) == 0;
}

/* The same of one that has the exit bit: where that is among the upper bits, it is none. */
static inline bool is_exit_record(uint64_t word, uint64_t exit_mask)
{
    return exit_mask < NSC_LIVE_ESC_LIMIT && is_record(word);
}

/* Is it an exit that did not read the timer? */
static inline bool is_untimed(const uint64_t *slot, uint64_t exit_mask)
{
    return (__atomic_load_n(&slot[0], __ATOMIC_ACQUIRE) & exit_mask) != 0 &&
           __atomic_load_n(&slot[1], __ATOMIC_RELAXED) == 0;
}

/* The first slot from @slot to before @end whose event has a time, NULL: there is none yet. */
static inline const uint64_t *next_timed(const uint64_t *slot, const uint64_t *end,
                                         uint64_t exit_mask)
{
    while (slot < end) {
        uint64_t word = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);

        if (word == 0)
            return NULL;
        if (is_record(word))
            slot += 2 * (1 + ((word >> 12) & 15));
        else if (is_untimed(slot, exit_mask))
            slot += 2;
        else
            return slot;
    }
    return NULL;
}

/* The whole position of an event, as a key. The upper 16 bits of the difference say how far it is
 * from the anchor, in steps of 8 bytes; positions and anchors are multiples of 8. */
static inline uint64_t position_key(uint64_t word, uint64_t anchor)
{
    uint64_t base = (anchor & ~7ull) << KEY_SHIFT, low = anchor >> 3 << 48;

    return base + ((uint64_t)((int64_t)(word - low) >> 48) << (KEY_SHIFT + 3));
}

#endif
