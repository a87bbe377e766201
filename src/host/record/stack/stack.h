/*
 * stack.h - the stack rule: from one thread's raw events to calls on its stacks.
 *
 * Called by drain.c with the slots of each chunk in order. Knows nothing of shared memory, ELF or
 * files: it reads slots, asks code_table.h for function ids and speaks to trace/ lanes. The slots
 * are hostile input. docs/adr/007-recorder.md explains the rule.
 *
 * The rule. Every event carries its stack position. An entry closes every open frame at or below
 * its position, an exit closes every frame below the one at its own position and then that one. So
 * the tree is right after longjmp, throw and tail calls, whatever events are missing.
 * With the header hook a function inlined into its caller has its caller's position: such an entry
 * closes an equal frame only if that is the same hook site again, and exits match by function too.
 * An exit outside of all open calls is the end of one that began unseen; docs/adr/007-recorder.md
 * says which of them can have been open when the thread's recording began.
 */
#ifndef NSC_RECORD_STACK_STACK_H
#define NSC_RECORD_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/modules/code_table.h"
#include "record/session/limits.h"
#include "record/stack/call_filter.h"
#include "record/stack/disabled_calls.h"
#include "record/stack/user_events.h"
#include "trace/format/model.h"

struct nsc_lane;
struct nsc_stack; /* one stack of the thread; stack.c */

struct nsc_stacks_stats {
    uint64_t recorded; /* events given to lanes (entries, exits, late exits) */
    uint64_t dropped;  /* events run through the rule but not kept (ring) */
    uint64_t lost;     /* events that the program reported as lost, see nsc_stacks_lost() */
    /* Exits without an entry inside open calls. Lost too, unless sleds were switched while the
     * program ran: then the entry was not wanted, and they count as left out. */
    uint64_t unmatched;
    uint64_t cut; /* dropped events that nsc_stacks_keep() gave up; lost too */
    uint64_t left_out[NSC_LEFT_OUT_REASONS]; /* events that are not wanted, by reason */
    uint64_t clamped; /* events whose ticks ran backwards for no known reason */
    uint64_t holes;   /* slots reserved but never completed; lost too */
};

struct nsc_stacks {
    struct nsc_codes *codes;
    /* Begins the stream of stack @stack (0, 1, ...) of this thread; 0 or -errno. */
    int (*open_lane)(void *context, uint32_t stack, uint64_t ticks, struct nsc_lane **lane);
    void *context;
    uint8_t exit_bit;
    bool keep;          /* false: run the rule only, keep nothing (a ring that turns over) */
    bool switched;      /* sleds are switched while the thread runs */
    uint64_t on_ticks;  /* nsc_stacks_switched_on(); 0: from the start, what is wanted is on */
    uint64_t end_ticks; /* nsc_stacks_end(); 0: the recording goes on */
    bool marked;        /* entries may tell their exits (NSC_LIVE_TICKS_RETURNED) */
    /* Rules for calls: those that the thread begins with, or NULL. Then the other two say whether
     * the thread is wanted, and what a function of the trace is to the rules: NSC_CODE_ROLES. */
    const struct nsc_rules *rules;
    bool (*is_wanted)(void *context, const struct nsc_rules *rules);
    uint32_t (*roles)(void *context, const struct nsc_rules *rules, uint32_t function);
    struct nsc_note_records notes;
    const struct nsc_offs *offs; /* NULL: nothing is switched off while the thread runs */
    struct nsc_limits *limits;   /* NULL: none */

