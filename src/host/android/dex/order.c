/* order.c - compare strings, prototypes, fields and methods by the format's sort order. */
#include "android/dex/dex_state.h"

/* The UTF-16 code units of a character, the first in the upper half. Invalid bytes count as
 * themselves. */
static uint32_t units_at(const uint8_t *at)
{
    unsigned more = at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : at[0] < 0xf8 ? 3 : 0;
    uint32_t c = more == 0 ? at[0] : at[0] & (0x3fu >> more);

    for (unsigned i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return (uint32_t)at[0] << 16;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (c < 0x10000)
        return c << 16;
    c -= 0x10000;
    return (0xd800 + (c >> 10)) << 16 | (0xdc00 + (c & 0x3ff));
}

int nsc_dex_compare_text(const uint8_t *a, const uint8_t *b)
{
    size_t same = 0, start;
    uint32_t x, y;

    while (a[same] == b[same] && a[same] != 0)
        same++;
    if (a[same] == b[same])
        return 0;
    if (a[same] == 0 || b[same] == 0)
        return a[same] == 0 ? -1 : 1;
    if (a[same] < 0x80 && b[same] < 0x80)
        return a[same] < b[same] ? -1 : 1;
    /* Go back to the start of the first differing character. */
    start = same;
    while (start > 0 && same - start < 3 &&
           ((a[start] & 0xc0) == 0x80 || (b[start] & 0xc0) == 0x80))
        start--;
    x = units_at(a + start);
    y = units_at(b + start);
    if (x != y)
        return x < y ? -1 : 1;
    return a[same] < b[same] ? -1 : 1;
}

uint32_t nsc_dex_count_units(const uint8_t *text)
{
    uint32_t units = 0;

    /* A character of four bytes takes two code units. */
    for (; *text != 0; text++)
        units += (*text & 0xc0) != 0x80 ? 1u + (*text >= 0xf0) : 0u;
    return units;
}

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

int nsc_dex_compare_lists(const struct nsc_dex_list *a, const struct nsc_dex_list *b)
{
    for (uint32_t i = 0; i < a->count && i < b->count; i++)
        if (a->items[i] != b->items[i])
            return compare(a->items[i], b->items[i]);
    return compare(a->count, b->count);
}

int nsc_dex_compare_protos(const struct nsc_dex *dex, const struct nsc_dex_proto *a,
                           const struct nsc_dex_proto *b)
{
    static const struct nsc_dex_list none = {NULL, 0};

    if (a->returns != b->returns)
        return compare(a->returns, b->returns);
    return nsc_dex_compare_lists(a->parameters == NSC_DEX_NONE ? &none : &dex->lists[a->parameters],
                                 b->parameters == NSC_DEX_NONE ? &none
                                                               : &dex->lists[b->parameters]);
}

int nsc_dex_compare_fields(const struct nsc_dex_field *a, const struct nsc_dex_field *b)
{
    if (a->holder != b->holder)
        return compare(a->holder, b->holder);
    if (a->name != b->name)
        return compare(a->name, b->name);
    return compare(a->type, b->type);
}

int nsc_dex_compare_methods(const struct nsc_dex_method *a, const struct nsc_dex_method *b)
{
    if (a->holder != b->holder)
        return compare(a->holder, b->holder);
    if (a->name != b->name)
        return compare(a->name, b->name);
    return compare(a->proto, b->proto);
}
