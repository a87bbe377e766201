/* code_table.c - see code_table.h. */
#include "record/modules/code_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/write/lane.h"

enum { FIRST_BITS = 8, MAX_BITS = 20, SPARSE = 8 };

static void empty(struct nsc_code *slots, size_t count)
{
    while (count-- > 0)
        slots[count].address = NSC_CODES_EMPTY;
}

static size_t slot_count(const struct nsc_codes *codes)
{
    return (size_t)1 << (64 - codes->shift);
}

int nsc_codes_init(struct nsc_codes *codes, uint64_t *spare_slots)
{
    codes->spare_slots = spare_slots;
    codes->shift = 64 - FIRST_BITS;
    codes->slots = calloc(slot_count(codes), sizeof *codes->slots);
    if (codes->slots == NULL)
        return -ENOMEM;
    empty(codes->slots, slot_count(codes));
    codes->count = 0;
    codes->since_ticks = 0;
    codes->until_ticks = UINT64_MAX;
    return 0;
}

/* Replaces the slots by @slots. The caller moves the entries. */
static void replace(struct nsc_codes *codes, struct nsc_code *slots, uint32_t shift)
{
    size_t before = slot_count(codes);

    free(codes->slots);
    codes->slots = slots;
    codes->shift = shift;
    if (codes->spare_slots != NULL)
        *codes->spare_slots += before - slot_count(codes); /* may wrap around; the sum is modular */
}

void nsc_codes_free(struct nsc_codes *codes)
{
    if (codes->slots != NULL)
        replace(codes, NULL, 64 - FIRST_BITS);
}

/* Replaces a table that is far too large by a small one, so that clearing costs no more than
 * filling did. */
void nsc_codes_clear(struct nsc_codes *codes)
{
    struct nsc_code *first = NULL;

    if (codes->count < slot_count(codes) / (8 * SPARSE) && codes->shift < 64 - FIRST_BITS)
        first = calloc((size_t)1 << FIRST_BITS, sizeof *first);
    if (first != NULL)
        replace(codes, first, 64 - FIRST_BITS);
    empty(codes->slots, slot_count(codes));
    codes->count = 0;
}

/* Returns the slot of @address, or the free slot for it. */
static size_t find(const struct nsc_code *slots, uint32_t shift, uint64_t address)
{
    size_t mask = ((size_t)1 << (64 - shift)) - 1, i = nsc_codes_slot(shift, address);

    while (slots[i].address != NSC_CODES_EMPTY && slots[i].address != address)
        i = (i + 1) & mask;
    return i;
}

const struct nsc_code *nsc_codes_probe(const struct nsc_code *slots, uint32_t shift,
                                       uint64_t address)
{
    const struct nsc_code *code = &slots[find(slots, shift, address)];

    return code->address == address ? code : NULL;
}

/* True if the table may double its slots. */
static bool may_grow(const struct nsc_codes *codes)
{
    return codes->shift > 64 - MAX_BITS &&
           (codes->spare_slots == NULL || *codes->spare_slots >= slot_count(codes));
}

/* Grows the table if 1/8 of its slots is in use. A table that cannot grow is cleared when it is
 * half full: it is only a cache, and becomes slower. */
static void make_room(struct nsc_codes *codes)
{
    struct nsc_codes bigger = {.shift = codes->shift - 1};
    size_t i;

    if (codes->count < slot_count(codes) / SPARSE)
        return;
    if (may_grow(codes))
        bigger.slots = calloc(slot_count(&bigger), sizeof *bigger.slots);
    if (bigger.slots == NULL) {
        if (codes->count >= slot_count(codes) / 2)
            nsc_codes_clear(codes);
        return;
    }
    empty(bigger.slots, slot_count(&bigger));
    for (i = 0; i < slot_count(codes); i++)
        if (codes->slots[i].address != NSC_CODES_EMPTY)
            bigger.slots[find(bigger.slots, bigger.shift, codes->slots[i].address)] =
                codes->slots[i];
    replace(codes, bigger.slots, bigger.shift);
}

struct nsc_code nsc_codes_miss(struct nsc_codes *codes, uint64_t address, uint64_t ticks)
{
    struct nsc_code code, *known;

    if (ticks == UINT64_MAX) /* a damaged timestamp; no table is valid for it */
        ticks--;
    if (nsc_codes_hold(codes, ticks)) {
        known = &codes->slots[find(codes->slots, codes->shift, address)];
        if (known->address == address)
            return *known;
    }
    codes->resolve(codes->context, address, ticks, &code);
    code.address = address;
    code.coded = nsc_lane_code_function(code.function);
    make_room(codes);
    known = &codes->slots[find(codes->slots, codes->shift, address)];
    codes->count += known->address == NSC_CODES_EMPTY;
    *known = code;
    return code;
}
