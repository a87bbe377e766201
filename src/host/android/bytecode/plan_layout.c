/*
 * plan_layout.c - assign addresses to the items of a plan, choose branch sizes, write the code. See
 * plan.h.
 */
#include "android/bytecode/plan.h"

/* Passes that grow only branches that are too small; later ones grow all. Each pass is linear. */
#define EXACT_PASSES 20

uint32_t nsc_dex_label_unit(const struct nsc_dex_plan *plan, uint32_t label)
{
    uint32_t item = plan->label[label];

    return item < plan->item_count ? plan->items[item].addr : plan->size;
}

static bool is_payload(const struct nsc_dex_item *item)
{
    return item->form == NSC_DEX_TABLE || item->form == NSC_DEX_DATA;
}

/* Assign addresses. Returns false if they exceed the range of branch offsets. */
static bool place(struct nsc_dex_plan *plan)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < plan->item_count; i++) {
        struct nsc_dex_item *item = &plan->items[i];

        if (is_payload(item))
            at += at & 1;
        item->addr = (uint32_t)at;
        at += item->units;
        if (at > INT32_MAX)
            return false;
    }
    plan->size = (uint32_t)at;
    return true;
}

/* Size in units of a branch with offset @distance. */
static uint32_t branch_units(uint8_t form, int64_t distance)
{
    if (form == NSC_DEX_IF)
        return distance >= INT16_MIN && distance <= INT16_MAX ? 2 : 5;
    if (distance == 0)
        return 3; /* only goto/32 may have offset 0 */
    if (distance >= INT8_MIN && distance <= INT8_MAX)
        return 1;
    return distance >= INT16_MIN && distance <= INT16_MAX ? 2 : 3;
}

/* Grow branches that are too small, or all. Returns false if none has grown. */
static bool grow(struct nsc_dex_plan *plan, bool all)
{
    bool grown = false;

    for (uint32_t i = 0; i < plan->item_count; i++) {
        struct nsc_dex_item *item = &plan->items[i];
        uint32_t units;

        if (item->form != NSC_DEX_JUMP && item->form != NSC_DEX_IF)
            continue;
        units =
            branch_units(item->form, (int64_t)nsc_dex_label_unit(plan, item->target) - item->addr);
        if (all)
            units = item->form == NSC_DEX_IF ? 5 : 3;
        if (units > item->units) {
            item->units = units;
            grown = true;
        }
    }
    return grown;
}

bool nsc_dex_layout(struct nsc_dex_plan *plan)
{
    for (unsigned pass = 0;; pass++) {
        if (!place(plan))
            return false;
        if (!grow(plan, pass >= EXACT_PASSES && pass % 2 == 0))
            return true;
    }
}

/* ---- emit -------------------------------------------------------------------------------------
 */

static void emit_jump(uint16_t *to, uint32_t units, int32_t distance)
{
    if (units == 1) {
        to[0] = (uint16_t)(NSC_OP_GOTO | (distance & 0xff) << 8);
    } else if (units == 2) {
        to[0] = NSC_OP_GOTO_16;
        to[1] = (uint16_t)distance;
    } else {
        to[0] = NSC_OP_GOTO_32;
        nsc_dex_set_units32(to + 1, (uint32_t)distance);
    }
}

static void emit_if(uint16_t *to, const uint16_t *from, uint32_t units, int32_t distance)
{
    to[0] = from[0];
    to[1] = (uint16_t)distance;
    if (units == 2)
        return;
    to[0] ^= 1; /* the opcodes of a test and its inverse differ in bit 0 */
    to[1] = 5;
    emit_jump(to + 2, 3, distance - 2);
}

static void emit_table(const struct nsc_dex_plan *plan, const struct nsc_dex_item *item,
                       uint16_t *to)
{
    const struct nsc_dex_item *owner = &plan->items[item->target];
    uint32_t first, count = nsc_dex_switch_targets(to, &first);

    for (uint32_t i = 0; i < count; i++) {
        uint16_t *at = to + first + 2 * i;
        uint32_t label = plan->scan.index[owner->source + nsc_dex_units32(at)];

        nsc_dex_set_units32(at, nsc_dex_label_unit(plan, label) - owner->addr);
    }
}

static void emit_item(const struct nsc_dex_plan *plan, const struct nsc_dex_item *item,
                      uint16_t *to)
{
    const uint16_t *from = (item->source & NSC_DEX_FRESH) != 0
                               ? plan->fresh + (item->source & ~NSC_DEX_FRESH)
                               : plan->code->insns + item->source;
    int32_t distance = 0;

    if (item->form == NSC_DEX_JUMP || item->form == NSC_DEX_IF || item->form == NSC_DEX_POINTER)
        distance = (int32_t)(nsc_dex_label_unit(plan, item->target) - item->addr);
    switch (item->form) {
    case NSC_DEX_JUMP:
        emit_jump(to, item->units, distance);
        break;
    case NSC_DEX_IF:
        emit_if(to, from, item->units, distance);
        break;
    default:
        memcpy(to, from, item->units * sizeof *to);
        if (item->form == NSC_DEX_POINTER)
            nsc_dex_set_units32(to + 1, (uint32_t)distance);
        if (item->form == NSC_DEX_TABLE)
            emit_table(plan, item, to);
        break;
    }
}

uint16_t *nsc_dex_emit(const struct nsc_dex_plan *plan)
{
    uint16_t *insns = calloc((size_t)plan->size + 1, sizeof *insns);

    for (uint32_t i = 0; i < plan->item_count && insns != NULL; i++)
        emit_item(plan, &plan->items[i], insns + plan->items[i].addr);
    return insns;
}
