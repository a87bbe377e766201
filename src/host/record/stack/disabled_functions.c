/* disabled_functions.c - see disabled_functions.h. */
#include "record/stack/disabled_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

enum { OFFS_MANY = 256, FUNCTIONS_MANY = 1 << 17 };

static void off_free(struct nsc_off *off)
{
    free(off->functions);
    free(off->on_ticks);
}

void nsc_disabled_functions_free(struct nsc_disabled_functions *offs)
{
    uint32_t i;

    for (i = 0; i < offs->count; i++)
        off_free(&offs->list[i]);
    free(offs->list);
    free(offs->known);
    *offs = (struct nsc_disabled_functions){0};
}

bool nsc_disabled_functions_many(const struct nsc_disabled_functions *offs)
{
    return offs->count > 1 && (offs->count >= OFFS_MANY || offs->functions >= FUNCTIONS_MANY);
}

void nsc_disabled_functions_drop(struct nsc_disabled_functions *offs)
{
    uint32_t gone = offs->count / 2, i;

    for (i = 0; i < gone; i++) {
        offs->functions -= offs->list[i].count;
        off_free(&offs->list[i]);
    }
    memmove(offs->list, offs->list + gone, (offs->count - gone) * sizeof *offs->list);
    offs->count -= gone;
    offs->first += gone;
}

static int compare_functions(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

const uint32_t *nsc_disabled_functions_find(const struct nsc_off *off, uint32_t function)
{
    return bsearch(&function, off->functions, off->count, sizeof function, compare_functions);
}

int nsc_disabled_functions_add(struct nsc_disabled_functions *offs, const struct nsc_off *off)
{
    struct nsc_off *list =
        nsc_array_grow(offs->list, &offs->capacity, offs->count, sizeof *offs->list);
    struct nsc_off_function *known = nsc_array_reach(
        offs->known, &offs->known_count, off->functions[off->count - 1] + 1, sizeof *offs->known);
    uint64_t *on_ticks = malloc(off->count * sizeof *on_ticks);
    uint32_t i;

    if (list != NULL)
        offs->list = list;
    if (known != NULL)
        offs->known = known;
    if (list == NULL || known == NULL || on_ticks == NULL) {
        free(off->functions);
        free(on_ticks);
        return -ENOMEM;
    }
    for (i = 0; i < off->count; i++) {
        on_ticks[i] = UINT64_MAX;
        known[off->functions[i]] = (struct nsc_off_function){
            .off = offs->first + offs->count,
            .on_ticks = UINT64_MAX,
        };
    }
    list[offs->count] = *off;
    list[offs->count++].on_ticks = on_ticks;
    offs->functions += off->count;
    return 0;
}

void nsc_disabled_functions_came_on(struct nsc_disabled_functions *offs, uint32_t function,
                                    uint64_t ticks)
{
    struct nsc_off_function *known;
    const struct nsc_off *off;

    if (function >= offs->known_count || offs->known[function].on_ticks != UINT64_MAX)
        return;
    known = &offs->known[function];
    known->on_ticks = ticks;
    if (known->off < offs->first)
        return;
    off = &offs->list[known->off - offs->first];
    off->on_ticks[nsc_disabled_functions_find(off, function) - off->functions] = ticks;
}

void nsc_disabled_functions_came_on_but(struct nsc_disabled_functions *offs,
                                        const struct nsc_off *off, uint64_t ticks)
{
    uint32_t i, next = 0;

    for (i = 0; i < offs->known_count; i++) {
        while (next < off->count && off->functions[next] < i)
            next++;
        if (next == off->count || off->functions[next] != i)
            nsc_disabled_functions_came_on(offs, i, ticks);
    }
}

bool nsc_disabled_functions_since(const struct nsc_disabled_functions *offs, uint32_t function,
                                  uint64_t ticks)
{
    return function < offs->known_count && offs->known[function].on_ticks > ticks;
}
