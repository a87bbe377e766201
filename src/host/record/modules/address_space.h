/*
 * address_space.h - the address space of one traced process over time: when each module was mapped
 * where.
 *
 * Resolves code addresses of events to function ids (code_table.h). dlclose and dlopen may map
 * another module at the same addresses: then the event's time decides.
 */
#ifndef NSC_RECORD_MODULES_ADDRESS_SPACE_H
#define NSC_RECORD_MODULES_ADDRESS_SPACE_H

#include "record/modules/code_table.h"
#include "record/modules/modules.h"

struct nsc_space_mapping {
    uint64_t start, end; /* run-time addresses, half open */
    uint64_t bias;
    uint64_t load_ticks, unload_ticks; /* unload_ticks: UINT64_MAX while loaded */
    uint64_t since_ticks;              /* since then, no other module was at these addresses */
    uint32_t module;                   /* in nsc_modules.files */
    uint32_t hooks;                    /* bit set, 1 << enum nsc_live_hook */
    uint32_t id;                       /* in the trace's mapping table */
};

struct nsc_space {
    struct nsc_modules *modules;
    struct nsc_codes codes;
    struct nsc_space_mapping *mappings; /* in order of first loading */
    uint32_t count, capacity;
    bool reused; /* two mappings overlap: resolving depends on the time */
    /* Called to register modules that are not known yet. @whole: scan the whole module table, as an
     * address is in no mapping. Otherwise the event is later than the last scan, and another module
     * may be at its address. May be NULL. */
    void (*refresh)(void *context, bool whole);
    void *context;
    uint64_t looked_ticks; /* mappings are complete up to here; set before each scan */
    uint64_t until_ticks;  /* end of the time range of `codes` if no further module is loaded */
};

int nsc_space_init(struct nsc_space *space, struct nsc_modules *modules);
void nsc_space_free(struct nsc_space *space);
/* Drop the resolved addresses, as the modules' filter has changed. */
void nsc_space_filter_changed(struct nsc_space *space);

/* Record the load of a module. @mapping is copied (id, unload_ticks and since_ticks are set here).
 * @process: id in the trace. @index: receives its index in space->mappings.
 * Returns 0 or -errno; -E2BIG: beyond the limits (limits.h). */
int nsc_space_load(struct nsc_space *space, uint32_t process,
                   const struct nsc_space_mapping *mapping, uint32_t *index);
void nsc_space_unload(struct nsc_space *space, uint32_t process, uint32_t index,
                      uint64_t unload_ticks);

#endif
