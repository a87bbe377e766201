/*
 * address_space.h - the address space of one traced process over time: which module was where,
 * when.
 *
 * Resolves code addresses of events into function ids (code_table.h). dlclose and dlopen may put
 * another module at the same addresses: then the instant of the event decides.
 */
#ifndef NSC_RECORD_MODULES_ADDRESS_SPACE_H
#define NSC_RECORD_MODULES_ADDRESS_SPACE_H

#include "record/modules/code_table.h"
#include "record/modules/modules.h"

struct nsc_space_mapping {
    uint64_t start, end; /* run-time addresses, half open */
    uint64_t bias;
    uint64_t load_ticks, unload_ticks; /* unload UINT64_MAX while loaded */
    uint64_t since_ticks;              /* the same module was here since, and no other */
    uint32_t module;                   /* in nsc_modules.files */
    uint32_t hooks;                    /* bit set, 1 << enum nsc_live_hook */
    uint32_t id;                       /* in the trace's mapping table */
};

struct nsc_space {
    struct nsc_modules *modules;
    struct nsc_codes codes;
    struct nsc_space_mapping *mappings; /* in the order of first loading */
    uint32_t count, capacity;
    bool reused; /* two mappings overlap: answers depend on time */
    /* Called to look for modules not yet seen: in the @whole table when an address is not in any
     * mapping; else because an event is later than the last look, when another module may have had
     * its address. May be NULL. */
    void (*refresh)(void *context, bool whole);
    void *context;
    uint64_t looked_ticks; /* the mappings are right up to here: set before a look at the modules */
    uint64_t until_ticks;  /* end of the time that `codes` is for, were all modules known */
};

int nsc_space_init(struct nsc_space *space, struct nsc_modules *modules);
void nsc_space_free(struct nsc_space *space);
/* The modules' filter has changed: what is known of addresses is forgotten. */
void nsc_space_filter_changed(struct nsc_space *space);

/* A module was loaded; @mapping is copied (id, unload_ticks and since_ticks are set here).
 * @process: id in the trace. @index: receives its place in space->mappings. 0 or -errno; -E2BIG:
 * beyond the limits (limits.h). */
int nsc_space_load(struct nsc_space *space, uint32_t process,
                   const struct nsc_space_mapping *mapping, uint32_t *index);
void nsc_space_unload(struct nsc_space *space, uint32_t process, uint32_t index,
                      uint64_t unload_ticks);

#endif
