/*
 * index_maps.h - maps from old to new indices of a DEX file's tables, for code and debug
 * information, after the tables have been sorted again.
 */
#ifndef NSC_ANDROID_BYTECODE_INDEX_MAPS_H
#define NSC_ANDROID_BYTECODE_INDEX_MAPS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_DEX_NONE UINT32_MAX

/* New index by old index; NULL: unchanged. The order is kept: a < b means map[a] < map[b]. */
struct nsc_dex_maps {
    const uint32_t *strings, *types, *protos, *fields, *methods;
    /* Sizes of the old tables; an index at or beyond them is invalid. */
    uint32_t string_count, type_count, proto_count, field_count, method_count;
};

/* Replace an old index by the new one; @map NULL: unchanged. Returns 0 or -EBADMSG. */
static inline int nsc_dex_map(const uint32_t *map, uint32_t count, uint32_t *index)
{
    if (map == NULL)
        return 0;
    if (*index >= count)
        return -EBADMSG;
    *index = map[*index];
    return 0;
}

#endif
