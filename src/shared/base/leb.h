/*
 * leb.h - unsigned LEB128 numbers: 7 bits a byte, low bits first, high bit set if more follow.
 *
 * Used by trace/ and util/ (buffers, protobuf). Does not allocate; every error is returned.
 */
#ifndef NSC_BASE_LEB_H
#define NSC_BASE_LEB_H

#include <stddef.h>
#include <stdint.h>

#define NSC_LEB_MAX 10 /* bytes that a 64-bit value can take */

/* Write @v at @at, which needs room for NSC_LEB_MAX bytes. Returns the address after it. */
static inline uint8_t *nsc_leb_put(uint8_t *at, uint64_t v)
{
    while (v >= 0x80) {
        *at++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *at++ = (uint8_t)v;
    return at;
}

/* Read a number from [at, end) into @v. Returns the address after it, or NULL if the number is
 * truncated or exceeds 64 bits. */
static inline const uint8_t *nsc_leb_get(const uint8_t *at, const uint8_t *end, uint64_t *v)
{
    uint64_t value = 0;
    unsigned shift;

    for (shift = 0; at < end && shift < 70; shift += 7) {
        uint8_t byte = *at++;

        if (shift == 63 && byte > 1)
            return NULL;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *v = value;
            return at;
        }
    }
    return NULL;
}

#endif
