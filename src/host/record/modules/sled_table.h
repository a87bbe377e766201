/*
 * sled_table.h - the sleds of a module's file: their addresses, forms and functions.
 *
 * Created once per file (modules.c); sled_switch.c uses it for every process that maps the file.
 * Sites are numbered as in filter bitmaps (live.h).
 */
#ifndef NSC_RECORD_MODULES_SLED_TABLE_H
#define NSC_RECORD_MODULES_SLED_TABLE_H

#include "symbols/symbols.h"

#define NSC_SLEDS_NONE UINT32_MAX

/* A function with sleds. Its sites are of_functions[first] to of_functions[first + count - 1]. */
struct nsc_sleds_function {
    uint64_t va; /* address of its symbol; without a symbol, of its entry sled */
    uint32_t first, count;
};

struct nsc_sleds {
    struct nsc_symbols_site *sites; /* all sites of the file, including those without a sled */
    uint32_t count;
    uint32_t *by_address; /* site numbers of the sleds, by ascending address */
    uint32_t sled_count;
    struct nsc_sleds_function *functions; /* by ascending address */
    uint32_t function_count;
    uint32_t *of_functions; /* site numbers, grouped by function */
    uint32_t *function_of;  /* by site: index in functions, or NSC_SLEDS_NONE */
};

/**
 * nsc_sleds_new - sort a module's sites.
 * @sites: from nsc_symbols_sites(); takes ownership, also on failure.
 * @symbols: of the same file, borrowed for the call; NULL: none. A sled without a symbol belongs to
 * the nearest entry sled at or below it.
 *
 * Returns NULL if memory runs out.
 */
struct nsc_sleds *nsc_sleds_new(struct nsc_symbols_site *sites, size_t count,
                                struct nsc_symbols *symbols);
void nsc_sleds_free(struct nsc_sleds *sleds);

/* Returns the site whose sled contains an event's address @va; NSC_SLEDS_NONE if there is none. */
uint32_t nsc_sleds_at(const struct nsc_sleds *sleds, uint64_t va);
/* Returns the function that begins at @va, or whose sled contains an event's address @va;
 * NSC_SLEDS_NONE if there is none. */
uint32_t nsc_sleds_function(const struct nsc_sleds *sleds, uint64_t va);

#endif
