/* sha1.c - see sha1.h. Source: FIPS 180-4. */
#include "android/dex/sha1.h"

#include <pthread.h>
#include <string.h>

#include "util/os/dynlib.h"

/* ---- Ours ----------------------------------------------------------------------------------- */

static uint32_t rotate(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

/* Function and constant of a round. */
static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20)
        return ((b & c) | (~b & d)) + 0x5a827999u;
    if (round < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    if (round < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static void take_block(uint32_t state[5], const uint8_t *p)
{
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

    for (unsigned i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + w[i];

        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void nsc_sha1_plain(const void *data, size_t bytes, uint8_t out[NSC_SHA1_BYTES])
{
    uint32_t state[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    const uint8_t *p = data;
    size_t left = bytes, last;
    uint8_t tail[128] = {0};

    for (; left >= 64; left -= 64, p += 64)
        take_block(state, p);
    if (left > 0)
        memcpy(tail, p, left);
    tail[left] = 0x80;
    last = left < 56 ? 64 : 128;
    for (unsigned i = 0; i < 8; i++)
        tail[last - 1 - i] = (uint8_t)((uint64_t)bytes << 3 >> (8 * i));
    for (size_t at = 0; at < last; at += 64)
        take_block(state, tail + at);
    for (unsigned i = 0; i < NSC_SHA1_BYTES; i++)
        out[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- libcrypto's ---------------------------------------------------------------------------- */

/* As declared in openssl/evp.h, with opaque types, so that the header is not needed. */
static struct {
    int (*digest)(const void *data, size_t count, unsigned char *md, unsigned *size,
                  const void *type, void *engine);
    const void *(*sha1)(void);
} library;

static void load(void)
{
    static const char *const names[] = {"EVP_Digest", "EVP_sha1"};

    (void)nsc_dynlib_load("libcrypto.so.3", "for SHA-1", names, 2, &library, NULL);
}

void nsc_sha1(const void *data, size_t bytes, uint8_t out[NSC_SHA1_BYTES])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (library.sha1 == NULL || library.digest(data, bytes, out, NULL, library.sha1(), NULL) != 1)
        nsc_sha1_plain(data, bytes, out);
}
