/*
 * module.h - executables and shared libraries built for tracing, and their sleds. Internal to
 * runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_PATCH_MODULE_H
#define NSC_LINUX_PATCH_MODULE_H

#include "linux/session/current_session.h"

#define NSC_MODULES_MAX 4096 /* of one process, at any one time */

/**
 * nsc_modules_publish_again - in a forked child: enter all modules under the child's own process
 * slot. Context: the slow path; memory only, no system call.
 */
void nsc_modules_publish_again(struct nsc_target_session *s);

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
