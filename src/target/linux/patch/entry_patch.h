/*
 * entry_patch.h - enables functions of which only the entry can be patched, and generates code for
 * them. Internal to target/linux; the rules of current_session.h apply.
 * docs/adr/013-dynamic-function-instrumentation.md.
 */
#ifndef NSC_LINUX_PATCH_ENTRY_PATCH_H
#define NSC_LINUX_PATCH_ENTRY_PATCH_H

#include <stddef.h>
#include <stdint.h>

#include "abi/hook.h"

/* Which sites of a module to enable. */
struct nsc_patch_verdict {
    int on;                /* 0: none */
    const uint8_t *bitmap; /* one bit per site in table order, 1 = enabled; NULL: all */
};

static inline int nsc_patch_wanted(const struct nsc_patch_verdict *verdict, uint64_t site)
{
    if (!verdict->on)
        return 0;
    return verdict->bitmap == NULL || (verdict->bitmap[site / 8] >> (site % 8) & 1);
}

/** nsc_entry_patch_module - return 1 if @module has such functions. A module with sleds of another
 * kind has none: there, clang's entry nops belong to its exit sleds. */
int nsc_entry_patch_module(const struct nsc_runtime_module *module);

/** nsc_entry_patch_is_passed_over - return 1 if @module has patchable entries that are not used,
 * because it also has hooks of another kind. Modules compiled with clang's sleds do not count. */
int nsc_entry_patch_is_passed_over(const struct nsc_runtime_module *module);

/**
 * nsc_entry_patch_apply - enable the functions of @verdict and disable the others.
 * @module:  one for which nsc_entry_patch_module() returns 1.
 * @bias:    of the module.
 * @verdict: functions to enable. Nothing is generated or written for functions that were never
 *           enabled.
 * @fresh:   1: no thread has executed the module's code yet.
 *
 * Returns a set of NSC_LIVE_PROBLEM_*, 0 on success. Functions that cannot be patched are skipped.
 * Context: any, while other threads execute the module's code; one call at a time per module.
 * System calls only. Calls that are open are recorded to their end.
 */
uint32_t nsc_entry_patch_apply(const struct nsc_runtime_module *module, uint64_t bias,
                               const struct nsc_patch_verdict *verdict, int fresh);

/** nsc_entry_patch_unload - release the code generated for @module some time later. Called when the
 * module is unloaded or the program ends. */
void nsc_entry_patch_unload(const struct nsc_runtime_module *module);

/** nsc_entry_patch_reserve - allocate the slot of the return address at @position. Returns 1, or 0
 * without memory. Context: any. */
int nsc_entry_patch_reserve(uint64_t position);

#endif
