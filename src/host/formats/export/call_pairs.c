/* call_pairs.c - see call_pairs.h. */
#include "formats/export/call_pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX (1u << 28)

struct nsc_call_pairs_call {
    uint64_t callee_ticks;
    uint32_t function;
    uint32_t pair;
};

static size_t slot_of(const struct nsc_call_pairs *t, uint32_t caller, uint32_t callee)
{
    uint64_t h = (((uint64_t)caller << 32) | callee) * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(h >> 20) & (t->slot_count - 1);

    for (;; at = (at + 1) & (t->slot_count - 1)) {
        const struct nsc_call_pair *p;

        if (t->slots[at] == 0)
            return at;
        p = &t->pairs[t->slots[at] - 1];
        if (p->caller == caller && p->callee == callee)
            return at;
    }
}

static int grow_pairs(struct nsc_call_pairs *t)
{
    uint32_t capacity = t->pair_capacity == 0 ? 1024 : t->pair_capacity * 2;
    struct nsc_call_pair *pairs;
    uint32_t *slots;

    if (capacity > PAIRS_MAX)
        return -ENOMEM;
    pairs = reallocarray(t->pairs, capacity, sizeof *pairs);
    if (pairs == NULL)
        return -ENOMEM;
    t->pairs = pairs;
    slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    free(t->slots);
    t->slots = slots;
    t->slot_count = (size_t)capacity * 2;
    t->pair_capacity = capacity;
    for (uint32_t i = 0; i < t->pair_count; i++)
        slots[slot_of(t, pairs[i].caller, pairs[i].callee)] = i + 1;
    return 0;
}

static int find_pair(struct nsc_call_pairs *t, uint32_t caller, uint32_t callee, uint32_t *pair)
{
    size_t slot;

    if (t->pair_count == t->pair_capacity && grow_pairs(t) != 0)
        return -ENOMEM;
    slot = slot_of(t, caller, callee);
    if (t->slots[slot] == 0) {
        t->pairs[t->pair_count] = (struct nsc_call_pair){.caller = caller, .callee = callee};
        t->slots[slot] = ++t->pair_count;
    }
    *pair = t->slots[slot] - 1;
    return 0;
}

static int begin_call(struct nsc_call_pairs *t, uint32_t function)
{
    uint32_t caller = t->depth > 0 ? t->open[t->depth - 1].function : NSC_NO_ID;
    struct nsc_call_pairs_call call = {.function = function};

    if (t->depth == t->open_capacity) {
        size_t capacity = t->open_capacity * 2 + 256;
        struct nsc_call_pairs_call *open = reallocarray(t->open, capacity, sizeof *open);

        if (open == NULL)
            return -ENOMEM;
        t->open = open;
        t->open_capacity = capacity;
    }
    if (find_pair(t, caller, function, &call.pair) != 0)
        return -ENOMEM;
    t->pairs[call.pair].calls++;
    if (caller != NSC_NO_ID)
        t->functions[caller].callees++;
    t->functions[function].calls++;
    t->open_calls[function]++;
    t->open[t->depth++] = call;
    return 0;
}

static void end_call(struct nsc_call_pairs *t, const struct nsc_walk_event *e)
{
    struct nsc_call_pairs_call *call = &t->open[--t->depth];
    struct nsc_call_pairs_function *f = &t->functions[call->function];
    uint64_t ticks = e->ticks - e->start_ticks;

    if (--t->open_calls[call->function] == 0) {
        f->total_ticks += ticks;
        t->pairs[call->pair].ticks += ticks;
    }
    if (ticks > call->callee_ticks)
        f->self_ticks += ticks - call->callee_ticks;
    if (t->depth > 0)
        t->open[t->depth - 1].callee_ticks += ticks;
}

int nsc_call_pairs_take(struct nsc_call_pairs *t, struct nsc_export *job, uint32_t thread,
                        struct nsc_diag *diag)
{
    size_t functions = (size_t)job->info->function_count + 1;
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    int more = 0, error;

    if (t->functions == NULL) {
        t->functions = calloc(functions, sizeof *t->functions);
        t->open_calls = calloc(functions, sizeof *t->open_calls);
    }
    if (t->functions == NULL || t->open_calls == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_export_walk(job, thread, false, &walk, diag);
    if (error != 0)
        return error;
    while (error == 0 && (more = nsc_export_next(job, thread, walk, &event, diag)) > 0) {
        if (event.kind == NSC_WALK_BEGIN)
            error = begin_call(t, event.function);
        else if (event.kind == NSC_WALK_END)
            end_call(t, &event);
    }
    nsc_export_walked(job, walk);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return more;
}

static int by_caller(const void *left, const void *right)
{
    const struct nsc_call_pair *l = left, *r = right;

    if (l->caller != r->caller)
        return l->caller < r->caller ? -1 : 1;
    return (l->callee > r->callee) - (l->callee < r->callee);
}

void nsc_call_pairs_sort(struct nsc_call_pairs *t)
{
    if (t->pair_count > 0)
        qsort(t->pairs, t->pair_count, sizeof *t->pairs, by_caller);
}

void nsc_call_pairs_free(struct nsc_call_pairs *t)
{
    free(t->functions);
    free(t->pairs);
    free(t->slots);
    free(t->open);
    free(t->open_calls);
    *t = (struct nsc_call_pairs){0};
}
