/*
 * call_sites.h - select calls of methods outside the app that are recorded at the app's call sites
 * (--calls). Private to instrument/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_CALL_SITES_H
#define NSC_ANDROID_INSTRUMENT_CALL_SITES_H

#include "android/dex/dex.h"
#include "android/instrument/instrument_options.h"
#include "android/names/method_table.h"

struct nsc_instrument_calls;

/* Returns NULL if out of memory. @patterns is borrowed. */
struct nsc_instrument_calls *nsc_instrument_calls_new(
    const struct nsc_instrument_patterns *patterns);
void nsc_instrument_calls_free(struct nsc_instrument_calls *calls);

/* Register the classes of @dex as the app's own: their methods are not recorded at call sites. Must
 * be called for all dex files before nsc_instrument_calls_ids(). Returns 0 or -ENOMEM. */
int nsc_instrument_calls_own(struct nsc_instrument_calls *calls, const struct nsc_dex *dex);

/**
 * nsc_instrument_calls_ids - assign ids to the called methods of a dex file that are recorded.
 * @methods: receives a line for each method that has no id yet; ids are shared by all dex files.
 * @out: receives a malloc'ed array by method index: the id, or 0; NULL if all are 0.
 * Returns 0 or -ENOMEM.
 */
int nsc_instrument_calls_ids(struct nsc_instrument_calls *calls, const struct nsc_dex *dex,
                             struct nsc_methods_writer *methods, uint32_t **out);
/* Number of called methods that have an id. */
uint32_t nsc_instrument_calls_count(const struct nsc_instrument_calls *calls);

#endif
