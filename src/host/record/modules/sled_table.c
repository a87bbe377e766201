/* sled_table.c - see sled_table.h. */
#include "record/modules/sled_table.h"

#include <stdlib.h>

#include "abi/live.h"
#include "util/search.h"

/* Maximum distance of an event's address from the start of its sled; at least 1. (At 0 there may be
 * the start of a function with a header hook.) */
enum { EVENT_REACH = 12 };

/* A sled during sorting. */
struct sled {
    uint64_t va;
    uint64_t function; /* address of its symbol; without a symbol, see nsc_sleds_new() */
    uint32_t site;
};

static int compare_addresses(const void *a, const void *b)
{
    const struct sled *x = a, *y = b;

    if (x->va != y->va)
        return x->va < y->va ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

static int compare_functions(const void *a, const void *b)
{
    const struct sled *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return compare_addresses(a, b);
}

static void name_functions(struct sled *sorted, const struct nsc_sleds *sleds,
                           struct nsc_symbols *symbols)
{
    uint64_t entry = 0;
    uint32_t i;

    for (i = 0; i < sleds->sled_count; i++) {
        struct nsc_symbol symbol;

        if (sleds->sites[sorted[i].site].kind == NSC_LIVE_SITE_ENTRY)
            entry = sorted[i].va;
        if (symbols != NULL && nsc_symbols_find(symbols, sorted[i].va, &symbol))
            sorted[i].function = symbol.va;
        else
            sorted[i].function = entry;
    }
}

static void group(struct nsc_sleds *sleds, const struct sled *sorted)
{
    struct nsc_sleds_function *f = NULL;
    uint32_t i;

    for (i = 0; i < sleds->sled_count; i++) {
        if (f == NULL || f->va != sorted[i].function) {
            f = &sleds->functions[sleds->function_count++];
            *f = (struct nsc_sleds_function){.va = sorted[i].function, .first = i};
        }
        f->count++;
        sleds->of_functions[i] = sorted[i].site;
        sleds->function_of[sorted[i].site] = sleds->function_count - 1;
    }
}

static int sort(struct nsc_sleds *sleds, struct nsc_symbols *symbols)
{
    struct sled *sorted = calloc((size_t)sleds->count + 1, sizeof *sorted);
    uint32_t i;

    if (sorted == NULL)
        return -1;
    for (i = 0; i < sleds->count; i++) {
        sleds->function_of[i] = NSC_SLEDS_NONE;
        if (sleds->sites[i].form != NSC_SYMBOLS_SLED_NONE)
            sorted[sleds->sled_count++] = (struct sled){.va = sleds->sites[i].va, .site = i};
    }
    qsort(sorted, sleds->sled_count, sizeof *sorted, compare_addresses);
    for (i = 0; i < sleds->sled_count; i++)
        sleds->by_address[i] = sorted[i].site;
    name_functions(sorted, sleds, symbols);
    qsort(sorted, sleds->sled_count, sizeof *sorted, compare_functions);
    group(sleds, sorted);
    free(sorted);
    return 0;
}

struct nsc_sleds *nsc_sleds_new(struct nsc_symbols_site *sites, size_t count,
                                struct nsc_symbols *symbols)
{
    struct nsc_sleds *sleds = calloc(1, sizeof *sleds);

    if (sleds == NULL || count >= NSC_SLEDS_NONE) {
        free(sleds);
        free(sites);
        return NULL;
    }
    sleds->sites = sites;
    sleds->count = (uint32_t)count;
    sleds->by_address = calloc(count + 1, sizeof *sleds->by_address);
    sleds->functions = calloc(count + 1, sizeof *sleds->functions);
    sleds->of_functions = calloc(count + 1, sizeof *sleds->of_functions);
    sleds->function_of = calloc(count + 1, sizeof *sleds->function_of);
    if (sleds->by_address == NULL || sleds->functions == NULL || sleds->of_functions == NULL ||
        sleds->function_of == NULL || sort(sleds, symbols) != 0) {
        nsc_sleds_free(sleds);
        return NULL;
    }
    return sleds;
}

void nsc_sleds_free(struct nsc_sleds *sleds)
{
    if (sleds == NULL)
        return;
    free(sleds->sites);
    free(sleds->by_address);
    free(sleds->functions);
    free(sleds->of_functions);
    free(sleds->function_of);
    free(sleds);
}

uint32_t nsc_sleds_at(const struct nsc_sleds *sleds, uint64_t va)
{
    uint32_t next =
        NSC_PARTITION_POINT(i, sleds->sled_count, sleds->sites[sleds->by_address[i]].va < va);

    if (next == 0 || va - sleds->sites[sleds->by_address[next - 1]].va > EVENT_REACH)
        return NSC_SLEDS_NONE;
    return sleds->by_address[next - 1];
}

uint32_t nsc_sleds_function(const struct nsc_sleds *sleds, uint64_t va)
{
    uint32_t at = NSC_PARTITION_POINT(i, sleds->function_count, sleds->functions[i].va < va);
    uint32_t site;

    if (at < sleds->function_count && sleds->functions[at].va == va)
        return at;
    site = nsc_sleds_at(sleds, va);
    return site == NSC_SLEDS_NONE ? NSC_SLEDS_NONE : sleds->function_of[site];
}
