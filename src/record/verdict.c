/* verdict.c - see verdict.h. */
#include "record/verdict.h"

#include <stdlib.h>
#include <string.h>

/* Room for @bytes in the filter arena; the last verdict's room is used again when it is full, as
 * modules read theirs at once. */
static uint8_t *arena_take(struct nsc_session *session, uint32_t bytes, uint32_t *at)
{
    if (bytes > session->filter_bytes)
        return NULL;
    if (bytes > session->filter_bytes - session->filter_used)
        session->filter_used = 0;
    *at = session->filter_used;
    session->filter_used += (bytes + 7) & ~7u;
    if (session->filter_used > session->filter_bytes)
        session->filter_used = session->filter_bytes;
    return session->filter + *at;
}

void nsc_verdict_give(struct nsc_session *session, struct nsc_live_module *live,
                      struct nsc_modules *modules, const struct nsc_space_mapping *mapping)
{
    struct nsc_symbols_site *sites = NULL;
    struct nsc_module_file *file;
    size_t count = 0, i;
    uint32_t at = 0;
    uint8_t *bits;

    if (mapping != NULL) {
        file = modules->files[mapping->module];
        if (nsc_module_symbols(file) != NULL &&
            nsc_symbols_sites(file->symbols, &sites, &count, NULL) != 0)
            count = 0;
    }
    if (count / 8 + 1 > UINT32_MAX)
        count = 0;
    bits = arena_take(session, (uint32_t)(count / 8 + 1), &at);
    if (bits == NULL) {
        free(sites);
        return; /* the runtime's patience ends, and it says so: NSC_LIVE_PROBLEM_FILTER_TIMEOUT */
    }
    memset(bits, 0, count / 8 + 1);
    for (i = 0; i < count; i++)
        if (nsc_module_keeps(file, modules->filter, sites[i].va))
            bits[i / 8] |= (uint8_t)(1u << (i % 8));
    free(sites);
    __atomic_store_n(&live->filter_at, at, __ATOMIC_RELAXED);
    __atomic_store_n(&live->filter_state, NSC_LIVE_FILTER_READY, __ATOMIC_RELEASE);
}
