/* switch_notice.c - see switch_notice.h. */
#include "record/switch/switch_notice.h"

#include <stdlib.h>

#include "record/session/clock_reading.h"

void nsc_tracees_set_switched(struct nsc_tracees *all)
{
    uint32_t i;

    all->switched = true;
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            all->threads[i]->stacks.switched = true;
}

void nsc_tracees_switched_on(struct nsc_tracees *all, uint64_t ticks)
{
    uint32_t i;

    all->switched = true;
    all->on_ticks = ticks;
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_switched_on(&all->threads[i]->stacks, ticks);
}

void nsc_tracees_end(struct nsc_tracees *all)
{
    uint32_t i;

    if (all->session->overwritten != NULL) { /* what comes later has overwritten what came before */
        nsc_tracees_switched_on(all, UINT64_MAX);
        return;
    }
    if (all->end_ticks != 0)
        return;
    all->end_ticks = nsc_clockpoint_ticks();
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_end(&all->threads[i]->stacks, all->end_ticks);
}

/* Half of what was switched off before is forgotten. */
static void forget_offs(struct nsc_tracees *all)
{
    uint32_t i;

    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_offs_pass(&all->threads[i]->stacks);
    nsc_offs_drop(&all->offs);
}

void nsc_tracees_switched_off(struct nsc_tracees *all, const struct nsc_off *off)
{
    uint32_t i;

    if (off->count == 0) {
        free(off->functions);
        return;
    }
    if (nsc_offs_many(&all->offs))
        forget_offs(all);
    if (nsc_offs_add(&all->offs, off) != 0)
        return; /* such calls end where they are found to have ended */
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_offs_next(&all->threads[i]->stacks);
}
