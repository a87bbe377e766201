/*
 * disabled_functions.h - which functions were switched off while the program runs, and when they
 * were on again.
 *
 * Written by whoever switches sleds (budget.c, hook_switch.c, switch_notice.c); read by
 * disabled_calls.c for every thread.
 */
#ifndef NSC_RECORD_STACK_DISABLED_FUNCTIONS_H
#define NSC_RECORD_STACK_DISABLED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Functions were switched off. */
struct nsc_off {
    uint64_t from_ticks;  /* all their sleds were still on */
    uint64_t until_ticks; /* none was any more */
    uint32_t *functions;  /* of the trace, ascending */
    uint32_t count;
    uint64_t *on_ticks; /* of each, when it was on again; UINT64_MAX: not yet.
                           nsc_disabled_functions_add()'s */
};

/* A function that has been off. */
struct nsc_off_function {
    uint64_t off;      /* the number of the last of the offs that it is in */
    uint64_t on_ticks; /* there; 0: it has never been off */
};

/* The last ones, in order of time. */
struct nsc_disabled_functions {
    struct nsc_off *list;
    uint32_t count, capacity;
    uint64_t first;                 /* number of list[0], from 0 */
    uint64_t functions;             /* of all in the list */
    struct nsc_off_function *known; /* by function, also if the list has dropped it */
    uint32_t known_count;
};

void nsc_disabled_functions_free(struct nsc_disabled_functions *offs);
/* Are there so many that the older half should go? nsc_stacks_disabled_pass() of each thread first.
 */
bool nsc_disabled_functions_many(const struct nsc_disabled_functions *offs);
void nsc_disabled_functions_drop(struct nsc_disabled_functions *offs);
/* One more, of a function at least; @off->functions, of malloc(), is taken over. 0 or -ENOMEM, with
 * it freed. */
int nsc_disabled_functions_add(struct nsc_disabled_functions *offs, const struct nsc_off *off);
/* The function, if it was off, is on again: all its sleds were at @ticks. */
void nsc_disabled_functions_came_on(struct nsc_disabled_functions *offs, uint32_t function,
                                    uint64_t ticks);
/* So is every one that was off, but for those of @off. */
void nsc_disabled_functions_came_on_but(struct nsc_disabled_functions *offs,
                                        const struct nsc_off *off, uint64_t ticks);
/* Was it off at any time behind @ticks? */
bool nsc_disabled_functions_since(const struct nsc_disabled_functions *offs, uint32_t function,
                                  uint64_t ticks);
/* Where the function stands in @off->functions, NULL if it does not. */
const uint32_t *nsc_disabled_functions_find(const struct nsc_off *off, uint32_t function);

#endif
