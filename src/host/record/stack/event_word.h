/*
 * event_word.h - decodes the two words of a live slot (live.h). Called by event_loop.c for every
 * event; reads slots only, and does not depend on stacks.
 */
#ifndef NSC_RECORD_STACK_EVENT_WORD_H
#define NSC_RECORD_STACK_EVENT_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/live.h"
#include "record/stack/stack_state.h"

/* Return the ticks of a header hook's event: its low 48 bits are exact, and it is less than 2^47
 * ticks from @near. */
static inline uint64_t restore_ticks(uint64_t word, uint64_t near)
{
    return near + (uint64_t)((int64_t)((word - near) << 16) >> 16);
}

/* Return the ticks of the event in @slot. */
static inline uint64_t slot_ticks(const uint64_t *slot, uint64_t near, bool header)
{
    uint64_t ticks = __atomic_load_n(&slot[1], __ATOMIC_RELAXED);

    return header ? restore_ticks(ticks, near) : ticks & ~NSC_LIVE_TICKS_RETURNED;
}

/* Return true if the entry of a sled also marks its call as returned. */
static inline bool has_returned(const uint64_t *slot)
{
    return (__atomic_load_n(&slot[1], __ATOMIC_RELAXED) & NSC_LIVE_TICKS_RETURNED) != 0;
}

/* As has_returned(), for an entry that may be a header hook's: its upper bits differ in meaning. */
static inline bool returned_sled(const uint64_t *slot, const struct nsc_code *code)
{
    return has_returned(slot) && (code->flags & NSC_CODE_HEADER) == 0;
}

/* Return true if word 0 is an escape record, or empty. (On x86-64 an exit bit makes a record look
 * like an event: no hook writes that.) */
static inline bool is_record(uint64_t word)
{
    return (uint32_t)(word >> 16) == 0;
}

/* As is_record(), for a word with the exit bit. If that is among the upper bits, the word is no
 * record. */
static inline bool is_exit_record(uint64_t word, uint64_t exit_mask)
{
    return exit_mask < NSC_LIVE_ESC_LIMIT && is_record(word);
}

/* Return true for an exit without a time. */
static inline bool is_untimed(const uint64_t *slot, uint64_t exit_mask)
{
    return (__atomic_load_n(&slot[0], __ATOMIC_ACQUIRE) & exit_mask) != 0 &&
           __atomic_load_n(&slot[1], __ATOMIC_RELAXED) == 0;
}

/* Return the first slot from @slot to before @end whose event has a time; NULL: none yet. */
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

/* Return the whole position of an event, as a key. The upper 16 bits of the difference are the
 * distance from the anchor, in steps of 8 bytes; positions and anchors are multiples of 8. */
static inline uint64_t position_key(uint64_t word, uint64_t anchor)
{
    uint64_t base = (anchor & ~7ull) << KEY_SHIFT, low = anchor >> 3 << 48;

    return base + ((uint64_t)((int64_t)(word - low) >> 48) << (KEY_SHIFT + 3));
}

#endif
