/*
 * flow.h - what is known of each instruction of a plan's code: whether it is reached, how many
 * monitors are held there, which registers are read later. Of dex/ alone.
 */
#ifndef NSC_ANDROID_BYTECODE_FLOW_H
#define NSC_ANDROID_BYTECODE_FLOW_H

#include "android/bytecode/plan.h"

/* Instead of a number of monitors. */
#define NSC_DEX_UNREACHED 0xffffu
#define NSC_DEX_MIXED     0xfffeu /* not the same on all ways: taken for held */

/**
 * nsc_dex_monitors - monitors held in front of each instruction.
 * @held: receives one number an instruction; free() it.
 * @falls: set when a way leads into data or beyond the end.
 *
 * Linear: what an instruction is told changes twice at most. Returns 0 or -ENOMEM.
 */
int nsc_dex_monitors(const struct nsc_dex_plan *plan, uint16_t **held, bool *falls);

/* Registers 0 to 255, those that const can name. */
#define NSC_DEX_LIVE_REGISTERS 256u
struct nsc_dex_live {
    uint64_t bits[NSC_DEX_LIVE_REGISTERS / 64];
};

/**
 * nsc_dex_live - registers whose value is read later.
 * @out: receives what is live in front of each instruction and, behind those, in the handlers of
 *   each of the code's lists; free() it. NULL when it would take too long to know: take all for
 *   live.
 *
 * Returns 0 or -ENOMEM.
 */
int nsc_dex_live(const struct nsc_dex_plan *plan, struct nsc_dex_live **out);

/* What is live behind instruction @i, on every way that goes on from it, and in handlers that it
 * may go to. */
struct nsc_dex_live nsc_dex_live_behind(const struct nsc_dex_plan *plan,
                                        const struct nsc_dex_live *live, uint32_t i);

/* What is live in the handlers of @list, a list of the code or NSC_DEX_NONE. */
struct nsc_dex_live nsc_dex_live_caught(const struct nsc_dex_plan *plan,
                                        const struct nsc_dex_live *live, uint32_t list);

static inline bool nsc_dex_live_has(const struct nsc_dex_live *live, uint32_t reg)
{
    return reg >= NSC_DEX_LIVE_REGISTERS || (live->bits[reg / 64] >> (reg % 64) & 1) != 0;
}

/**
 * nsc_dex_successors - instructions that may run after @i without an exception.
 * @visit: called for each.
 *
 * Returns false when @i may run into data or beyond the end.
 */
bool nsc_dex_successors(const struct nsc_dex_plan *plan, uint32_t i,
                        void (*visit)(void *context, uint32_t next), void *context);

#endif
