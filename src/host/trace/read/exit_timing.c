/*
 * exit_timing.c - find the functions whose exits did not read the timer, by the meta keys `timing`
 * and `timing.full` (docs/format.md section 6). Called when a trace is opened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/reader_state.h"

/* Parse a list of module ids into an array by module: not 0 if listed. NULL if out of memory. */
static uint8_t *timed_modules(const struct nsc_trace *t, const char *text)
{
    uint8_t *timed = calloc((size_t)t->modules.count + 1, 1);
    char *end;

    while (timed != NULL && text != NULL && *text != 0) {
        unsigned long long id = strtoull(text, &end, 10);

        if (end == text)
            break;
        if (id < t->modules.count)
            timed[id] = 1;
        text = end;
    }
    return timed;
}

int nsc_trace_link_timing(struct nsc_trace *t)
{
    const char *timing = nsc_trace_meta(t, NSC_META_TIMING);
    const struct nsc_entry_function *functions = t->functions.items;

    t->info.exits_bound = t->info.some_exits_timed = false;
    if (timing == NULL || strcmp(timing, NSC_TIMING_ENTRY) != 0)
        return 0;
    t->timed = timed_modules(t, nsc_trace_meta(t, NSC_META_TIMED_FULL));
    t->untimed = calloc((size_t)t->functions.count + 1, sizeof *t->untimed);
    for (uint32_t i = 0; t->timed != NULL && t->untimed != NULL && i < t->functions.count; i++) {
        bool in_full = nsc_trace_timed_in_full(t, functions[i].f.module);

        t->untimed[i] = (uint8_t)(in_full ? 0 : NSC_BOUND_END);
        t->info.exits_bound |= !in_full;
        t->info.some_exits_timed |= in_full;
    }
    return t->timed != NULL && t->untimed != NULL ? 0 : -ENOMEM;
}

bool nsc_trace_timed_in_full(const struct nsc_trace *t, uint32_t module)
{
    return t->timed != NULL && module < t->modules.count && t->timed[module] != 0;
}

uint32_t nsc_trace_end_bound(const struct nsc_trace *t, uint32_t function)
{
    return t->untimed != NULL && function < t->functions.count ? t->untimed[function] : 0;
}
