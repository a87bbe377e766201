/* utf.c - see utf.h. */
#include "android/axml/utf.h"

#define HIGH_FIRST 0xd800u
#define LOW_FIRST  0xdc00u
#define LOW_LAST   0xdfffu

static bool is_high(uint32_t unit)
{
    return unit >= HIGH_FIRST && unit < LOW_FIRST;
}

static bool is_low(uint32_t unit)
{
    return unit >= LOW_FIRST && unit <= LOW_LAST;
}

/* Decode one UTF-8 sequence, which may be half of a surrogate pair. Invalid: one byte is consumed
 * as NSC_UTF_BAD. */
static uint32_t sequence(struct nsc_utf *l)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint8_t first = *l->at;
    unsigned more = first < 0x80 ? 0 : first < 0xc0 ? 9 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    uint32_t letter = more == 0 ? first : first & (0x3fu >> more);

    if (more > 3 || first > 0xf4 || (size_t)(l->end - l->at) <= more) {
        l->at++;
        return NSC_UTF_BAD;
    }
    for (unsigned i = 1; i <= more; i++) {
        if ((l->at[i] & 0xc0) != 0x80) {
            l->at++;
            return NSC_UTF_BAD;
        }
        letter = letter << 6 | (l->at[i] & 0x3fu);
    }
    if (letter < least[more] || letter > 0x10ffff) {
        l->at++;
        return NSC_UTF_BAD;
    }
    l->at += more + 1;
    return letter;
}

static uint32_t unit(struct nsc_utf *l)
{
    uint32_t u;

    if (l->is_utf8)
        return sequence(l);
    if (l->end - l->at < 2) {
        l->at = l->end;
        return NSC_UTF_BAD;
    }
    u = (uint32_t)(l->at[0] | l->at[1] << 8);
    l->at += 2;
    return u;
}

uint32_t nsc_utf_next(struct nsc_utf *l)
{
    uint32_t letter = unit(l), low;
    struct nsc_utf ahead = *l;

    if (letter == 0 || is_low(letter))
        return NSC_UTF_BAD;
    if (!is_high(letter))
        return letter;
    if (ahead.at >= ahead.end)
        return NSC_UTF_BAD;
    low = unit(&ahead);
    if (!is_low(low))
        return NSC_UTF_BAD;
    *l = ahead;
    return 0x10000 + ((letter - HIGH_FIRST) << 10) + (low - LOW_FIRST);
}

unsigned nsc_utf_put8(uint8_t out[4], uint32_t letter)
{
    unsigned more = letter < 0x80 ? 0 : letter < 0x800 ? 1 : letter < 0x10000 ? 2 : 3;
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};

    for (unsigned i = more; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (letter & 0x3f));
        letter >>= 6;
    }
    out[0] = (uint8_t)(first[more] | letter);
    return more + 1;
}
