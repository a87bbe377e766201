/*
 * arena.h - memory for the strings and tables of a trace, freed all at once.
 *
 * Used inside trace/ only.
 */
#ifndef NSC_TRACE_FORMAT_ARENA_H
#define NSC_TRACE_FORMAT_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct nsc_arena_block;

struct nsc_arena {
    struct nsc_arena_block *blocks;
    size_t left; /* bytes free in the newest block */
};

/* Copy @bytes bytes of @text and append a NUL. Returns the copy, or NULL if out of memory. */
const char *nsc_arena_text(struct nsc_arena *arena, const void *text, size_t bytes);
void nsc_arena_free(struct nsc_arena *arena);

#endif
