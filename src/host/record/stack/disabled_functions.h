/*
 * disabled_functions.h - history of disabled functions: which functions were disabled while the
 * program runs, and when they were enabled again.
 *
 * Written by the code that switches sleds (budget.c, hook_switch.c, switch_notice.c); read by
 * disabled_calls.c for every thread.
 */
#ifndef NSC_RECORD_STACK_DISABLED_FUNCTIONS_H
#define NSC_RECORD_STACK_DISABLED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* One disable operation. */
struct nsc_off {
    uint64_t from_ticks;  /* the functions' sleds were all still enabled */
    uint64_t until_ticks; /* all of them were disabled */
    uint32_t *functions;  /* function ids of the trace, ascending */
    uint32_t count;
    uint64_t *on_ticks; /* for each function, when it was enabled again; UINT64_MAX: not yet. Set by
                         * nsc_disabled_functions_add() */
};

/* State of a function that has been disabled. */
struct nsc_off_function {
    uint64_t off;      /* number of its last disable operation */
    uint64_t on_ticks; /* when it was enabled after that; 0: it has never been disabled */
};

/* The most recent disable operations, in order of time. */
struct nsc_disabled_functions {
    struct nsc_off *list;
    uint32_t count, capacity;
    uint64_t first;                 /* number of list[0]; operations are numbered from 0 */
    uint64_t functions;             /* total number of functions in the list */
    struct nsc_off_function *known; /* by function; includes dropped operations */
    uint32_t known_count;
};

void nsc_disabled_functions_free(struct nsc_disabled_functions *offs);
/* Return true if there are so many operations that the older half should be dropped. Call
 * nsc_stacks_disabled_pass() for each thread before nsc_disabled_functions_drop(). */
bool nsc_disabled_functions_many(const struct nsc_disabled_functions *offs);
void nsc_disabled_functions_drop(struct nsc_disabled_functions *offs);
/* Add an operation of at least one function. Takes ownership of @off->functions, from malloc().
 * Returns 0, or -ENOMEM after freeing it. */
int nsc_disabled_functions_add(struct nsc_disabled_functions *offs, const struct nsc_off *off);
/* Record that the function's sleds were all enabled at @ticks, if it was disabled. */
void nsc_disabled_functions_came_on(struct nsc_disabled_functions *offs, uint32_t function,
                                    uint64_t ticks);
/* Record that all disabled functions, except those of @off, were enabled at @ticks. */
void nsc_disabled_functions_came_on_but(struct nsc_disabled_functions *offs,
                                        const struct nsc_off *off, uint64_t ticks);
/* Return true if the function was disabled at any time after @ticks. */
bool nsc_disabled_functions_since(const struct nsc_disabled_functions *offs, uint32_t function,
                                  uint64_t ticks);
/* Return the function's element in @off->functions, or NULL. */
const uint32_t *nsc_disabled_functions_find(const struct nsc_off *off, uint32_t function);

#endif
