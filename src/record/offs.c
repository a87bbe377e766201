/*
 * offs.c - see offs.h.
 *
 * A call that is open when its function goes off is innermost, as a rule: then it ends there, as a
 * bound, since it was open while its exit was on. Else it is over when the calls inside of it are,
 * for all that is seen of it: its position becomes one that no event is inside of, so that the next
 * event behind those goes the general way and finds it dead.
 *
 * A thread may be inside of a function's hook when that goes off, and tell the entry afterwards: it
 * is the first event behind the switch, and its exit is not seen, either. It looks like a call that
 * was begun when the function was on again, so that one is taken for it, too: nothing is known of
 * it but when it began.
 */
#include "record/offs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/stack_state.h"
#include "util/array.h"

enum { OFFS_MANY = 256, FUNCTIONS_MANY = 1 << 17 };

/* ---- What was switched off ------------------------------------------------------------------- */

void nsc_offs_free(struct nsc_offs *offs)
{
    uint32_t i;

    for (i = 0; i < offs->count; i++)
        free(offs->list[i].functions);
    free(offs->list);
    free(offs->ever);
    *offs = (struct nsc_offs){0};
}

bool nsc_offs_many(const struct nsc_offs *offs)
{
    return offs->count > 1 && (offs->count >= OFFS_MANY || offs->functions >= FUNCTIONS_MANY);
}

void nsc_offs_drop(struct nsc_offs *offs)
{
    uint32_t gone = offs->count / 2, i;

    for (i = 0; i < gone; i++) {
        offs->functions -= offs->list[i].count;
        free(offs->list[i].functions);
    }
    memmove(offs->list, offs->list + gone, (offs->count - gone) * sizeof *offs->list);
    offs->count -= gone;
    offs->first += gone;
}

/* Mark that the functions have been off. */
static int note_ever(struct nsc_offs *offs, const struct nsc_off *off)
{
    uint32_t bytes = off->count > 0 ? off->functions[off->count - 1] / 8 + 1 : 0, i;

    if (bytes > offs->ever_bytes) {
        uint8_t *ever = realloc(offs->ever, bytes);

        if (ever == NULL)
            return -ENOMEM;
        memset(ever + offs->ever_bytes, 0, bytes - offs->ever_bytes);
        offs->ever = ever;
        offs->ever_bytes = bytes;
    }
    for (i = 0; i < off->count; i++)
        offs->ever[off->functions[i] / 8] |= (uint8_t)(1u << off->functions[i] % 8);
    return 0;
}

bool nsc_offs_had(const struct nsc_offs *offs, uint32_t function)
{
    return function / 8 < offs->ever_bytes && (offs->ever[function / 8] >> function % 8 & 1) != 0;
}

int nsc_offs_add(struct nsc_offs *offs, const struct nsc_off *off)
{
    struct nsc_off *list =
        nsc_array_grow(offs->list, &offs->capacity, offs->count, sizeof *offs->list);

    if (list != NULL)
        offs->list = list;
    if (list == NULL || note_ever(offs, off) != 0) {
        free(off->functions);
        return -ENOMEM;
    }
    list[offs->count++] = *off;
    offs->functions += off->count;
    return 0;
}

