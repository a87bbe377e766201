/*
 * disabled_calls.h - calls that were open when their function was switched off: nobody sees them
 * end.
 *
 * Whoever switches sleds (budget.c, recorder.c) writes down when which functions went off; each
 * thread looks it up as its events pass that time, and ends such calls (docs/adr/007-recorder.md).
 */
#ifndef NSC_RECORD_STACK_DISABLED_CALLS_H
#define NSC_RECORD_STACK_DISABLED_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/stack/stack_state.h"

/* Functions were switched off. */
struct nsc_off {
    uint64_t from_ticks;  /* all their sleds were still on */
    uint64_t until_ticks; /* none was any more */
    uint32_t *functions;  /* of the trace, ascending */
    uint32_t count;
    uint64_t *on_ticks; /* of each, when it was on again; UINT64_MAX: not yet. nsc_offs_add()'s */
};

/* A function that has been off. */
struct nsc_off_function {
    uint64_t off;      /* the number of the last of the offs that it is in */
    uint64_t on_ticks; /* there; 0: it has never been off */
};

/* The last ones, in order of time. */
struct nsc_offs {
    struct nsc_off *list;
    uint32_t count, capacity;
    uint64_t first;                 /* number of list[0], from 0 */
    uint64_t functions;             /* of all in the list */
    struct nsc_off_function *known; /* by function, also if the list has dropped it */
    uint32_t known_count;
};

void nsc_offs_free(struct nsc_offs *offs);
/* Are there so many that the older half should go? nsc_stacks_offs_pass() of each thread first. */
bool nsc_offs_many(const struct nsc_offs *offs);
void nsc_offs_drop(struct nsc_offs *offs);
/* One more, of a function at least; @off->functions, of malloc(), is taken over. 0 or -ENOMEM, with
 * it freed. */
int nsc_offs_add(struct nsc_offs *offs, const struct nsc_off *off);
/* The function, if it was off, is on again: all its sleds were at @ticks. */
void nsc_offs_came_on(struct nsc_offs *offs, uint32_t function, uint64_t ticks);
/* So is every one that was off, but for those of @off. */
void nsc_offs_came_on_but(struct nsc_offs *offs, const struct nsc_off *off, uint64_t ticks);
/* Was it off at any time behind @ticks? */
bool nsc_offs_since(const struct nsc_offs *offs, uint32_t function, uint64_t ticks);

/* Look for the next one, as when there is one more: events are told apart from then on. */
void nsc_stacks_offs_next(struct nsc_stacks *s);
/* What nsc_offs_drop() is about to forget counts for what is open, wherever the thread's events
 * are. */
void nsc_stacks_offs_pass(struct nsc_stacks *s);

/* Functions were switched off before @ticks. @seen: an event is at hand; else a gap, or nobody
 * waits for one. */
void nsc_stack_turn_off(struct nsc_stacks *s, uint64_t ticks, bool seen);

/* The first entry behind offs, just told, is here; or its code is NULL: an exit. */
void nsc_stack_meet_offs(struct nsc_stacks *s, const struct nsc_stack_event *event,
                         const struct nsc_code *code);

/* An exit without entry: may its call have begun while its function was off, behind the last gap?
 * Then it need not have been open at that gap, and nobody knows for how long it was. Outside of all
 * open calls only a function that is known to have been off since is suspected: what was open when
 * the recording began ends there, too. */
bool nsc_stack_began_while_off(const struct nsc_stacks *s, const struct nsc_code *code);

/* No event comes any more: calls whose end nobody would see are over with what was seen in them
 * last. */
void nsc_stack_unwind_orphans(struct nsc_stacks *s, struct nsc_stack *st);

#endif
