/* switch_notice.c - see switch_notice.h. */
#include "record/switch/switch_notice.h"

#include <stdlib.h>

#include "record/session/clock_reading.h"

void nsc_switch_notice_begin(struct nsc_tracees *all)
{
    uint32_t i;

    all->switched = true;
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            all->threads[i]->stacks.switched = true;
}

void nsc_switch_notice_enabled(struct nsc_tracees *all, uint64_t ticks)
{
    uint32_t i;

    all->switched = true;
    all->on_ticks = ticks;
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_switched_on(&all->threads[i]->stacks, ticks);
}

void nsc_switch_notice_end_recording(struct nsc_tracees *all)
{
    uint32_t i;

    if (all->session->overwritten != NULL) { /* newer events have overwritten older ones */
        nsc_switch_notice_enabled(all, UINT64_MAX);
        return;
    }
    if (all->end_ticks != 0)
        return;
    all->end_ticks = nsc_clock_reading_ticks();
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_end(&all->threads[i]->stacks, all->end_ticks);
}

/* Forget half of the functions that were disabled before. */
static void forget_offs(struct nsc_tracees *all)
{
    uint32_t i;

    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_disabled_pass(&all->threads[i]->stacks);
    nsc_disabled_functions_drop(&all->offs);
}

void nsc_switch_notice_disabled(struct nsc_tracees *all, const struct nsc_off *off)
{
    uint32_t i;

    if (off->count == 0) {
        free(off->functions);
        return;
    }
    if (nsc_disabled_functions_many(&all->offs))
        forget_offs(all);
    if (nsc_disabled_functions_add(&all->offs, off) != 0)
        return; /* the end times of such calls are less exact */
    for (i = 0; i < all->thread_high; i++)
        if (all->threads[i] != NULL)
            nsc_stacks_disabled_next(&all->threads[i]->stacks);
}
