/* untimed.c - see untimed.h. */
#include "record/untimed.h"

#include "nanoscope/live.h"

static uint64_t word_at(const uint64_t *words, size_t slot)
{
    return __atomic_load_n(&words[2 * slot], __ATOMIC_ACQUIRE);
}

static uint64_t time_at(const uint64_t *words, size_t slot)
{
    return __atomic_load_n(&words[2 * slot + 1], __ATOMIC_RELAXED);
}

/* Slots of the record at @slot; an event, or an empty slot, is one. */
static size_t slots_of(uint64_t word, uint64_t address)
{
    return address < NSC_LIVE_ESC_LIMIT ? 1 + ((word >> 12) & 15) : 1;
}

/* Exits from @from to @to without a time get @ticks. */
static void fill(uint64_t *words, size_t from, size_t to, uint64_t exit_mask, uint64_t ticks)
{
    while (from < to) {
        uint64_t word = word_at(words, from), address = word & NSC_LIVE_ADDRESS_MASK & ~exit_mask;

        if (address >= NSC_LIVE_ESC_LIMIT && (word & exit_mask) != 0 && time_at(words, from) == 0)
            __atomic_store_n(&words[2 * from + 1], ticks, __ATOMIC_RELAXED);
        from += slots_of(word, address);
    }
}

size_t nsc_untimed_fill(uint64_t *words, size_t from, size_t to, unsigned exit_bit,
                        uint64_t end_ticks, bool final)
{
    const uint64_t exit_mask = 1ull << exit_bit;
    uint64_t last = 0;
    size_t waits = to, at = from;

    while (at < to) {
        uint64_t word = word_at(words, at), address = word & NSC_LIVE_ADDRESS_MASK & ~exit_mask;
        uint64_t ticks = time_at(words, at);

        if (address >= NSC_LIVE_ESC_LIMIT && ticks == 0 && (word & exit_mask) != 0) {
            if (waits == to)
                waits = at;
        } else if (address >= NSC_LIVE_ESC_LIMIT) {
            if (waits != to)
                fill(words, waits, at, exit_mask, ticks);
            waits = to;
            last = ticks;
        }
        at += slots_of(word, address);
    }
    if (end_ticks == 0 && final)
        end_ticks = last;
    if (waits == to || end_ticks == 0)
        return waits;
    fill(words, waits, to, exit_mask, end_ticks);
    return to;
}
