/*
 * hash.c - see hash.h.
 * Source: Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012).
 */
#include "util/hash.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "util/now.h"

uint64_t nsc_hash_seed(void)
{
    static _Atomic uint64_t seed;
    uint64_t known = atomic_load(&seed), made;

    if (known != 0)
        return known;
    /* Fallback: load address (ASLR) and time, which the author of a file cannot know. */
    if (getentropy(&made, sizeof made) != 0)
        made = nsc_hash_word((uint64_t)(uintptr_t)&seed, nsc_now_ns());
    made += made == 0;
    return atomic_compare_exchange_strong(&seed, &known, made) ? made : known;
}

static uint64_t turn(uint64_t v, unsigned bits)
{
    return v << bits | v >> (64 - bits);
}

static void mix(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = turn(v[3], 21) ^ v[0];
    v[1] = turn(v[1], 17) ^ v[2];
    v[2] = turn(v[2], 32);
}

static void take(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
}

uint64_t nsc_hash_bytes(uint64_t seed, const void *bytes, size_t count)
{
    uint64_t other = nsc_hash_word(seed, 1), word = 0; /* the second half of the key */
    uint64_t v[4] = {seed ^ 0x736f6d6570736575u, other ^ 0x646f72616e646f6du,
                     seed ^ 0x6c7967656e657261u, other ^ 0x7465646279746573u};
    const char *at = bytes;
    size_t left = count;

    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        take(v, word);
    }
    word = 0;
    if (left > 0)
        memcpy(&word, at, left);
    take(v, word ^ (uint64_t)count << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        mix(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
