/* kinds.c - section kinds of a map, and memory of the model. See dex_state.h. */
#include <errno.h>
#include <stdalign.h>
#include <stdlib.h>

#include "android/dex/dex_state.h"

const struct nsc_dex_section_kind nsc_dex_section_kinds[NSC_DEX_KINDS] = {
    [NSC_DEX_HEADER] = {0x0000, 4, 112, "header"},
    [NSC_DEX_STRING_IDS] = {0x0001, 4, 4, "string_ids"},
    [NSC_DEX_TYPE_IDS] = {0x0002, 4, 4, "type_ids"},
    [NSC_DEX_PROTO_IDS] = {0x0003, 4, 12, "proto_ids"},
    [NSC_DEX_FIELD_IDS] = {0x0004, 4, 8, "field_ids"},
    [NSC_DEX_METHOD_IDS] = {0x0005, 4, 8, "method_ids"},
    [NSC_DEX_CLASS_DEFS] = {0x0006, 4, 32, "class_defs"},
    [NSC_DEX_CALL_SITE_IDS] = {0x0007, 4, 4, "call_site_ids"},
    [NSC_DEX_HANDLES] = {0x0008, 4, 8, "method_handles"},
    [NSC_DEX_DEBUGS] = {0x2003, 1, 3, "debug_info"},
    [NSC_DEX_CODES] = {0x2001, 4, 16, "code"},
    [NSC_DEX_ANNOTATIONS] = {0x2004, 1, 3, "annotations"},
    [NSC_DEX_SETS] = {0x1003, 4, 4, "annotation sets"},
    [NSC_DEX_SET_LISTS] = {0x1002, 4, 4, "annotation set lists"},
    [NSC_DEX_DIRECTORIES] = {0x2006, 4, 16, "annotations directories"},
    [NSC_DEX_LISTS] = {0x1001, 4, 4, "type lists"},
    [NSC_DEX_ARRAYS] = {0x2005, 1, 1, "encoded arrays"},
    [NSC_DEX_STRING_DATA] = {0x2002, 1, 2, "string data"},
    [NSC_DEX_CLASS_DATA] = {0x2000, 1, 4, "class data"},
    [NSC_DEX_HIDDEN] = {0xf000, 4, 4, "hidden API flags"},
    [NSC_DEX_MAP] = {0x1000, 4, 4, "map"},
};

/* A chunk of memory from which allocations are made. */
struct nsc_dex_arena {
    struct nsc_dex_arena *next;
    size_t used, room;
    alignas(16) uint8_t data[];
};

#define CHUNK_BYTES ((size_t)64 * 1024)

void *nsc_dex_alloc(struct nsc_dex *dex, size_t bytes)
{
    struct nsc_dex_arena *chunk = dex->own->chunks;
    size_t room;

    bytes = (bytes + 15) & ~(size_t)15;
    if (chunk == NULL || chunk->room - chunk->used < bytes) {
        room = bytes > CHUNK_BYTES / 4 ? bytes : CHUNK_BYTES;
        chunk = malloc(sizeof *chunk + room);
        if (chunk == NULL)
            return NULL;
        chunk->used = 0;
        chunk->room = room;
        chunk->next = dex->own->chunks;
        dex->own->chunks = chunk;
        /* A large allocation must not replace the chunk that small ones are made from. */
        if (bytes > CHUNK_BYTES / 4 && chunk->next != NULL) {
            dex->own->chunks = chunk->next;
            chunk->next = dex->own->chunks->next;
            dex->own->chunks->next = chunk;
        }
    }
    chunk->used += bytes;
    return chunk->data + chunk->used - bytes;
}

void *nsc_dex_copy(struct nsc_dex *dex, const void *data, size_t bytes)
{
    void *copy = nsc_dex_alloc(dex, bytes != 0 ? bytes : 1);

    if (copy != NULL && bytes != 0)
        memcpy(copy, data, bytes);
    return copy;
}

struct nsc_dex *nsc_dex_empty(void)
{
    struct nsc_dex *dex = calloc(1, sizeof *dex);

    if (dex == NULL)
        return NULL;
    dex->own = calloc(1, sizeof *dex->own);
    if (dex->own == NULL) {
        free(dex);
        return NULL;
    }
    return dex;
}

void nsc_dex_free(struct nsc_dex *dex)
{
    if (dex == NULL)
        return;
    for (struct nsc_dex_arena *chunk = dex->own->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (int i = 0; i < NSC_DEX_TABLES; i++)
        free(dex->own->tails[i].order);
    free(dex->own->debug_slots);
    free(dex->own);
    free(dex->strings);
    free(dex->types);
    free(dex->protos);
    free(dex->fields);
    free(dex->methods);
    free(dex->classes);
    free(dex->call_sites);
    free(dex->handles);
    free(dex->lists);
    free(dex->set_lists);
    free(dex->sets);
    free(dex->annotations);
    free(dex->directories);
    free(dex->class_data);
    free(dex->codes);
    free(dex->debugs);
    free(dex->arrays);
    free(dex);
}

uint32_t nsc_dex_count(const struct nsc_dex *dex, enum nsc_dex_table table)
{
    const uint32_t counts[NSC_DEX_TABLES] = {dex->string_count, dex->type_count, dex->proto_count,
                                             dex->field_count, dex->method_count};

    return counts[table];
}
