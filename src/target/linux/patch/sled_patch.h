/*
 * sled_patch.h - makes a module's sleds ready, enables and disables them. Also handles modules
 * whose entries are patched without sleds (entry_patch.h). Internal to target/linux; the rules of
 * current_session.h apply.
 */
#ifndef NSC_LINUX_PATCH_SLED_PATCH_H
#define NSC_LINUX_PATCH_SLED_PATCH_H

#include "linux/patch/entry_patch.h"

/**
 * nsc_patch_module - bring a module's sleds into the form that @verdict asks for.
 * @module: its tables and hooks.
 * @bias:   of the module.
 * Returns a set of NSC_LIVE_PROBLEM_*, 0 on success. If nothing is enabled, code is not written,
 * except XRay's sleds where nsc_arch_xray_slow(). Pages that are written are copied. This costs
 * time at the program's start, and more than a percent of its speed, because the copies are
 * scattered in memory.
 * Context: constructor, before code of the module runs.
 */
uint32_t nsc_patch_module(const struct nsc_runtime_module *module, uint64_t bias,
                          const struct nsc_patch_verdict *verdict);

/**
 * nsc_patch_ready - bring a module's sleds into their disabled form while threads execute them.
 * Sleds that already have it are not written.
 * Returns as nsc_patch_module().
 */
uint32_t nsc_patch_ready(const struct nsc_runtime_module *module, uint64_t bias);

/**
 * nsc_patch_turn - enable or disable sleds that are ready, while threads execute them. Sleds that
 * are already in the right form are not written.
 * Returns as nsc_patch_module().
 */
uint32_t nsc_patch_turn(const struct nsc_runtime_module *module, uint64_t bias,
                        const struct nsc_patch_verdict *verdict);

#endif
