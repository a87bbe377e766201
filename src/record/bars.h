/*
 * bars.h - functions that are taken out of the recording for a while, in all processes of a
 * session.
 *
 * A function is barred once a module's file; processes that load it later, or are forked, follow.
 * Called by budget.c; flip.c does the writing. Works for modules whose sleds the runtime has made
 * ready (nsc_live_module.sleds_ready).
 */
#ifndef NSC_RECORD_BARS_H
#define NSC_RECORD_BARS_H

#include "record/flip.h"
#include "record/tracee.h"

struct nsc_bars_file;
struct nsc_bars_slot;

struct nsc_bars {
    struct nsc_tracees *tracees;
    struct nsc_bars_slot *slots; /* by module slot */
    uint32_t slots_high;         /* slots in use lie below */
    struct nsc_bars_file *files; /* by index in tracees->modules.files */
    uint32_t file_count;
    struct nsc_flip_stats stats;
    int error;            /* the last failure that is not a process's own end; 0 = none */
    struct nsc_diag diag; /* of `error` */
};

/* 0 or -ENOMEM. @tracees: must live as long. */
int nsc_bars_init(struct nsc_bars *bars, struct nsc_tracees *tracees);
void nsc_bars_free(struct nsc_bars *bars);

/**
 * nsc_bars_set - take a function out, or let it in again.
 * @file: index in tracees->modules.files.
 * @function: index in nsc_module_sleds()->functions.
 *
 * Nothing is switched before nsc_bars_apply(). What goes on again is what was on in the first
 * process of the file, so that a filter's choice stays. Returns 0, -ENOENT (no sleds are known of
 * that file) or -ENOMEM.
 */
int nsc_bars_set(struct nsc_bars *bars, uint32_t file, uint32_t function, bool barred);

/**
 * nsc_bars_apply - make it so, in all processes that live.
 *
 * Returns how many sleds it switched. What fails is kept in bars->error and the process
 * concerned is not tried again.
 */
uint64_t nsc_bars_apply(struct nsc_bars *bars);

#endif
