/*
 * module_table.h - the modules of this process, and what has been published of them in the session.
 * Internal to target/linux; the rules of current_session.h apply.
 */
#ifndef NSC_LINUX_SESSION_MODULE_TABLE_H
#define NSC_LINUX_SESSION_MODULE_TABLE_H

#include "linux/session/session_state.h"

#define NSC_MODULES_MAX 4096 /* modules of one process at any one time */

/*
 * State of an entry of the table of modules, recorded or not; it says who may use the entry. The
 * control function may run at any time, and skips BUSY entries. So a thread that loads a module
 * checks for a new session afterwards. A thread that unloads one waits until the control function,
 * if it runs, is done with the module.
 */
enum nsc_modules_state {
    NSC_MODULES_FREE = 0,
    NSC_MODULES_BUSY = 1, /* being loaded or unloaded */
    NSC_MODULES_IDLE = 2,
};

#define NSC_MODULES_NO_SLOT UINT32_MAX /* the table was full: the module is not recorded */

struct nsc_modules_entry {
    uint32_t state;
    uint32_t serial; /* of the session that the module was last published in; 0: none */
    uint32_t slot;   /* index in that session's module table, or NSC_MODULES_NO_SLOT */
    uint32_t ready;  /* 1: its sleds are in a form that one byte store enables */
    const struct nsc_runtime_module *module;
    uint64_t load_ticks;
    struct nsc_live_module *copy; /* published data, in private memory: a forked child publishes it
                                   * again without reading the module or /proc */
};

extern struct nsc_modules_entry nsc_modules_table[NSC_MODULES_MAX]
    __attribute__((visibility("hidden")));

/* Entries in use are below this index; it never decreases. */
extern uint32_t nsc_modules_used __attribute__((visibility("hidden")));

/** nsc_modules_add - return a BUSY entry for a module that is being loaded; NULL if the table is
 * full. */
struct nsc_modules_entry *nsc_modules_add(struct nsc_runtime_module *module);

/** nsc_modules_remove - free the entry of a module that is being unloaded, and mark it unloaded in
 * @s, which may be NULL. The entry must be BUSY. */
void nsc_modules_remove(struct nsc_target_session *s, struct nsc_modules_entry *entry);

/**
 * nsc_modules_publish - publish a module in a session.
 * @elf: data for the recorder, except slot, load_ticks and path, which this function sets.
 * Returns its entry in the session's table, or NULL if the table is full (counted).
 */
struct nsc_live_module *nsc_modules_publish(struct nsc_target_session *s,
                                            struct nsc_modules_entry *entry,
                                            struct nsc_live_module *elf);

/**
 * nsc_modules_publish_again - in a forked child: publish all modules under the child's own process
 * slot.
 * Context: the slow path; memory only, no system call.
 */
void nsc_modules_publish_again(struct nsc_target_session *s);

#endif
