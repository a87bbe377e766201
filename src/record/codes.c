/* codes.c - see codes.h. */
#include "record/codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/encode.h"

enum { FIRST_BITS = 10, MAX_BITS = 22 };

int nsc_codes_init(struct nsc_codes *codes)
{
    struct nsc_code *slots = calloc((size_t)1 << FIRST_BITS, sizeof *slots);

    if (slots == NULL)
        return -ENOMEM;
    codes->slots = slots;
    codes->bits = FIRST_BITS;
    codes->count = 0;
    codes->since_ticks = 0;
    codes->until_ticks = UINT64_MAX;
    return 0;
}

void nsc_codes_free(struct nsc_codes *codes)
{
    free(codes->slots);
    codes->slots = NULL;
}

void nsc_codes_clear(struct nsc_codes *codes)
{
    memset(codes->slots, 0, sizeof *codes->slots << codes->bits);
    codes->count = 0;
}

static void insert(struct nsc_code *slots, uint32_t bits, const struct nsc_code *code)
{
    uint32_t mask = (1u << bits) - 1;
    size_t i = nsc_codes_slot(bits, code->address);

    while (slots[i].address != 0)
        i = (i + 1) & mask;
    slots[i] = *code;
}

/* A table that cannot grow is emptied instead: it is a cache, only slower for it. */
static void make_room(struct nsc_codes *codes)
{
    uint32_t bits = codes->bits + 1, i;
    struct nsc_code *slots = NULL;

    if (codes->count < 1u << (codes->bits - 1))
        return;
    if (bits <= MAX_BITS)
        slots = calloc((size_t)1 << bits, sizeof *slots);
    if (slots == NULL) {
        nsc_codes_clear(codes);
        return;
    }
    for (i = 0; i < 1u << codes->bits; i++)
        if (codes->slots[i].address != 0)
            insert(slots, bits, &codes->slots[i]);
    free(codes->slots);
    codes->slots = slots;
    codes->bits = bits;
}

struct nsc_code nsc_codes_miss(struct nsc_codes *codes, uint64_t address, uint64_t ticks)
{
    struct nsc_code code;

    if (ticks == UINT64_MAX) /* a damaged time stamp, and no table ever holds for it */
        ticks--;
    if (nsc_codes_hold(codes, ticks)) {
        uint32_t mask = (1u << codes->bits) - 1;
        size_t i = nsc_codes_slot(codes->bits, address);

        for (; codes->slots[i].address != 0; i = (i + 1) & mask)
            if (codes->slots[i].address == address)
                return codes->slots[i];
    }
    codes->resolve(codes->context, address, ticks, &code);
    code.address = address;
    code.coded = nsc_lane_code_function(code.function);
    make_room(codes);
    insert(codes->slots, codes->bits, &code);
    codes->count++;
    return code;
}
