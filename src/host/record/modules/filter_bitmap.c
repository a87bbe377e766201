/* filter_bitmap.c - see filter_bitmap.h. */
#include "record/modules/filter_bitmap.h"

#include <stdlib.h>
#include <string.h>

/* Allocates @bytes in the filter arena. When the arena is full, starts again at its beginning, as
 * modules read their bitmaps at once. */
static uint8_t *arena_take(struct nsc_record_session *session, uint32_t bytes, uint32_t *at)
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

void nsc_filter_bitmap_judge(struct nsc_modules *modules, struct nsc_module_file *file,
                             const struct nsc_symbols_site *sites, size_t count, uint8_t *bits)
{
    size_t i;

    for (i = 0; i < count; i++) {
        uint8_t bit = (uint8_t)(1u << (i % 8));

        bits[i / 8] = (uint8_t)(bits[i / 8] & ~bit);
        if (nsc_module_roles(file, modules->filter, sites[i].va) != 0)
            bits[i / 8] |= bit;
    }
}

void nsc_filter_bitmap_give(struct nsc_record_session *session, struct nsc_live_module *live,
                            struct nsc_modules *modules, const struct nsc_space_mapping *mapping)
{
    uint32_t site_count = __atomic_load_n(&live->site_count, __ATOMIC_RELAXED);
    struct nsc_module_file *file = mapping != NULL ? modules->files[mapping->module] : NULL;
    bool unknown = nsc_module_roles(NULL, modules->filter, 0) != 0;
    struct nsc_symbols_site *sites = NULL;
    size_t count = 0, i;
    uint32_t at = 0;
    uint8_t *bits;

    if (file != NULL)
        nsc_module_load_sites(file);
    /* A program can request bitmaps repeatedly. Beyond the limit it gets none, and the runtime
     * reports NSC_LIVE_PROBLEM_FILTER_TIMEOUT. */
    if (!nsc_limits_ration_take(&modules->limits.verdicts,
                                site_count / 8 + 1 + (file != NULL ? file->site_count : 0)))
        return;
    if (file != NULL && nsc_module_symbols(file) != NULL &&
        nsc_symbols_sites(file->symbols, &sites, &count, NULL) != 0)
        count = 0;
    if (count > site_count)
        count = site_count;
    bits = arena_take(session, site_count / 8 + 1, &at);
    if (bits == NULL) {
        free(sites);
        return; /* no bitmap, as above */
    }
    memset(bits, unknown ? 0xff : 0, site_count / 8 + 1);
    nsc_filter_bitmap_judge(modules, file, sites, count, bits);
    for (i = 0; file != NULL && file->barred != NULL && i < count / 8 + 1; i++)
        bits[i] = (uint8_t)(bits[i] & ~file->barred[i]);
    free(sites);
    __atomic_store_n(&live->filter_at, at, __ATOMIC_RELAXED);
    __atomic_store_n(&live->filter_state, NSC_LIVE_FILTER_READY, __ATOMIC_RELEASE);
}
