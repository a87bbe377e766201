/*
 * id_map.h - hash map from 64-bit keys of an input (addresses, foreign ids) to 32-bit values. Used
 * by importers and the recorder.
 */
#ifndef NSC_UTIL_ID_MAP_H
#define NSC_UTIL_ID_MAP_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "util/hash.h"

#define NSC_ID_MAP_NEW UINT32_MAX

struct nsc_id_map_slot {
    uint64_t key;
    uint32_t value_plus_1; /* 0 = free */
};

/* Open addressing; at most half full; @slots is a power of two or 0. All zero = empty. */
struct nsc_id_map {
    struct nsc_id_map_slot *table;
    uint64_t seed; /* set when the first table is allocated */
    uint32_t slots, count;
};

static inline void nsc_id_map_free(struct nsc_id_map *map)
{
    free(map->table);
    *map = (struct nsc_id_map){0};
}

/* Return the slot of @key, or the free slot for it. The map must have slots. */
static inline struct nsc_id_map_slot *nsc_id_map_slot(const struct nsc_id_map *map, uint64_t key)
{
    uint32_t at = (uint32_t)nsc_hash_word(map->seed, key) & (map->slots - 1);

    while (map->table[at].value_plus_1 != 0 && map->table[at].key != key)
        at = (at + 1) & (map->slots - 1);
    return &map->table[at];
}

/* Return the value of @key, or NSC_ID_MAP_NEW if there is none. */
static inline uint32_t nsc_id_map_get(const struct nsc_id_map *map, uint64_t key)
{
    return map->slots == 0 ? NSC_ID_MAP_NEW : nsc_id_map_slot(map, key)->value_plus_1 - 1;
}

/* Insert or replace the value of @key; @value < UINT32_MAX. Returns 0 or -ENOMEM. */
static inline int nsc_id_map_put(struct nsc_id_map *map, uint64_t key, uint32_t value)
{
    struct nsc_id_map_slot *slot;

    if (map->count * 2 >= map->slots) {
        struct nsc_id_map bigger = {.seed = nsc_hash_seed(),
                                    .slots = map->slots == 0 ? 16 : map->slots * 2,
                                    .count = map->count};

        bigger.table = bigger.slots != 0 ? calloc(bigger.slots, sizeof *bigger.table) : NULL;
        if (bigger.table == NULL)
            return -ENOMEM;
        for (uint32_t i = 0; i < map->slots; i++)
            if (map->table[i].value_plus_1 != 0)
                *nsc_id_map_slot(&bigger, map->table[i].key) = map->table[i];
        free(map->table);
        *map = bigger;
    }
    slot = nsc_id_map_slot(map, key);
    map->count += slot->value_plus_1 == 0;
    *slot = (struct nsc_id_map_slot){key, value + 1};
    return 0;
}

/* Store the value of @key in @value; a new key is inserted with the value @next. Returns 0 or
 * -ENOMEM. */
static inline int nsc_id_map_need(struct nsc_id_map *map, uint64_t key, uint32_t next,
                                  uint32_t *value)
{
    *value = nsc_id_map_get(map, key);
    if (*value != NSC_ID_MAP_NEW)
        return 0;
    *value = next;
    return nsc_id_map_put(map, key, next);
}

#endif
