/*
 * entry_patch.h - functions of which only the entry can be patched: their code is made when they
 * are chosen. Internal to runtime/; the rules of current_session.h hold.
 * docs/adr/013-dynamic-function-instrumentation.md.
 */
#ifndef NSC_LINUX_PATCH_ENTRY_PATCH_H
#define NSC_LINUX_PATCH_ENTRY_PATCH_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hook.h"

/* Which sites of a module are switched on. */
struct nsc_patch_verdict {
    int on;                /* 0: none */
    const uint8_t *bitmap; /* one bit a site in table order, 1 = on; NULL: all */
};

static inline int nsc_patch_wanted(const struct nsc_patch_verdict *verdict, uint64_t site)
{
    if (!verdict->on)
        return 0;
    return verdict->bitmap == NULL || (verdict->bitmap[site / 8] >> (site % 8) & 1);
}

/** nsc_entry_patch_module - whether @module has such functions. A module with sleds of another kind
 * has none: there, clang's entry nops belong to its exit sleds. */
int nsc_entry_patch_module(const struct nsc_runtime_module *module);

/** nsc_entry_patch_is_passed_over - whether @module has entries that could be patched, beside hooks
 * of another kind for which it is not touched. What was compiled with clang's sleds has no such. */
int nsc_entry_patch_is_passed_over(const struct nsc_runtime_module *module);

/**
 * nsc_entry_patch_apply - choose functions.
 * @module:  nsc_entry_patch_module().
 * @bias:    of the module.
 * @verdict: which ones; those not in it are no longer chosen. Nothing is made or written for
 *           functions that never were.
 * @fresh:   nobody runs the module's code yet.
 *
 * Returns a set of NSC_LIVE_PROBLEM_*, 0 when all went well. Functions that cannot be patched are
 * passed over.
 * Context: any, with the module's code running in other threads; not twice at a time for a module.
 * Only system calls. Calls under way are recorded to their ends.
 */
uint32_t nsc_entry_patch_apply(const struct nsc_runtime_module *module, uint64_t bias,
                               const struct nsc_patch_verdict *verdict, int fresh);

/** nsc_entry_patch_unload - the module goes, or the program ends: what was made for it may go some
 * time later. */
void nsc_entry_patch_unload(const struct nsc_runtime_module *module);

/** nsc_entry_patch_reserve - make room for the return address at @position. Returns 1, or 0 if
 * there is no memory. Context: any. */
int nsc_entry_patch_reserve(uint64_t position);

#endif
