/*
 * filter_bitmap.h - the filter's answer to a module that waits for it: which sites are to be
 * recorded.
 */
#ifndef NSC_RECORD_MODULES_FILTER_BITMAP_H
#define NSC_RECORD_MODULES_FILTER_BITMAP_H

#include "record/modules/address_space.h"
#include "record/session/session.h"

/* Writes the bitmap and wakes the module (see nsc_live_module.filter_state). Without @mapping, or
 * when the file cannot be read, what the filter lets through of functions without a name. */
void nsc_filter_bitmap_give(struct nsc_record_session *session, struct nsc_live_module *live,
                            struct nsc_modules *modules, const struct nsc_space_mapping *mapping);

/* One bit a site: is it to be recorded? Only the bits of the @count sites are touched. */
void nsc_filter_bitmap_judge(struct nsc_modules *modules, struct nsc_module_file *file,
                             const struct nsc_symbols_site *sites, size_t count, uint8_t *bits);

#endif
