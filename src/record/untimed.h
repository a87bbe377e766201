/*
 * untimed.h - exits that did not read the timer (NSC_LIVE_FLAG_ENTRY_TIMING): they ended at the
 * next event at the latest. Called by drain.c before the slots are run.
 */
#ifndef NSC_RECORD_UNTIMED_H
#define NSC_RECORD_UNTIMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * nsc_untimed_fill - give exits without a time the time of the next event that has one.
 * @words: two words a slot; word 1 of such exits is written.
 * @from, @to: slot numbers, half open; @from does not lie inside a record.
 * @exit_bit: of an event's address.
 * @end_ticks: time for exits that have no event behind them; 0: it is not known.
 * @final: nothing comes behind these slots: where @end_ticks is not known, they get the time of the
 * last event. Returns the number of the first slot that has to wait for an event, @to if none has.
 */
size_t nsc_untimed_fill(uint64_t *words, size_t from, size_t to, unsigned exit_bit,
                        uint64_t end_ticks, bool final);

#endif
