/*
 * cache.h - a size-limited LRU cache of decoded data.
 *
 * Used by pieces.c and handle_tiles.c. An item that was found or added since nsc_cache_begin() is
 * kept at least until the next nsc_cache_begin(), even beyond the limit. A request may therefore
 * hold pointers to it.
 */
#ifndef NSC_VIEWER_ENGINE_CACHE_H
#define NSC_VIEWER_ENGINE_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct nsc_cache;

enum nsc_cache_kind {
    NSC_CACHE_DECODED,    /* struct nsc_piece made from a chunk's events */
    NSC_CACHE_SUMMARY,    /* struct nsc_piece made from several chunks' heads */
    NSC_CACHE_OPEN_CALLS, /* struct nsc_open_calls */
    NSC_CACHE_TILE,       /* a tile's bytes */
};

struct nsc_cache_key {
    const void *trace;
    uint32_t kind, thread;
    uint64_t place, form; /* meaning depends on the kind */
};

/* Header of each item. An item is one malloc'ed block that begins with it. */
struct nsc_cache_item {
    struct nsc_cache_key key;
    size_t bytes; /* size of the whole item */
    uint64_t used;
    struct nsc_cache_item *same_slot, *older, *newer;
};

/* Create a cache. @max_bytes: limit of the sum of all items. Returns 0 or -ENOMEM. */
int nsc_cache_new(size_t max_bytes, struct nsc_cache **out);
void nsc_cache_free(struct nsc_cache *c);

/* Begin a new request: items that the last one used may be evicted, and the limit is enforced. */
void nsc_cache_begin(struct nsc_cache *c);
/* Find the item with a key, or return NULL. */
void *nsc_cache_find(struct nsc_cache *c, const struct nsc_cache_key *key);
/* Add an item whose key and bytes are set and whose key is not in the cache; the cache takes
 * ownership. */
void nsc_cache_add(struct nsc_cache *c, struct nsc_cache_item *item);
/* Total size of all items in bytes. */
size_t nsc_cache_bytes(const struct nsc_cache *c);

#endif