static int compare_functions(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static bool holds(const struct nsc_off *off, uint32_t function)
{
    return bsearch(&function, off->functions, off->count, sizeof function, compare_functions) !=
           NULL;
}

/* ---- What was open --------------------------------------------------------------------------- */

/* In a deep recursion it is cheaper to ask for each function. */
static bool may_be_open(const struct nsc_stack *st, const struct nsc_off *off)
{
    uint32_t i;

    if (!nsc_stack_in_lane(st) || nsc_stack_depth(st) <= off->count)
        return true;
    for (i = 0; i < off->count; i++)
        if (nsc_lane_open_calls(st->lane, off->functions[i]) > 0)
            return true;
    return false;
}

/* @ticks: the last instant at which what is open on the stack surely was. */
static void end_open(struct nsc_stacks *s, struct nsc_stack *st, const struct nsc_off *off,
                     uint64_t ticks)
{
    const struct nsc_lane_frame *top;
    uint32_t i;

    if (!may_be_open(st, off))
        return;
    while ((top = nsc_stack_innermost(st)) != NULL &&
           (top->position == KEY_ORPHAN || holds(off, top->function)))
        nsc_stack_unwind(s, st, ticks);
    for (i = nsc_stack_depth(st); i > 1; i--) {
        struct nsc_lane_frame *frame = nsc_stack_frame(st, i - 2);

        if (holds(off, frame->function))
            frame->position = KEY_ORPHAN;
    }
}

/* The switch is passed. @seen: by the thread's events, without a gap; else nothing is known since
 * its last event. */
static void pass(struct nsc_stacks *s, const struct nsc_off *off, bool seen)
{
    uint32_t i;

    for (i = 0; i < s->count; i++) {
        struct nsc_stack *st = s->stacks[i];
        uint64_t ticks = st == s->current ? s->last_ticks : st->left_ticks;

        if (nsc_stack_depth(st) > 0)
            end_open(s, st, off, seen && off->from_ticks > ticks ? off->from_ticks : ticks);
    }
}

static const struct nsc_off *next_off(const struct nsc_stacks *s)
{
    const struct nsc_offs *offs = s->offs;

    if (offs == NULL || s->offs_passed >= offs->first + offs->count)
        return NULL;
    return &offs->list[s->offs_passed > offs->first ? s->offs_passed - offs->first : 0];
}

void nsc_stacks_offs_next(struct nsc_stacks *s)
{
    const struct nsc_off *off = next_off(s);

    if (s->off_ticks == 0 && s->end_ticks != 0)
        return;
    s->off_ticks = s->offs_met != s->offs_passed ? 1 : off != NULL ? off->until_ticks : UINT64_MAX;
    if (s->end_ticks != 0 && s->end_ticks < s->off_ticks)
        s->off_ticks = s->end_ticks;
}

void nsc_stack_turn_off(struct nsc_stacks *s, uint64_t ticks, bool seen)
{
    const struct nsc_off *off;

    /* What follows may read it: an orphan is over with the last event. */
    s->before_ticks = s->last_ticks;
    while ((off = next_off(s)) != NULL && off->until_ticks <= ticks) {
        if (s->sieve.rules != NULL)
            nsc_stack_turn(s, off->from_ticks);
        pass(s, off, seen);
        s->offs_passed = s->offs->first + (uint64_t)(off - s->offs->list) + 1;
    }
    nsc_stacks_offs_next(s);
}

/* Is the function one of those that went off just before the event? */
static bool has_just_gone(const struct nsc_stacks *s, uint32_t function)
{
    uint64_t i = s->offs_met;

    if (i < s->offs->first) /* forgotten */
        return nsc_offs_had(s->offs, function);
    for (; i < s->offs_passed; i++)
        if (holds(&s->offs->list[i - s->offs->first], function))
            return true;
    return false;
}

void nsc_stack_meet_offs(struct nsc_stacks *s, const struct nsc_stack_event *event,
                         const struct nsc_code *code)
{
    struct nsc_lane_frame *top = nsc_stack_innermost(s->current);

    /* Before its first event a thread was inside of no hook. */
    if (code != NULL && s->before_ticks != 0 && top != NULL &&
        top->position == (event->key | event->pc16) && has_just_gone(s, code->function))
        top->position = KEY_ORPHAN;
    s->offs_met = s->offs_passed;
    nsc_stacks_offs_next(s);
}

void nsc_stacks_offs_pass(struct nsc_stacks *s)
{
    uint32_t gone = s->offs->count / 2;

    if (gone > 0 && s->offs_passed < s->offs->first + gone)
        nsc_stack_turn_off(s, s->offs->list[gone - 1].until_ticks, false);
}
