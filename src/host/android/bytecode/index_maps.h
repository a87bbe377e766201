/*
 * index_maps.h - indices of a DEX file's tables, as code and debug information have them, and what
 * becomes of them when the tables are sorted anew.
 */
#ifndef NSC_ANDROID_BYTECODE_INDEX_MAPS_H
#define NSC_ANDROID_BYTECODE_INDEX_MAPS_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_DEX_NONE UINT32_MAX

/* New index by old one; NULL: none has changed. Order is kept: a < b means map[a] < map[b]. */
struct nsc_dex_maps {
    const uint32_t *strings, *types, *protos, *fields, *methods;
    /* Elements of the old tables; an index at or beyond is a broken file's. */
    uint32_t string_count, type_count, proto_count, field_count, method_count;
};

/* A new index for an old one: 0 or -EBADMSG. @map NULL: the same. */
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
