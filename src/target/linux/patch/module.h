/*
 * module.h - modules (executables and shared libraries) built for tracing, and their sleds.
 * Internal to target/linux; the rules of current_session.h apply.
 */
#ifndef NSC_LINUX_PATCH_MODULE_H
#define NSC_LINUX_PATCH_MODULE_H

#include "linux/session/module_table.h"

/**
 * nsc_modules_describe - fill in the recorder's description of a module, except its slot and the
 * fields that need system calls. Returns 0, or -1 if the module is not valid.
 */
int nsc_modules_describe(const struct nsc_runtime_module *module, struct nsc_live_module *to);

/**
 * nsc_modules_record - publish a module that is being loaded, and enable its sleds.
 * @elf: from nsc_modules_describe().
 * Context: constructor, before code of the module runs.
 */
void nsc_modules_record(struct nsc_target_session *s, struct nsc_modules_entry *entry,
                        struct nsc_live_module *elf);

/**
 * nsc_modules_join - publish every loaded module in @s that is not yet published there. Makes its
 * sleds ready, in disabled form, while threads run. Modules that are being loaded publish
 * themselves.
 * Context: the control function.
 */
void nsc_modules_join(struct nsc_target_session *s);

/**
 * nsc_modules_turn - enable or disable the sleds of every module.
 * @s:  session whose verdicts apply; without a verdict all sleds of a module are enabled. NULL:
 *      disable all.
 * Context: the control function.
 */
void nsc_modules_turn(struct nsc_target_session *s);

#endif
