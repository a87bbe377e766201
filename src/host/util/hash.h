/*
 * hash.h - seeded hashes of untrusted keys. Used by hash tables of all rooms of the host world.
 *
 * Each process has its own random seed, so that no input file can be crafted to make its keys
 * collide. The order of a table's slots differs between runs and must not show in any output.
 */
#ifndef NSC_UTIL_HASH_H
#define NSC_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Return the seed of this process, never 0. Context: any thread. */
uint64_t nsc_hash_seed(void);

/* Hash a number. All bits of the result are usable. */
static inline uint64_t nsc_hash_word(uint64_t seed, uint64_t key)
{
    uint64_t h = (key ^ seed) * 0x9e3779b97f4a7c15u;

    h = (h ^ h >> 32) * (seed * 0xd6e8feb86659fd93u | 1);
    return h ^ h >> 32;
}

/* Hash @count bytes with SipHash-1-3, which resists crafted collisions. */
uint64_t nsc_hash_bytes(uint64_t seed, const void *bytes, size_t count);

#endif
