/*
 * flow.h - data flow analysis of a plan's code, per instruction: reachability, number of monitors
 * held, live registers. Private to bytecode/.
 */
#ifndef NSC_ANDROID_BYTECODE_FLOW_H
#define NSC_ANDROID_BYTECODE_FLOW_H

#include "android/bytecode/plan.h"

/* Values in place of a number of monitors. */
#define NSC_DEX_UNREACHED 0xffffu /* the instruction is unreachable */
#define NSC_DEX_MIXED     0xfffeu /* depends on the path: treated as held */

/**
 * nsc_dex_monitors - compute the number of monitors held before each instruction.
 * @held: receives one number per instruction; free() it.
 * @falls: set if a path leads into a payload or past the end.
 *
 * Linear: the value of an instruction changes at most twice. Returns 0 or -ENOMEM.
 */
int nsc_dex_monitors(const struct nsc_dex_plan *plan, uint16_t **held, bool *falls);

/* Registers 0 to 255: those that const can address. */
#define NSC_DEX_LIVE_REGISTERS 256u
struct nsc_dex_live {
    uint64_t bits[NSC_DEX_LIVE_REGISTERS / 64];
};

/**
 * nsc_dex_live - compute the live registers (whose value may be read later).
 * @out: receives the registers live before each instruction, followed by those live in the handlers
 *   of each of the code's lists; free() it. NULL if the analysis would take too long: treat all
 *   registers as live.
 *
 * Returns 0 or -ENOMEM.
 */
int nsc_dex_live(const struct nsc_dex_plan *plan, struct nsc_dex_live **out);

/* Registers live after instruction @i: on all paths from it and in the handlers that cover it. */
struct nsc_dex_live nsc_dex_live_behind(const struct nsc_dex_plan *plan,
                                        const struct nsc_dex_live *live, uint32_t i);

/* Registers live in the handlers of @list, a list of the code or NSC_DEX_NONE. */
struct nsc_dex_live nsc_dex_live_caught(const struct nsc_dex_plan *plan,
                                        const struct nsc_dex_live *live, uint32_t list);

static inline bool nsc_dex_live_has(const struct nsc_dex_live *live, uint32_t reg)
{
    return reg >= NSC_DEX_LIVE_REGISTERS || (live->bits[reg / 64] >> (reg % 64) & 1) != 0;
}

/**
 * nsc_dex_successors - visit the instructions that may run after @i without an exception.
 * @visit: called for each.
 *
 * Returns false if execution may run from @i into a payload or past the end.
 */
bool nsc_dex_successors(const struct nsc_dex_plan *plan, uint32_t i,
                        void (*visit)(void *context, uint32_t next), void *context);

#endif
