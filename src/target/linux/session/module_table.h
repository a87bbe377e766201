/*
 * module_table.h - the modules of this process, and what the session knows of them. Internal to
 * runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_SESSION_MODULE_TABLE_H
#define NSC_LINUX_SESSION_MODULE_TABLE_H

#include "linux/session/session_state.h"

#define NSC_MODULES_MAX 4096 /* of one process, at any one time */

/*
 * The modules of this process, recorded or not. `state` says whose an entry is; the control
 * function may come at any time, and leaves alone what is BUSY: whoever loads a module looks for a
 * new session when he is done, and whoever unloads one waits until the control function, should it
 * be at work, is done with the module. `copy` is what was published, so that a forked child can
 * publish again without looking at the module or at /proc.
 */
enum nsc_modules_state {
    NSC_MODULES_FREE = 0,
    NSC_MODULES_BUSY = 1, /* being loaded or unloaded */
    NSC_MODULES_IDLE = 2,
};

#define NSC_MODULES_NO_SLOT UINT32_MAX /* the table was full: the module is not recorded */

struct nsc_modules_entry {
    uint32_t state;
    uint32_t serial; /* of the session that the module was published in last; 0: none */
    uint32_t slot;   /* index in that session's module table, or NSC_MODULES_NO_SLOT */
    uint32_t ready;  /* its sleds are in the form that one byte switches */
    const struct nsc_runtime_module *module;
    uint64_t load_ticks;
    struct nsc_live_module *copy; /* private memory, one page range each */
};

extern struct nsc_modules_entry nsc_modules_table[NSC_MODULES_MAX]
    __attribute__((visibility("hidden")));

/* How far the table has ever been filled: nobody looks behind. */
extern uint32_t nsc_modules_used __attribute__((visibility("hidden")));

/** nsc_modules_add - an entry for a module that is being loaded, NULL if there is none. */
struct nsc_modules_entry *nsc_modules_add(struct nsc_runtime_module *module);

/** nsc_modules_remove - the module of a BUSY entry goes: @s, which may be NULL, is told of it. */
void nsc_modules_remove(struct nsc_target_session *s, struct nsc_modules_entry *entry);

/**
 * nsc_modules_publish - enter a module into a session.
 * @elf: what the recorder gets of it, but for its slot, load_ticks and path.
 * Returns its entry in the session's table, or NULL if there is no room (counted).
 */
struct nsc_live_module *nsc_modules_publish(struct nsc_target_session *s,
                                            struct nsc_modules_entry *entry,
                                            struct nsc_live_module *elf);

/**
 * nsc_modules_publish_again - in a forked child: enter all modules under the child's own process
 * slot. Context: the slow path; memory only, no system call.
 */
void nsc_modules_publish_again(struct nsc_target_session *s);

#endif
