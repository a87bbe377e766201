/*
 * axml_state.h - internals shared by the files of axml/. Private to axml/.
 */
#ifndef NSC_ANDROID_AXML_AXML_STATE_H
#define NSC_ANDROID_AXML_AXML_STATE_H

#include "android/axml/axml.h"

#define NSC_AXML_ELEMENT_BYTES 20u /* fixed fields after the header of an element's start */
#define NSC_AXML_ATTR_BYTES    20u
#define NSC_AXML_POOL_BYTES    28u /* header of a pool */

#define NSC_AXML_SORTED 0x001u /* flags of a pool */
#define NSC_AXML_UTF8   0x100u

static inline uint16_t nsc_axml_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline void nsc_axml_put16(uint8_t *at, uint16_t v)
{
    at[0] = (uint8_t)v;
    at[1] = (uint8_t)(v >> 8);
}

/* Read a pool of @bytes bytes (at least its chunk's header); releases the old contents of @pool.
 * @at: its offset in the file, for @diag. Returns 0, -EBADMSG or -ENOMEM. */
int nsc_axml_pool_read(struct nsc_axml_pool *pool, const uint8_t *was, uint32_t bytes, size_t at,
                       struct nsc_diag *diag);
void nsc_axml_pool_free(struct nsc_axml_pool *pool);
/* Append the pool as a chunk. Returns 0, -EFBIG or -ENOMEM. */
int nsc_axml_pool_write(const struct nsc_axml_pool *pool, struct nsc_buffer *out);

/**
 * nsc_axml_pool_insert - insert a string before the one at @index (or after the last).
 * Updates string indices in styles; the caller must update those in nodes.
 * Returns 0, -EFBIG (too long for the encoding, or the pool too large), -EINVAL (malformed styles)
 * or -ENOMEM.
 */
int nsc_axml_pool_insert(struct nsc_axml_pool *pool, uint32_t index, const char *text);

bool nsc_axml_pool_text(const struct nsc_axml_pool *pool, uint32_t index, struct nsc_buffer *out);
bool nsc_axml_pool_is(const struct nsc_axml_pool *pool, uint32_t index, const char *text);

#endif
