/*
 * sled_switch.h - switch the sleds of a running process on and off, from outside.
 *
 * Called by whoever decides what is recorded (budget, filters, start and stop). Writes the first
 * byte of sleds (the first word on AArch64) through /proc/PID/mem, while the program's threads run:
 * docs/adr/003-sleds.md says why that is right. Never writes where it does not find a sled in the
 * other of its two known forms.
 */
#ifndef NSC_RECORD_MODULES_SLED_SWITCH_H
#define NSC_RECORD_MODULES_SLED_SWITCH_H

#include <sys/types.h>

#include "process/maps.h"
#include "record/modules/sled_table.h"
#include "util/diag.h"

struct nsc_sled_switch_stats {
    uint64_t on, off; /* sleds switched */
    uint64_t refused; /* sleds that were to be switched and are in no known form */
    uint64_t writes;  /* system calls that wrote */
    uint64_t ns;      /* time taken, all told */
};

/* The sleds of one module in one process. */
struct nsc_sled_switch {
    const struct nsc_sleds *sleds;
    int mem; /* /proc/PID/mem; the caller's */
    uint64_t bias, text_start, text_end;
    /* One bit a site, as in live.h. */
    uint8_t *wanted, *present;
    uint8_t *strange; /* in no known form when last looked at */
};

/**
 * nsc_sled_switch_open - open the memory of a process for switching sleds.
 * For a process that the shared memory names: nsc_admission_open_memory().
 *
 * Returns a descriptor, good until the process ends or calls exec, or -errno with @diag: -ESRCH (no
 * such process), -EACCES or -EPERM (the system forbids it: another user's process, or
 * kernel.yama.ptrace_scope).
 */
int nsc_sled_switch_open(pid_t pid, struct nsc_diag *diag);

/**
 * nsc_sled_switch_init - look at a module's sleds, all of them.
 * @flip: receives the state; release with nsc_sled_switch_free(). What is wanted is what there is.
 * @mem: from nsc_sled_switch_open(); borrowed until nsc_sled_switch_free().
 * @sleds: of the module's file; borrowed.
 * @bias, @text_start, @text_end: as in struct nsc_live_module. A sled that would call anything
 *                                outside of that text is in no known form.
 *
 * A forked child has the sleds as its parent had them at that instant: it needs a state of its own.
 * Returns 0 or -errno: -ESRCH (the process is gone, or runs another program), -EIO (the module is
 * not there), -ENOMEM.
 */
int nsc_sled_switch_init(struct nsc_sled_switch *flip, int mem, const struct nsc_sleds *sleds,
                         uint64_t bias, uint64_t text_start, uint64_t text_end);
void nsc_sled_switch_free(struct nsc_sled_switch *flip);

/* What is wanted, from now on; nsc_sled_switch_apply() makes it so. @bitmap: one bit a site of the
 * file.
 */
void nsc_sled_switch_want(struct nsc_sled_switch *flip, const uint8_t *bitmap);
void nsc_sled_switch_want_all(struct nsc_sled_switch *flip, bool on);

/* To be recorded whole, a call needs its entry before its exit. */
enum nsc_sled_switch_order {
    NSC_SLED_SWITCH_WHOLE_CALLS, /* exits are switched on before entries, and entries off before
                                    exits */
    NSC_SLED_SWITCH_AT_ONCE, /* nothing is recorded meanwhile: all in one walk, in half the time */
};

/**
 * nsc_sled_switch_apply - switch the sleds that are not as wanted.
 * @stats: what was done is added; may be NULL.
 *
 * Calls that are open when their function is switched on end with an exit that has no entry; those
 * that are open when it is switched off end unseen (disabled_calls.h).
 *
 * Returns 0 or -errno as nsc_sled_switch_init(), and -EPERM where the kernel does not write code
 * for others (proc_mem.force_override); what was switched before is remembered as such. Must not be
 * called for a module that may be unloaded already. Cost: some 2 us a page that holds sleds to
 * switch, more the first time, when the page is copied.
 */
int nsc_sled_switch_apply(struct nsc_sled_switch *flip, enum nsc_sled_switch_order order,
                          struct nsc_sled_switch_stats *stats);

/* The sleds of one process. Zeroed but for mem: nothing is known. */
struct nsc_process_sleds {
    int mem;                       /* of nsc_admission_open_memory(); -1: not open */
    struct nsc_sled_switch *flips; /* by index of nsc_space.mappings; no sleds: not looked at */
    uint32_t count;
    struct nsc_maps maps; /* of the process, to check modules by; may be out of date */
};

void nsc_sled_switch_free_process(struct nsc_process_sleds *onoff);

#endif
