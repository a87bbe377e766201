/*
 * plan_tries.c - build the tries and handler lists of a plan: adjacent items covered by the same
 * list become one try. See plan.h.
 */
#include "android/bytecode/plan.h"
#include "util/array.h"

#define TRY_UNITS_MAX   65535u
#define TRIES_MAX       65535u
#define LIST_OFFSET_MAX 65535u

/* The code's own list that a list is based on, or NSC_DEX_NONE. */
static uint32_t base_of(const struct nsc_dex_plan *plan, uint32_t list)
{
    if (list == NSC_DEX_NONE || list < plan->code->list_count)
        return list;
    return plan->made[list - plan->code->list_count].base;
}

/* Give items that cannot throw the cover of a neighbour (the previous one, else the next), so that
 * they do not split a try. */
static void decide_neutral(struct nsc_dex_plan *plan)
{
    struct nsc_dex_item *items = plan->items;
    uint32_t count = plan->item_count;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = i > 0 && !items[i - 1].open ? items[i - 1].cover : NSC_DEX_NONE;

        if (!items[i].neutral)
            continue;
        items[i].open = before == NSC_DEX_NONE || base_of(plan, before) != items[i].cover;
        if (!items[i].open)
            items[i].cover = before;
    }
    for (uint32_t i = count; i-- > 0;) {
        uint32_t behind = i + 1 < count ? items[i + 1].cover : NSC_DEX_NONE;

        if (items[i].open && items[i].cover != NSC_DEX_NONE &&
            base_of(plan, behind) == items[i].cover)
            items[i].cover = behind;
        items[i].open = false;
    }
}

/* Append a try. Returns false if out of memory. */
static bool add_try(struct nsc_dex_code *to, uint32_t *room, uint32_t start, uint32_t end,
                    uint32_t list)
{
    struct nsc_dex_try *more = nsc_array_grow(to->tries, room, to->try_count, sizeof *more);

    if (more == NULL)
        return false;
    to->tries = more;
    more[to->try_count++] = (struct nsc_dex_try){start, end - start, list};
    return true;
}

/* Build the tries, with list numbers of the plan. */
static bool make_tries(const struct nsc_dex_plan *plan, struct nsc_dex_code *to)
{
    uint32_t room = 0, start = 0, end = 0, list = NSC_DEX_NONE;

    for (uint32_t i = 0; i <= plan->item_count; i++) {
        const struct nsc_dex_item *item = i < plan->item_count ? &plan->items[i] : NULL;
        uint32_t cover = item != NULL && item->units <= TRY_UNITS_MAX ? item->cover : NSC_DEX_NONE;

        if (item != NULL && cover == list && item->addr + item->units - start <= TRY_UNITS_MAX) {
            end = item->addr + item->units;
            continue;
        }
        if (list != NSC_DEX_NONE && !add_try(to, &room, start, end, list))
            return false;
        list = cover;
        if (item != NULL) {
            start = item->addr;
            end = item->addr + item->units;
        }
    }
    return true;
}

static bool add_catch(struct nsc_dex_code *to, uint32_t *room, uint32_t type, uint32_t addr)
{
    struct nsc_dex_catch *more = nsc_array_grow(to->catches, room, to->catch_count, sizeof *more);

    if (more == NULL)
        return false;
    to->catches = more;
    more[to->catch_count++] = (struct nsc_dex_catch){type, addr};
    return true;
}

static bool make_list(const struct nsc_dex_plan *plan, struct nsc_dex_code *to, uint32_t list,
                      uint32_t *room)
{
    const struct nsc_dex_code *code = plan->code;
    uint32_t base = base_of(plan, list), handler;
    struct nsc_dex_catches *made = &to->lists[to->list_count++];

    made->first = to->catch_count;
    for (uint32_t i = 0; base != NSC_DEX_NONE && i < code->lists[base].count; i++) {
        const struct nsc_dex_catch *c = &code->catches[code->lists[base].first + i];
        uint32_t addr = nsc_dex_label_unit(plan, plan->scan.index[c->addr]);

        if (!add_catch(to, room, c->type, addr))
            return false;
    }
    if (list >= code->list_count) {
        handler = nsc_dex_label_unit(plan, plan->made[list - code->list_count].handler);
        if (!add_catch(to, room, NSC_DEX_NONE, handler))
            return false;
    }
    made->count = to->catch_count - made->first;
    return true;
}

/* Build the used lists in the plan's order, and renumber the lists of the tries. */
static int make_lists(const struct nsc_dex_plan *plan, struct nsc_dex_code *to)
{
    uint32_t count = plan->code->list_count + plan->made_count, room = 0;
    uint32_t *number = calloc(count, sizeof *number);

    to->lists = calloc(count, sizeof *to->lists);
    if (number == NULL || to->lists == NULL) {
        free(number);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < to->try_count; i++)
        number[to->tries[i].list] = 1;
    for (uint32_t i = 0; i < count; i++) {
        if (number[i] == 0)
            continue;
        number[i] = to->list_count;
        if (!make_list(plan, to, i, &room)) {
            free(number);
            return -ENOMEM;
        }
    }
    for (uint32_t i = 0; i < to->try_count; i++)
        to->tries[i].list = number[to->tries[i].list];
    free(number);
    return 0;
}

static uint32_t leb_bytes(uint32_t v)
{
    uint32_t bytes = 1;

    for (; v >= 0x80; v >>= 7)
        bytes++;
    return bytes;
}

bool nsc_dex_lists_fit(const struct nsc_dex_code *to)
{
    uint64_t at = leb_bytes(to->list_count);

    for (uint32_t i = 0; i < to->list_count; i++) {
        const struct nsc_dex_catches *list = &to->lists[i];

        if (at > LIST_OFFSET_MAX)
            return false;
        at += leb_bytes(2 * list->count); /* sleb128 has one bit less per number */
        for (uint32_t c = list->first; c < list->first + list->count; c++) {
            if (to->catches[c].type != NSC_DEX_NONE)
                at += leb_bytes(to->catches[c].type);
            at += leb_bytes(to->catches[c].addr);
        }
    }
    return true;
}

int nsc_dex_cover(struct nsc_dex_plan *plan, struct nsc_dex_code *to)
{
    int error;

    decide_neutral(plan);
    if (!make_tries(plan, to))
        return -ENOMEM;
    if (to->try_count == 0)
        return 0;
    if (to->try_count > TRIES_MAX)
        return NSC_DEX_REFUSED_TRIES;
    error = make_lists(plan, to);
    if (error == 0 && !nsc_dex_lists_fit(to))
        error = NSC_DEX_REFUSED_TRIES;
    return error;
}
