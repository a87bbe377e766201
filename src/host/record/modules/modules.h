/*
 * modules.h - the ELF files whose code is recorded, and the functions found in them.
 *
 * A module is one file (path and build id), however many processes load it; a function is an
 * address in it. Functions get ids while events are drained; their names are looked up at the end,
 * for the ids in use. Called by address_space.c, filter_bitmap.c and function_names.c.
 */
#ifndef NSC_RECORD_MODULES_MODULES_H
#define NSC_RECORD_MODULES_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/modules/admission.h"
#include "record/modules/code_file.h"
#include "record/modules/code_table.h"
#include "record/modules/sled_table.h"
#include "record/options/filter_history.h"
#include "record/session/limits.h"
#include "symbols/symbols.h"
#include "trace/write/writer.h"
#include "util/id_map.h"
#include "util/privileges/credentials.h"

/* A function of the trace: where it is. Index = function id. */
struct nsc_function_place {
    uint32_t module; /* index in nsc_modules.files, or NSC_NO_ID */
    uint64_t va;
};

struct nsc_module_file {
    uint32_t id; /* in the trace's module table */
    char *path;
    uint64_t path_hash;
    uint8_t build_id[32];
    uint32_t build_id_bytes;
    uint32_t kinds; /* of hooks, 1 << enum nsc_live_hook; known with --timing entry only */
    struct nsc_modules *modules; /* that hold it */
    int fd;                      /* kept open, for files that are gone by the end; -1 = not */
    /* We are root, and a program with fewer rights has loaded it: it is opened with that program's
     * credentials, never with ours. */
    bool foreign;
    bool missed;               /* counted in nsc_modules.unread */
    struct nsc_code_file code; /* of the file, once it was opened */
    /* It is parsed in a child with these credentials. */
    bool confined;
    struct nsc_credentials owner; /* set if foreign or confined */
    bool symbols_tried;
    struct nsc_symbols *symbols; /* NULL: not opened yet, or cannot be */
    struct nsc_id_map functions; /* by address */
    bool sites_tried;
    size_t site_count; /* of all kinds */
    uint64_t *hooks;   /* addresses of header hooks, ascending */
    size_t hook_count;
    struct nsc_sleds *sleds; /* NULL: not read yet, or cannot be */
    /* One bit a site each, as in live.h; NULL until asked for, or until there is any. */
    uint8_t *wanted; /* what the filter lets through */
    uint8_t *barred; /* taken out all the same, see nsc_hook_switch_bar() */
    /* What the symbols are to the two filters that were asked for last: events from before and
     * after a change are read by turns. */
    struct nsc_module_roles {
        const struct nsc_filter *filter; /* NULL: none yet */
        uint8_t *symbols; /* a byte a symbol, enum nsc_filter_role; NULL: no memory */
    } roles[2];
};

struct nsc_modules {
    struct nsc_writer *writer;
    struct nsc_filter_history rules;
    const struct nsc_filter *filter; /* in force: the newest of them */
    struct nsc_module_file **files;
    uint32_t count, capacity, open_fds;
    uint64_t opening_ns; /* that opening files of other users has taken */
    uint32_t unread;     /* files that could not be opened or parsed: their hooks are not known */
    int unread_error;    /* of the first, a negative errno */
    struct nsc_function_place *places; /* by function id */
    uint32_t place_count, place_capacity;
    struct nsc_id_map unknown; /* functions at addresses that no module holds */
    uint32_t other;            /* nsc_modules_other(); NSC_NO_ID: not in the trace yet */
    struct nsc_limits limits;
};

int nsc_modules_init(struct nsc_modules *modules, struct nsc_writer *writer,
                     const struct nsc_filter *filter);
void nsc_modules_free(struct nsc_modules *modules);
/* Another filter, for events from @ticks on. @filter: its contents are taken over. 0 or -ENOMEM,
 * which leaves all as it was. */
int nsc_modules_set_filter(struct nsc_modules *modules, const struct nsc_filter *filter,
                           uint64_t ticks);

/* A process that has loaded a module, and an address in the module's code there. */
struct nsc_module_at {
    const struct nsc_admission *admission;
    struct nsc_admission_verdict *verdict; /* on the process */
    pid_t pid;                             /* as the shared memory has it; 0: it is over */
    uint64_t address;
};

/* The module of that path and build id, new or known; 0 or -errno, -E2BIG: beyond the limits.
 * @index: in modules->files. */
int nsc_modules_add(struct nsc_modules *modules, const char *path, const uint8_t *build_id,
                    uint32_t build_id_bytes, const struct nsc_module_at *at, uint32_t *index);

/* The id of the function at @va of a module (NSC_NO_ID: at a run-time address that none holds).
 * Beyond the limits, nsc_modules_other(). When memory runs out, 0: some function's id. */
uint32_t nsc_modules_function(struct nsc_modules *modules, uint32_t module, uint64_t va);
/* The one that stands for all functions beyond the limits. */
uint32_t nsc_modules_other(struct nsc_modules *modules);

/* The module's symbols, or NULL. Opens the file the first time. */
struct nsc_symbols *nsc_module_symbols(struct nsc_module_file *file);
/* Reads the hook sites, the first time. */
void nsc_module_load_sites(struct nsc_module_file *file);
/* The module's sleds, or NULL. Reads the file the first time. */
const struct nsc_sleds *nsc_module_sleds(struct nsc_module_file *file);
/* Is @va inside a sled (else it is the address of a function with a header hook)? */
bool nsc_module_in_sled(const struct nsc_module_file *file, uint64_t va);
/* The first header hook at or above @va: the function's own. */
bool nsc_module_own_hook(const struct nsc_module_file *file, uint64_t va, uint64_t *hook_va);
/* What the function that holds @va is to the filter: enum nsc_filter_role. @file NULL: nothing is
 * known of it. */
uint8_t nsc_module_roles(struct nsc_module_file *file, const struct nsc_filter *filter,
                         uint64_t va);
/* The same as flags of a code: NSC_CODE_LEFT_OUT and NSC_CODE_ROLES. */
uint32_t nsc_module_code_flags(struct nsc_module_file *file, const struct nsc_filter *filter,
                               uint64_t va);

#endif
