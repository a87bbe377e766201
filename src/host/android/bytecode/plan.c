/*
 * plan.c - build and finish a plan of rewritten code. See plan.h.
 */
#include "android/bytecode/plan.h"

#include "android/bytecode/debug_info.h"
#include "util/array.h"

static uint32_t *uints(uint32_t count)
{
    uint32_t *array = malloc(((size_t)count + 1) * sizeof *array);

    if (array != NULL)
        memset(array, 0xff, ((size_t)count + 1) * sizeof *array);
    return array;
}

/* The payload (as an instruction) that instruction @i points to, or NSC_DEX_NONE. */
static uint32_t payload_of(const struct nsc_dex_plan *plan, uint32_t i)
{
    const uint16_t *insn = plan->code->insns + plan->scan.at[i];

    if (nsc_dex_is_payload(insn[0]) || nsc_dex_opcode(insn[0])->format != NSC_DEX_31T)
        return NSC_DEX_NONE;
    return plan->scan.index[plan->scan.at[i] + (uint32_t)nsc_dex_insn_offset(insn, NSC_DEX_31T)];
}

static void find_owners(struct nsc_dex_plan *plan)
{
    for (uint32_t i = 0; i < plan->scan.count; i++) {
        uint32_t payload = payload_of(plan, i);

        if (payload != NSC_DEX_NONE && plan->owner[payload] == NSC_DEX_NONE)
            plan->owner[payload] = i;
    }
}

static void find_aims(struct nsc_dex_plan *plan)
{
    const struct nsc_dex_code *code = plan->code;

    for (uint32_t i = 0; i < plan->scan.count; i++) {
        uint32_t unit = plan->scan.at[i], first, count, payload;
        const struct nsc_dex_opcode *op = nsc_dex_opcode(code->insns[unit]);
        int32_t offset = nsc_dex_insn_offset(code->insns + unit, op->format);

        if (nsc_dex_is_payload(code->insns[unit]))
            continue;
        if ((op->flags & NSC_DEX_BRANCHES) != 0)
            plan->aimed[plan->scan.index[(int64_t)unit + offset]] = true;
        if ((op->flags & NSC_DEX_SWITCHES) == 0)
            continue;
        payload = (uint32_t)(unit + (int64_t)offset);
        count = nsc_dex_switch_targets(code->insns + payload, &first);
        for (uint32_t t = 0; t < count; t++)
            plan->aimed[plan->scan
                            .index[unit + nsc_dex_units32(code->insns + payload + first + 2 * t)]] =
                true;
    }
    for (uint32_t c = 0; c < code->catch_count; c++)
        plan->aimed[plan->scan.index[code->catches[c].addr]] = true;
}

static void find_base(struct nsc_dex_plan *plan)
{
    const struct nsc_dex_code *code = plan->code;
    uint32_t i = 0;

    for (uint32_t t = 0; t < code->try_count; t++) {
        uint32_t end = code->tries[t].start + code->tries[t].count;

        i = plan->scan.index[code->tries[t].start];
        for (; i < plan->scan.count && plan->scan.at[i] < end; i++)
            plan->base[i] = code->tries[t].list;
    }
}

int nsc_dex_plan_begin(struct nsc_dex_plan *plan, const struct nsc_dex_code *code)
{
    uint32_t bad, count;
    int error;

    memset(plan, 0, sizeof *plan);
    plan->code = code;
    error = nsc_dex_scan(&plan->scan, code->insns, code->size, &bad);
    if (error != 0)
        return error;
    count = plan->scan.count;
    plan->base = uints(count);
    plan->owner = uints(count);
    plan->self = uints(count);
    plan->label = uints(count);
    plan->aimed = calloc((size_t)count + 1, sizeof *plan->aimed);
    plan->label_count = plan->label_room = count;
    plan->item_room = count + 32;
    plan->items = malloc(plan->item_room * sizeof *plan->items);
    if (plan->base == NULL || plan->owner == NULL || plan->self == NULL || plan->label == NULL ||
        plan->aimed == NULL || plan->items == NULL) {
        nsc_dex_plan_free(plan);
        return -ENOMEM;
    }
    find_owners(plan);
    find_aims(plan);
    find_base(plan);
    return 0;
}

