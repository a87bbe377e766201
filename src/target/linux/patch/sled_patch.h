/*
 * sled_patch.h - a module's sleds are made ready and switched; entries that are patched without
 * sleds (entry_patch.h) go with them. Internal to runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_PATCH_SLED_PATCH_H
#define NSC_LINUX_PATCH_SLED_PATCH_H

#include "linux/patch/entry_patch.h"

/**
 * nsc_patch_module - bring a module's sleds into the form that @verdict asks for.
 * @module: its tables and trampolines.
 * @bias:   of the module.
 * Returns a set of NSC_LIVE_PROBLEM_*, 0 when all went well. When nothing is on, code is left as it
 * is, but for XRay's sleds where nsc_arch_xray_slow(): pages that are written are copied, which
 * costs a program its start and, being scattered then, more than a percent of its speed.
 * Context: constructor, before code of the module runs.
 */
uint32_t nsc_patch_module(const struct nsc_runtime_module *module, uint64_t bias,
                          const struct nsc_patch_verdict *verdict);

/**
 * nsc_patch_ready - bring a module's sleds into their off form while threads execute them.
 * Returns as nsc_patch_module() does. Nothing is written that is so already.
 */
uint32_t nsc_patch_ready(const struct nsc_runtime_module *module, uint64_t bias);

/**
 * nsc_patch_turn - switch sleds that are ready, while threads execute them.
 * Returns as nsc_patch_module() does. Nothing is written that is so already.
 */
uint32_t nsc_patch_turn(const struct nsc_runtime_module *module, uint64_t bias,
                        const struct nsc_patch_verdict *verdict);

#endif
