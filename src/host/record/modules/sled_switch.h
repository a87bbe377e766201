/*
 * sled_switch.h - enable and disable the sleds of a running process from outside.
 *
 * Called for the budget, for filters and at start and stop. Writes the first byte of sleds (the
 * first word on AArch64) through /proc/PID/mem while the program's threads run;
 * docs/adr/003-sleds.md explains why this is safe. Writes only where it finds a sled in one of its
 * two known forms.
 */
#ifndef NSC_RECORD_MODULES_SLED_SWITCH_H
#define NSC_RECORD_MODULES_SLED_SWITCH_H

#include <sys/types.h>

#include "process/procfs/maps.h"
#include "record/modules/sled_table.h"
#include "util/diag.h"

struct nsc_sled_switch_stats {
    uint64_t on, off; /* sleds enabled, sleds disabled */
    uint64_t refused; /* sleds not switched, as they are in no known form */
    uint64_t writes;  /* write system calls */
    uint64_t ns;      /* total time */
};

/* The sleds of one module in one process. */
struct nsc_sled_switch {
    const struct nsc_sleds *sleds;
    int mem; /* /proc/PID/mem, borrowed */
    uint64_t bias, text_start, text_end;
    /* One bit per site, as in live.h. */
    uint8_t *wanted, *present;
    uint8_t *strange; /* in no known form at the last check */
};

/**
 * nsc_sled_switch_open - open the memory of a process for switching sleds.
 * For a process number from the shared memory, use nsc_admission_open_memory().
 *
 * Returns a descriptor, valid until the process exits or calls exec, or -errno with @diag: -ESRCH
 * (no such process), -EACCES or -EPERM (the system forbids it: another user's process, or
 * kernel.yama.ptrace_scope).
 */
int nsc_sled_switch_open(pid_t pid, struct nsc_diag *diag);

/**
 * nsc_sled_switch_init - read the present state of all sleds of a module.
 * @flip: receives the state; release with nsc_sled_switch_free(). The wanted state is set to the
 * present one.
 * @mem: from nsc_sled_switch_open(); borrowed until nsc_sled_switch_free().
 * @sleds: of the module's file; borrowed.
 * @bias, @text_start, @text_end: as in struct nsc_live_module. A sled whose call target is outside
 * that text is in no known form, except the jump of a patchable entry.
 *
 * A forked child inherits its parent's sleds as they were at the fork: it needs a state of its own.
 * Returns 0 or -errno: -ESRCH (the process has ended, or runs another program), -EIO (the module is
 * not there), -ENOMEM.
 */
int nsc_sled_switch_init(struct nsc_sled_switch *flip, int mem, const struct nsc_sleds *sleds,
                         uint64_t bias, uint64_t text_start, uint64_t text_end);
void nsc_sled_switch_free(struct nsc_sled_switch *flip);

/* Set the wanted state, which nsc_sled_switch_apply() applies. @bitmap: one bit per site of the
 * file. */
void nsc_sled_switch_want(struct nsc_sled_switch *flip, const uint8_t *bitmap);
void nsc_sled_switch_want_all(struct nsc_sled_switch *flip, bool on);

/* Return true if any sled's present state is not the wanted one. */
bool nsc_sled_switch_is_needed(const struct nsc_sled_switch *flip);

/* The order of switching: a complete call needs its entry before its exit. */
enum nsc_sled_switch_order {
    NSC_SLED_SWITCH_WHOLE_CALLS, /* enable exits before entries; disable entries before exits */
    NSC_SLED_SWITCH_AT_ONCE,     /* no events are recorded meanwhile: one pass, half the time */
};

/**
 * nsc_sled_switch_apply - switch the sleds whose present state is not the wanted one.
 * @stats: statistics are added; may be NULL.
 *
 * A call that is open when its function is enabled produces an exit without an entry. The exit of a
 * call that is open when its function is disabled is not recorded (disabled_calls.h).
 *
 * Returns 0 or -errno as nsc_sled_switch_init(), and -EPERM where the kernel does not allow writing
 * another process's code (proc_mem.force_override). The state includes the sleds that were switched
 * before an error. Must not be called for a module that may already be unloaded. Cost: about 2 us
 * per page with sleds to switch; more the first time, when the page is copied.
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

/* Free the state of all modules; memory and maps stay. */
void nsc_sled_switch_free_modules(struct nsc_process_sleds *onoff);
void nsc_sled_switch_free_process(struct nsc_process_sleds *onoff);

#endif
