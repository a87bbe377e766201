/*
 * filter_bitmap.h - the filter bitmap of a module: one bit per site, 1 = record. A module waits for
 * its bitmap before it enables sleds.
 */
#ifndef NSC_RECORD_MODULES_FILTER_BITMAP_H
#define NSC_RECORD_MODULES_FILTER_BITMAP_H

#include "record/modules/address_space.h"
#include "record/session/session.h"

/* Write the bitmap to the session's memory and release the module (nsc_live_module.filter_state).
 * Without @mapping, or if the file cannot be read, all functions count as unnamed. Beyond the
 * limits (limits.h), the module gets no bitmap. */
void nsc_filter_bitmap_give(struct nsc_record_session *session, struct nsc_live_module *live,
                            struct nsc_modules *modules, const struct nsc_space_mapping *mapping);

/* Set one bit per site: 1 if the filter keeps it. Changes only the bits of the @count sites. */
void nsc_filter_bitmap_judge(struct nsc_modules *modules, struct nsc_module_file *file,
                             const struct nsc_symbols_site *sites, size_t count, uint8_t *bits);

#endif