void nsc_dex_plan_free(struct nsc_dex_plan *plan)
{
    nsc_dex_scan_free(&plan->scan);
    free(plan->base);
    free(plan->owner);
    free(plan->self);
    free(plan->aimed);
    free(plan->label);
    free(plan->items);
    free(plan->made);
    free(plan->copies);
    free(plan->fresh);
    memset(plan, 0, sizeof *plan);
}

void nsc_dex_plan_mark(struct nsc_dex_plan *plan, uint32_t label)
{
    if (label < plan->label_count)
        plan->label[label] = plan->item_count;
}

uint32_t nsc_dex_plan_label(struct nsc_dex_plan *plan)
{
    uint32_t *more =
        nsc_array_grow(plan->label, &plan->label_room, plan->label_count, sizeof *more);

    if (more == NULL) {
        plan->failed = true;
        return 0;
    }
    plan->label = more;
    plan->label[plan->label_count] = NSC_DEX_NONE;
    return plan->label_count++;
}

static struct nsc_dex_item *add_item(struct nsc_dex_plan *plan)
{
    struct nsc_dex_item *more =
        nsc_array_grow(plan->items, &plan->item_room, plan->item_count, sizeof *more);

    if (more == NULL) {
        plan->failed = true;
        return NULL;
    }
    plan->items = more;
    more += plan->item_count++;
    memset(more, 0, sizeof *more);
    more->target = NSC_DEX_NONE;
    return more;
}

/* Label of the payload for instruction @i, which is item @item. Each switch after the first user of
 * a payload gets its own copy. */
static uint32_t pointer_target(struct nsc_dex_plan *plan, uint32_t i, uint32_t item)
{
    uint32_t payload = payload_of(plan, i), room;
    struct nsc_dex_copy *more;

    if (plan->owner[payload] == i ||
        plan->code->insns[plan->scan.at[payload]] == NSC_DEX_ARRAY_PAYLOAD)
        return payload;
    room = plan->copy_room;
    more = nsc_array_grow(plan->copies, &room, plan->copy_count, sizeof *more);
    if (more == NULL) {
        plan->failed = true;
        return payload;
    }
    plan->copy_room = room;
    plan->copies = more;
    more += plan->copy_count++;
    *more = (struct nsc_dex_copy){payload, item, nsc_dex_plan_label(plan)};
    return more->label;
}

void nsc_dex_plan_keep(struct nsc_dex_plan *plan, uint32_t i, uint32_t cover, bool neutral)
{
    uint32_t unit = plan->scan.at[i];
    const uint16_t *insn = plan->code->insns + unit;
    const struct nsc_dex_opcode *op = nsc_dex_opcode(insn[0]);
    struct nsc_dex_item *item = add_item(plan);

    if (item == NULL)
        return;
    plan->self[i] = plan->item_count - 1;
    item->source = unit;
    item->units = plan->scan.at[i + 1] - unit;
    item->cover = cover;
    item->neutral = neutral;
    if (nsc_dex_is_payload(insn[0])) {
        item->form = plan->owner[i] != NSC_DEX_NONE && insn[0] != NSC_DEX_ARRAY_PAYLOAD
                         ? NSC_DEX_TABLE
                         : NSC_DEX_DATA;
        item->target = plan->owner[i]; /* finish() converts it to an item */
    } else if (op->format == NSC_DEX_31T) {
        item->form = NSC_DEX_POINTER;
        item->target = pointer_target(plan, i, plan->item_count - 1);
    } else if ((op->flags & NSC_DEX_BRANCHES) != 0) {
        item->form = (op->flags & NSC_DEX_ENDS) != 0 ? NSC_DEX_JUMP : NSC_DEX_IF;
        item->target = plan->scan.index[(int64_t)unit + nsc_dex_insn_offset(insn, op->format)];
    }
}

void nsc_dex_plan_add(struct nsc_dex_plan *plan, const uint16_t *insn, uint32_t units,
                      uint32_t cover, bool neutral)
{
    struct nsc_dex_item *item = add_item(plan);
    uint32_t at = plan->fresh_used;

    if (item == NULL)
        return;
    for (uint32_t i = 0; i < units; i++) {
        uint16_t *more =
            nsc_array_grow(plan->fresh, &plan->fresh_room, plan->fresh_used, sizeof *more);

        if (more == NULL) {
            plan->failed = true;
            plan->item_count--;
            return;
        }
        plan->fresh = more;
        plan->fresh[plan->fresh_used++] = insn[i];
    }
    item->source = at | NSC_DEX_FRESH;
    item->units = units;
    item->cover = cover;
    item->neutral = neutral;
}

