/* arena.c - see arena.h. */
#include "trace/format/arena.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)

struct nsc_arena_block {
    struct nsc_arena_block *next;
    size_t bytes;
    char data[];
};

const char *nsc_arena_text(struct nsc_arena *arena, const void *text, size_t bytes)
{
    char *at;

    if (bytes == 0)
        return "";
    if (arena->left <= bytes) {
        size_t room = bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes + 1;
        struct nsc_arena_block *block = malloc(sizeof *block + room);

        if (block == NULL)
            return NULL;
        block->next = arena->blocks;
        block->bytes = room;
        arena->blocks = block;
        arena->left = room;
    }
    at = arena->blocks->data + (arena->blocks->bytes - arena->left);
    memcpy(at, text, bytes);
    at[bytes] = '\0';
    arena->left -= bytes + 1;
    return at;
}

void nsc_arena_free(struct nsc_arena *arena)
{
    while (arena->blocks != NULL) {
        struct nsc_arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    arena->left = 0;
}
