/*
 * switches.h - the sleds of all processes of a session, and which of them are wanted.
 *
 * What is wanted is said once a module's file; processes that load it later, or are forked, get it
 * as well. Called by whoever decides what is recorded; flip.c does the writing. Works for modules
 * whose sleds the runtime has made ready (nsc_live_module.sleds_ready).
 */
#ifndef NSC_RECORD_SWITCHES_H
#define NSC_RECORD_SWITCHES_H

#include "record/flip.h"
#include "record/tracee.h"

struct nsc_switches_file;
struct nsc_switches_slot;

struct nsc_switches {
    struct nsc_tracees *tracees;
    struct nsc_switches_slot *slots; /* by module slot */
    uint32_t slots_high;             /* slots in use lie below */
    struct nsc_switches_file *files; /* by index in tracees->modules.files */
    uint32_t file_count;
    struct nsc_flip_stats stats;
    int error;            /* the last failure that is not a process's own end; 0 = none */
    struct nsc_diag diag; /* of `error` */
};

/* 0 or -ENOMEM. @tracees: must live as long. */
int nsc_switches_init(struct nsc_switches *switches, struct nsc_tracees *tracees);
void nsc_switches_free(struct nsc_switches *switches);

/**
 * nsc_switches_want - say of which sites of a file the sleds are to be on.
 * @file: index in tracees->modules.files.
 * @bitmap: one bit a site of the file, as in live.h; NULL: @all of them are, or none.
 *
 * Nothing is switched before nsc_switches_apply(). Of a file that was never asked for, the sleds
 * stay as they are. Returns 0, -ENOENT (no sleds are known of that file) or -ENOMEM.
 */
int nsc_switches_want(struct nsc_switches *switches, uint32_t file, const uint8_t *bitmap,
                      bool all);
/**
 * nsc_switches_bar - take a function out, whatever is wanted, or lift that.
 * @function: index in nsc_module_sleds()->functions.
 * Else as nsc_switches_want(). Where nothing was said of the file, what is wanted is what its first
 * process has, so that lifting does not switch on what a filter left out.
 */
int nsc_switches_bar(struct nsc_switches *switches, uint32_t file, uint32_t function, bool barred);

/**
 * nsc_switches_apply - make it so, in all processes that live.
 *
 * Returns how many sleds it switched. What fails is kept in switches->error and the process
 * concerned is not tried again.
 */
uint64_t nsc_switches_apply(struct nsc_switches *switches);

#endif
