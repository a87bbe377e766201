/*
 * sled_table.h - the sleds of a module's file: where they are, in what form, and whose.
 *
 * Made once a file (modules.c), used by sled_switch.c for every process that maps it. Sites are
 * counted as filter bitmaps count them (live.h).
 */
#ifndef NSC_RECORD_MODULES_SLED_TABLE_H
#define NSC_RECORD_MODULES_SLED_TABLE_H

#include "symbols/symbols.h"

#define NSC_SLEDS_NONE UINT32_MAX

/* A function with sleds: of_functions[first] and the count - 1 behind it are its sites. */
struct nsc_sleds_function {
    uint64_t va; /* of its symbol; without one, of its entry sled */
    uint32_t first, count;
};

struct nsc_sleds {
    struct nsc_symbols_site *sites; /* all sites of the file, sleds or not */
    uint32_t count;
    uint32_t *by_address; /* the sites that are sleds, by ascending address */
    uint32_t sled_count;
    struct nsc_sleds_function *functions; /* by ascending address */
    uint32_t function_count;
    uint32_t *of_functions; /* site numbers, one function after the other */
    uint32_t *function_of;  /* by site: index in functions, or NSC_SLEDS_NONE */
};

/**
 * nsc_sleds_new - sort a module's sites.
 * @sites: from nsc_symbols_sites(); belongs to the result, also on failure.
 * @symbols: of the same file, borrowed for the call; NULL: none. A sled that no symbol covers goes
 *           with the entry sled below it.
 *
 * Returns NULL when memory runs out.
 */
struct nsc_sleds *nsc_sleds_new(struct nsc_symbols_site *sites, size_t count,
                                struct nsc_symbols *symbols);
void nsc_sleds_free(struct nsc_sleds *sleds);

/* The site whose sled an event's address @va names; NSC_SLEDS_NONE if there is none. */
uint32_t nsc_sleds_at(const struct nsc_sleds *sleds, uint64_t va);
/* The function that begins at @va, or whose sled an event's address @va names; NSC_SLEDS_NONE if
 * there is none. */
uint32_t nsc_sleds_function(const struct nsc_sleds *sleds, uint64_t va);

#endif
