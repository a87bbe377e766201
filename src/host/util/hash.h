/*
 * hash.h - hashes of keys that somebody else chose. Used by tables of all rooms of the host world.
 *
 * Each run has a seed of its own: a file cannot be made so that its keys meet in one slot. What a
 * table's order depends on must therefore not be seen in any output.
 */
#ifndef NSC_UTIL_HASH_H
#define NSC_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The seed of this process, never 0. Context: any thread. */
uint64_t nsc_hash_seed(void);

/* Of a number. All bits of the result are of use. */
static inline uint64_t nsc_hash_word(uint64_t seed, uint64_t key)
{
    uint64_t h = (key ^ seed) * 0x9e3779b97f4a7c15u;

    h = (h ^ h >> 32) * (seed * 0xd6e8feb86659fd93u | 1);
    return h ^ h >> 32;
}

/* Of bytes: SipHash-1-3, which also holds where two texts are made for one another. */
uint64_t nsc_hash_bytes(uint64_t seed, const void *bytes, size_t count);

#endif
