/*
 * cache.h - a bounded store of what was decoded; the least recently used goes first.
 *
 * Used by pieces.c and handle_tiles.c. What was found or added since nsc_cache_begin() stays at
 * least until the next one, so that a request may hold on to it, even beyond the bound.
 */
#ifndef NSC_VIEWER_ENGINE_CACHE_H
#define NSC_VIEWER_ENGINE_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct nsc_cache;

enum nsc_cache_kind {
    NSC_CACHE_DECODED,    /* struct nsc_piece of a chunk's events */
    NSC_CACHE_SUMMARY,    /* struct nsc_piece of several chunks' heads */
    NSC_CACHE_OPEN_CALLS, /* struct nsc_open_calls */
    NSC_CACHE_TILE,       /* a tile's bytes */
};

struct nsc_cache_key {
    const void *trace;
    uint32_t kind, thread;
    uint64_t place, form; /* what the kind makes of them */
};

/* Stands first in whatever is kept, which is one piece of malloc'ed memory. */
struct nsc_cache_item {
    struct nsc_cache_key key;
    size_t bytes; /* of all of it */
    uint64_t used;
    struct nsc_cache_item *same_slot, *older, *newer;
};

/* Returns 0 or -ENOMEM. @max_bytes: of all items. */
int nsc_cache_new(size_t max_bytes, struct nsc_cache **out);
void nsc_cache_free(struct nsc_cache *c);

/* A new request: what the last one used may go, and what exceeds the bound goes. */
void nsc_cache_begin(struct nsc_cache *c);
/* The item of a key, or NULL. */
void *nsc_cache_find(struct nsc_cache *c, const struct nsc_cache_key *key);
/* Add an item whose key and bytes are set, and which is not there yet; the cache owns it now. */
void nsc_cache_add(struct nsc_cache *c, struct nsc_cache_item *item);
/* Bytes of all items. */
size_t nsc_cache_bytes(const struct nsc_cache *c);

#endif