void nsc_dex_plan_jump(struct nsc_dex_plan *plan, uint32_t label, uint32_t cover, bool neutral)
{
    static const uint16_t jump[] = {NSC_OP_GOTO};

    nsc_dex_plan_add(plan, jump, 1, cover, neutral);
    if (plan->failed)
        return;
    plan->items[plan->item_count - 1].form = NSC_DEX_JUMP;
    plan->items[plan->item_count - 1].target = label;
}

uint32_t nsc_dex_plan_list(struct nsc_dex_plan *plan, uint32_t base, uint32_t handler)
{
    struct nsc_dex_made *more =
        nsc_array_grow(plan->made, &plan->made_room, plan->made_count, sizeof *more);

    if (more == NULL) {
        plan->failed = true;
        return NSC_DEX_NONE;
    }
    plan->made = more;
    plan->made[plan->made_count] = (struct nsc_dex_made){base, handler};
    return plan->code->list_count + plan->made_count++;
}

bool nsc_dex_plan_is_padding(const struct nsc_dex_plan *plan, uint32_t i, bool reached)
{
    const uint16_t *insns = plan->code->insns;

    return !reached && !plan->aimed[i] && insns[plan->scan.at[i]] == NSC_OP_NOP &&
           i + 1 < plan->scan.count && nsc_dex_is_payload(insns[plan->scan.at[i + 1]]);
}

/* Set the switch items of all tables, and append the copies of shared tables. */
static void settle_tables(struct nsc_dex_plan *plan)
{
    for (uint32_t i = 0; i < plan->item_count; i++)
        if (plan->items[i].form == NSC_DEX_TABLE)
            plan->items[i].target = plan->self[plan->items[i].target];
    for (uint32_t i = 0; i < plan->copy_count; i++) {
        struct nsc_dex_copy copy = plan->copies[i];
        struct nsc_dex_item *item;

        nsc_dex_plan_mark(plan, copy.label);
        item = add_item(plan);
        if (item == NULL)
            return;
        item->source = plan->scan.at[copy.payload];
        item->units = plan->scan.at[copy.payload + 1] - item->source;
        item->target = copy.owner;
        item->cover = NSC_DEX_NONE;
        item->neutral = true;
        item->form = NSC_DEX_TABLE;
    }
}

static uint32_t moved_to(const void *context, uint32_t at)
{
    const struct nsc_dex_plan *plan = context;

    /* Code inserted before the first instruction belongs to the first line. */
    return at == 0 ? 0 : nsc_dex_label_unit(plan, plan->scan.index[at]);
}

static int move_debug(const struct nsc_dex_plan *plan, struct nsc_dex_code *to)
{
    struct nsc_dex_moved moved = {.to = moved_to, .context = plan, .size = plan->code->size};
    struct nsc_buffer out = {0};
    int error;

    if (plan->code->debug == NULL)
        return 0;
    error =
        nsc_dex_debug_convert(plan->code->debug, plan->code->debug_bytes, NULL, &moved, &out, NULL);
    if (error != 0) {
        nsc_buffer_free(&out);
        return error;
    }
    to->debug = out.data;
    to->debug_bytes = out.used;
    return 0;
}

int nsc_dex_plan_finish(struct nsc_dex_plan *plan, struct nsc_dex_code *code)
{
    struct nsc_dex_code to = {.registers = code->registers, .ins = code->ins, .outs = code->outs};
    int error = 0;

    settle_tables(plan);
    if (plan->failed)
        return -ENOMEM;
    if (!nsc_dex_layout(plan))
        return NSC_DEX_REFUSED_SIZE;
    to.size = plan->size;
    to.insns = nsc_dex_emit(plan);
    if (to.insns == NULL)
        error = -ENOMEM;
    if (error == 0)
        error = nsc_dex_cover(plan, &to);
    if (error == 0)
        error = move_debug(plan, &to);
    if (error != 0) {
        nsc_dex_code_free(&to);
        return error;
    }
    nsc_dex_code_free(code);
    *code = to;
    return 0;
}
