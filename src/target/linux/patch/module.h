/*
 * module.h - executables and shared libraries built for tracing, and their sleds. Internal to
 * runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_PATCH_MODULE_H
#define NSC_LINUX_PATCH_MODULE_H

#include "linux/session/module_table.h"

/**
 * nsc_modules_describe - everything about a module that the recorder gets, but for its slot and
 * what needs system calls. Returns 0, or -1 if it makes no sense.
 */
int nsc_modules_describe(const struct nsc_runtime_module *module, struct nsc_live_module *to);

/**
 * nsc_modules_record - publish a module that is being loaded, and switch its sleds on.
 * @elf: of nsc_modules_describe().
 * Context: constructor, before code of the module runs.
 */
void nsc_modules_record(struct nsc_target_session *s, struct nsc_modules_entry *entry,
                        struct nsc_live_module *elf);

/**
 * nsc_modules_join - bring every module that @s does not know yet into it: make its sleds ready,
 * under running threads, and publish it. Modules that are being loaded see to that themselves.
 * Context: the control function.
 */
void nsc_modules_join(struct nsc_target_session *s);

/**
 * nsc_modules_turn - switch the sleds of every module.
 * @s:  whose verdicts count; a module without one is on. NULL: all off.
 * Context: the control function.
 */
void nsc_modules_turn(struct nsc_target_session *s);

#endif
