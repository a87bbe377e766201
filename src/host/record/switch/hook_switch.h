/*
 * hook_switch.h - enable and disable the sleds of all processes of a session while they run: at
 * the start, when the filter changes, and at the end.
 *
 * Called by attach.c, recorder.c and budget.c; sled_switch.c does the writing. Events continue
 * meanwhile.
 */
#ifndef NSC_RECORD_SWITCH_HOOK_SWITCH_H
#define NSC_RECORD_SWITCH_HOOK_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

#include "record/drain/tracee.h"

/**
 * nsc_hook_switch_flip - get the state of the sleds of one mapping; reads it the first time.
 * @mapping: index in process->space.mappings.
 * Returns NULL if it has no sleds, was unloaded, or is inaccessible; @error then receives 0 or
 * -errno: -EXDEV (the process is not admitted, see admission.h, or has other code there).
 */
struct nsc_sled_switch *nsc_hook_switch_flip(struct nsc_tracee_process *process, uint32_t mapping,
                                             int *error);

/**
 * nsc_hook_switch_follow - apply the current filter to every registered process.
 * @stats: statistics are added.
 * Returns 0 or -errno with @diag, as nsc_sled_switch_open() and nsc_sled_switch_apply(), for the
 * first living process that could not be switched; the others are switched regardless.
 */
int nsc_hook_switch_follow(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                           struct nsc_diag *diag);

/* As nsc_hook_switch_follow(), at the start, while the session holds events back. Includes children
 * that are forked meanwhile. Context: searches /proc. */
int nsc_hook_switch_begin(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                          struct nsc_diag *diag);

/* Tell the threads which functions were disabled between @from_ticks and @until_ticks by the last
 * nsc_hook_switch_follow(), and which were enabled again. */
void nsc_hook_switch_tell_offs(struct nsc_tracees *all, uint64_t from_ticks, uint64_t until_ticks);

/* Return true if the filter that was applied last includes no function of any loaded file. False if
 * unknown for one of them: header hooks cannot be switched by function. */
bool nsc_hook_switch_lets_nothing_through(const struct nsc_modules *modules);

/**
 * nsc_hook_switch_bar - exclude a function that the filter includes (for the budget), or include it
 * again.
 * @file: index in modules->files.
 * @function: index in the functions of nsc_module_sleds(); the file must have them.
 * Takes effect with the next nsc_hook_switch_follow() or nsc_hook_switch_follow_bars(). Returns 0
 * or -ENOMEM.
 */
int nsc_hook_switch_bar(struct nsc_modules *modules, uint32_t file, uint32_t function, bool barred);
/* Read what nsc_hook_switch_follow_bars() needs of newly loaded modules: their files, and the state
 * of their sleds. Free if there are no new modules. */
void nsc_hook_switch_prepare(struct nsc_tracees *all);
/* As nsc_hook_switch_follow(), only for modules that ever had a barred function and whose sleds the
 * runtime has finished preparing. Cheap if there is nothing to switch. */
int nsc_hook_switch_follow_bars(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                                struct nsc_diag *diag);

/**
 * nsc_hook_switch_end - disable all sleds in every process that maps the session's memory,
 * including forked children that have made no traced call.
 * Returns as nsc_hook_switch_follow(). Context: searches /proc.
 */
int nsc_hook_switch_end(struct nsc_tracees *all, struct nsc_sled_switch_stats *stats,
                        struct nsc_diag *diag);

/**
 * nsc_hook_switch_settle - wait until no thread can be inside a hook that it entered before the
 * sleds were disabled; @patience_ns at most.
 * Returns false if the time was not enough: a debugger may have stopped a thread in a hook, or a
 * signal handler that interrupted one may not return.
 */
bool nsc_hook_switch_settle(struct nsc_tracees *all, uint64_t patience_ns);

#endif
