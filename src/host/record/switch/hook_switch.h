/*
 * hook_switch.h - which sleds are on in the processes of a session: on at the start, as the filter
 * says, and off at the end, while the processes run.
 *
 * Called by attach.c and recorder.c; the writing itself is sled_switch.c's. Events go on while this
 * works.
 */
#ifndef NSC_RECORD_SWITCH_HOOK_SWITCH_H
#define NSC_RECORD_SWITCH_HOOK_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "record/drain/tracee.h"

/**
 * nsc_hook_switch_flip - the sleds of one mapping of a process, looked at the first time.
 * @mapping: index in process->space.mappings.
 * Returns NULL when it has no sleds, is not loaded any more, or cannot be got at; @error then
 * receives 0 or -errno: -EXDEV (the process is not admitted, see admission.h, or has not the
 * module's file loaded there).
 */
struct nsc_sled_switch *nsc_hook_switch_flip(struct nsc_tracee_process *process, uint32_t mapping,
                                             int *error);

/**
 * nsc_hook_switch_follow - switch every process that takes part as the filter in force says.
 * @stats: what was done is added.
 * Returns 0 or -errno with @diag: what nsc_sled_switch_open() and nsc_sled_switch_apply() say for
 * the first process that could not be switched, though it lives; the others are switched all the
 * same.
 */
int nsc_hook_switch_follow(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                           struct nsc_diag *diag);

/* The same at the start, while the session holds its events: also children that are forked
 * meanwhile. Context: looks through /proc. */
int nsc_hook_switch_begin(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                          struct nsc_diag *diag);

/* The threads hear which functions are off since the filter was followed, from the one time to the
 * other, and which are on again. */
void nsc_hook_switch_tell_offs(struct nsc_tracees *all, uint64_t from_ticks, uint64_t until_ticks);

/* Does the filter that was followed last leave not one function of the files that are loaded? False
 * where that is not known of one of them: hooks of the header are not told apart by it. */
bool nsc_hook_switch_lets_nothing_through(const struct nsc_modules *modules);

/**
 * nsc_hook_switch_bar - take a function out of what the filter lets through, or let it in again.
 * @file: index in modules->files.
 * @function: index in the functions of nsc_module_sleds(); the file must have them.
 * In force with the next nsc_hook_switch_follow() or nsc_hook_switch_follow_bars(). Returns 0 or
 * -ENOMEM.
 */
int nsc_hook_switch_bar(struct nsc_modules *modules, uint32_t file, uint32_t function, bool barred);
/* Read what nsc_hook_switch_follow_bars() will need of modules that have been loaded since: their
 * files, and the sleds as they are. Costs nothing where there is nothing new. */
void nsc_hook_switch_prepare(struct nsc_tracees *all);
/* As nsc_hook_switch_follow(), for modules some function of which was ever barred, and as far as
 * the runtime is done with their sleds. Costs little where there is nothing to switch. */
int nsc_hook_switch_follow_bars(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                                struct nsc_diag *diag);

/**
 * nsc_hook_switch_end - all sleds off, in every process that has the session's memory: also in
 * children that were forked and never called anything since.
 * Returns as nsc_hook_switch_follow(). Context: looks through /proc.
 */
int nsc_hook_switch_end(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                        struct nsc_diag *diag);

/**
 * nsc_hook_switch_settle - wait until no thread can be inside of a hook that it entered before the
 * sleds went off, @patience_ns at most.
 * Returns whether that is so. A thread that a debugger stopped in a hook, or whose signal handler
 * interrupted one and does not return, is not waited for any longer.
 */
bool nsc_hook_switch_settle(struct nsc_tracees *all, uint64_t patience_ns);

#endif
