/* cache.c - see cache.h. A hash table with chaining, and a list in order of use. */
#include "viewer/engine/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4096u /* a power of two */

struct nsc_cache {
    size_t bytes, max_bytes;
    uint64_t now; /* number of requests so far */
    struct nsc_cache_item *oldest, *newest;
    struct nsc_cache_item *slots[SLOTS];
};

int nsc_cache_new(size_t max_bytes, struct nsc_cache **out)
{
    struct nsc_cache *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return -ENOMEM;
    c->max_bytes = max_bytes;
    *out = c;
    return 0;
}

void nsc_cache_free(struct nsc_cache *c)
{
    if (c == NULL)
        return;
    while (c->oldest != NULL) {
        struct nsc_cache_item *next = c->oldest->newer;

        free(c->oldest);
        c->oldest = next;
    }
    free(c);
}

static struct nsc_cache_item **slot_of(struct nsc_cache *c, const struct nsc_cache_key *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key->trace;

    h = (h ^ ((uint64_t)key->thread << 32 | key->kind)) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ key->place) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ key->form) * 0x9e3779b97f4a7c15u;
    return &c->slots[h >> 40 & (SLOTS - 1)];
}

static int is_same(const struct nsc_cache_key *a, const struct nsc_cache_key *b)
{
    return a->trace == b->trace && a->kind == b->kind && a->thread == b->thread &&
           a->place == b->place && a->form == b->form;
}

static void unlink_item(struct nsc_cache *c, struct nsc_cache_item *item)
{
    if (item->older != NULL)
        item->older->newer = item->newer;
    else
        c->oldest = item->newer;
    if (item->newer != NULL)
        item->newer->older = item->older;
    else
        c->newest = item->older;
}

static void link_newest(struct nsc_cache *c, struct nsc_cache_item *item)
{
    item->used = c->now;
    item->older = c->newest;
    item->newer = NULL;
    if (c->newest != NULL)
        c->newest->newer = item;
    else
        c->oldest = item;
    c->newest = item;
}

static void drop_oldest(struct nsc_cache *c)
{
    struct nsc_cache_item *item = c->oldest, **at = slot_of(c, &item->key);

    while (*at != item)
        at = &(*at)->same_slot;
    *at = item->same_slot;
    c->oldest = item->newer;
    if (item->newer != NULL)
        item->newer->older = NULL;
    else
        c->newest = NULL;
    c->bytes -= item->bytes;
    free(item);
}

/* Evict old items until the limit holds, or only items in use are left. */
static void trim(struct nsc_cache *c)
{
    while (c->bytes > c->max_bytes && c->oldest != NULL && c->oldest->used != c->now)
        drop_oldest(c);
}

void nsc_cache_begin(struct nsc_cache *c)
{
    c->now++;
    trim(c);
}

void *nsc_cache_find(struct nsc_cache *c, const struct nsc_cache_key *key)
{
    struct nsc_cache_item *item = *slot_of(c, key);

    while (item != NULL && !is_same(&item->key, key))
        item = item->same_slot;
    if (item == NULL)
        return NULL;
    unlink_item(c, item);
    link_newest(c, item);
    return item;
}

void nsc_cache_add(struct nsc_cache *c, struct nsc_cache_item *item)
{
    struct nsc_cache_item **slot = slot_of(c, &item->key);

    item->same_slot = *slot;
    *slot = item;
    link_newest(c, item);
    c->bytes += item->bytes;
    trim(c);
}

size_t nsc_cache_bytes(const struct nsc_cache *c)
{
    return c->bytes;
}