    uint64_t anchor;     /* position in force */
    uint64_t last_ticks; /* of the thread's last event; 0 before its first */
    uint64_t near_ticks; /* an instant that the next event is near to (see live.h, header hook) */
    uint64_t
        next_ticks; /* an instant behind the slots at hand, 0: not known; the caller's to set */
    uint64_t since_ticks;  /* nothing is closed unseen since: the thread's start, or a gap */
    uint64_t before_ticks; /* of the event before the one at hand */
    /* When the next of the offs was done, or the recording ended; UINT64_MAX: neither, 0: an event
     * behind the end was seen, 1: none behind the last of the offs was. */
    uint64_t off_ticks;
    uint64_t offs_passed; /* how many of them the thread's events are behind, gaps included */
    uint64_t offs_met;    /* and how many its last entry or exit is */
    uint64_t since_key;   /* from where on no event was lost in any gap */
    struct nsc_stacks_stats stats;
    struct nsc_sieve sieve;

    struct nsc_stack **stacks;
    struct nsc_stack *current;
    uint32_t count, capacity;
    uint64_t switches; /* clock of stack use */
};

/* Fields above `anchor` are the caller's to set before; 0 or -ENOMEM. */
int nsc_stacks_init(struct nsc_stacks *s);
/* Frees memory; lanes belong to the trace writer. */
void nsc_stacks_free(struct nsc_stacks *s);

/* A chunk begins: its anchor, and the instant it was opened. */
void nsc_stacks_begin_chunk(struct nsc_stacks *s, uint64_t anchor, uint64_t open_ticks);

/**
 * nsc_stacks_run - run the rule over slots.
 * @words: two words a slot; may be written by the traced program meanwhile.
 * @from, @to: slot numbers, half open.
 * @stop_at_hole: stop at a slot that is not complete, else step over it.
 *
 * Returns the number of the first slot not consumed: @to, or that of the hole.
 * Cost: a few ns an event while calls nest plainly; no allocation then.
 */
size_t nsc_stacks_run(struct nsc_stacks *s, const uint64_t *words, size_t from, size_t to,
                      bool stop_at_hole);

/* All events of the thread that are not in the trace. */
static inline uint64_t nsc_stacks_lost_total(const struct nsc_stacks *s)
{
    return s->stats.lost + s->stats.unmatched + s->stats.holes + s->stats.cut + s->stats.dropped;
}

/**
 * nsc_stacks_gap - events are missing just here.
 * @lost, @left_out: how many were lost, and how many the budget turned away.
 * @highest: no position of theirs is above; 0: that is not known. What lies above was open all the
 *           time, and stays so. Of what else was open nobody saw what became: it is closed.
 */
void nsc_stacks_gap(struct nsc_stacks *s, uint64_t ticks, uint64_t lost, uint64_t left_out,
                    uint64_t highest);
/* The same if that is not known: @events were lost just here, 0: as many as nobody knows. */
void nsc_stacks_lost(struct nsc_stacks *s, uint64_t ticks, uint64_t events);
/* The same for events that the budget turned away. */
void nsc_stacks_left_out(struct nsc_stacks *s, uint64_t ticks, uint64_t events);

/* From now on calls are kept (the ring's last round): open calls enter the trace with their true
 * start; everything else dropped so far is lost. */
void nsc_stacks_keep(struct nsc_stacks *s);

/* The rules that are in force have an end (rules->until_ticks), though they began without: the
 * thread's first ones are @rules. */
void nsc_stacks_sift(struct nsc_stacks *s, const struct nsc_rules *rules);
/* Sleds were switched on, and all of that was done at @ticks: till then functions may have had
 * their exits on and not yet their entries. Called before later events are run. */
void nsc_stacks_switched_on(struct nsc_stacks *s, uint64_t ticks);
/* The recording ended at @ticks: later events are no part of it, and are not counted but for those
 * that are lost. What is open then stays so. Called before any of them is run; the first call
 * counts. */
void nsc_stacks_end(struct nsc_stacks *s, uint64_t ticks);
/* Ask again whether the thread is wanted: its name has changed. */
void nsc_stacks_renamed(struct nsc_stacks *s);

/* The thread has ended: close all stacks; what is still open ends now, or when its stack was left
 * for good. */
void nsc_stacks_close(struct nsc_stacks *s, uint64_t ticks);

#endif
