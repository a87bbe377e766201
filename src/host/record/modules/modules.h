/*
 * modules.h - the ELF files whose code is recorded, and the functions found in them.
 *
 * A module is one file (path and build ID), however many processes load it; a function is an
 * address in it. Functions get ids while events are drained. Their names are looked up at the end,
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

/* The location of a function of the trace. Index = function id. */
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
    uint32_t kinds; /* kinds of hooks, 1 << enum nsc_live_hook; set with --timing entry only */
    struct nsc_modules *modules;     /* the container */
    struct nsc_admission *admission; /* to the session that it was loaded in */
    int fd; /* kept open, as the file may be deleted before the end; -1: not open */
    /* The recorder is root, and a program with fewer privileges has loaded the file: it is opened
     * with that program's credentials only. */
    bool foreign;
    bool missed;               /* counted in nsc_modules.unread */
    struct nsc_code_file code; /* segments of the file, once it was opened */
    /* A child process with the credentials of `owner` parses the file. */
    bool confined;
    struct nsc_credentials owner; /* set if foreign or confined */
    bool symbols_tried;
    struct nsc_symbols *symbols; /* NULL: not opened yet, or not readable */
    struct nsc_id_map functions; /* by address */
    bool sites_tried;
    size_t site_count; /* sites of all kinds */
    uint64_t *hooks;   /* addresses of header hooks, ascending */
    size_t hook_count;
    struct nsc_sleds *sleds; /* NULL: not read yet, or not readable */
    /* Bitmaps of sites, as in live.h; NULL: not used yet. */
    uint8_t *wanted; /* sites that the filter keeps */
    uint8_t *barred; /* sites disabled regardless of the filter, see nsc_hook_switch_bar() */
    /* Roles of the symbols for the two filters used last: around a filter change, events from
     * before and after it alternate. */
    struct nsc_module_roles {
        const struct nsc_filter *filter; /* NULL: none yet */
        uint8_t *symbols; /* one byte per symbol, enum nsc_filter_role; NULL: no memory */
    } roles[2];
};

struct nsc_modules {
    struct nsc_writer *writer;
    struct nsc_filter_history rules;
    const struct nsc_filter *filter; /* the newest filter, which is in force */
    struct nsc_module_file **files;
    uint32_t count, capacity, open_fds;
    uint64_t opening_ns;  /* time spent opening files, as root */
    uint64_t checking_ns; /* time spent reading maps that are long or do not show a module */
    uint32_t unread;      /* files that could not be opened or parsed; their hooks are unknown */
    int unread_error;     /* error of the first, a negative errno */
    struct nsc_function_place *places; /* by function id */
    uint32_t place_count, place_capacity;
    struct nsc_id_map unknown; /* functions at addresses outside all modules */
    uint32_t other;            /* id of nsc_modules_other(); NSC_NO_ID: not in the trace yet */
    struct nsc_limits limits;
};

int nsc_modules_init(struct nsc_modules *modules, struct nsc_writer *writer,
                     const struct nsc_filter *filter);
void nsc_modules_free(struct nsc_modules *modules);
/* Set another filter, for events from @ticks on. @filter: takes ownership of its contents. Returns
 * 0 or -ENOMEM, which changes nothing. */
int nsc_modules_set_filter(struct nsc_modules *modules, const struct nsc_filter *filter,
                           uint64_t ticks);

/* A process that has loaded a module, and an address in the module's code there. */
struct nsc_module_at {
    struct nsc_admission *admission;
    struct nsc_admission_verdict *verdict; /* cached admission of the process */
    pid_t pid;                             /* from the shared memory; 0: the process has ended */
    uint64_t address;
};

/* Find or add the module with that path and build ID. Returns 0 or -errno; -E2BIG: beyond the
 * limits. @index: receives its index in modules->files. */
int nsc_modules_add(struct nsc_modules *modules, const char *path, const uint8_t *build_id,
                    uint32_t build_id_bytes, const struct nsc_module_at *at, uint32_t *index);

/* Returns the id of the function at @va of a module. With NSC_NO_ID for the module, @va is a
 * run-time address outside all modules. Beyond the limits, returns nsc_modules_other(). If memory
 * runs out, returns 0, the id of an arbitrary function. */
uint32_t nsc_modules_function(struct nsc_modules *modules, uint32_t module, uint64_t va);
/* Returns the id of the entry that represents all functions beyond the limits. */
uint32_t nsc_modules_other(struct nsc_modules *modules);

/* The module's symbols, or NULL. The first call opens the file. */
struct nsc_symbols *nsc_module_symbols(struct nsc_module_file *file);
/* Read the hook sites, in the first call only. */
void nsc_module_load_sites(struct nsc_module_file *file);
/* The module's sleds, or NULL. The first call reads the file. */
const struct nsc_sleds *nsc_module_sleds(struct nsc_module_file *file);
/* True if @va is inside a sled; otherwise it is the address of a function with a header hook. */
bool nsc_module_in_sled(const struct nsc_module_file *file, uint64_t va);
/* Find the first header hook at or above @va, the function's own. Returns false if there is none.
 */
bool nsc_module_own_hook(const struct nsc_module_file *file, uint64_t va, uint64_t *hook_va);
/* Returns the roles (enum nsc_filter_role) in the filter of the function that contains @va. @file
 * NULL: an unknown module. */
uint8_t nsc_module_roles(struct nsc_module_file *file, const struct nsc_filter *filter,
                         uint64_t va);
/* As nsc_module_roles(), as flags of a code: NSC_CODE_LEFT_OUT and NSC_CODE_ROLES. */
uint32_t nsc_module_code_flags(struct nsc_module_file *file, const struct nsc_filter *filter,
                               uint64_t va);

#endif
