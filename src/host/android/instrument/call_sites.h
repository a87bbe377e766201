/*
 * call_sites.h - methods that are not the app's own and are timed where the app calls them
 * (--calls). Private to inject/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_CALL_SITES_H
#define NSC_ANDROID_INSTRUMENT_CALL_SITES_H

#include "android/dex/dex.h"
#include "android/instrument/instrument_options.h"
#include "android/names/method_table.h"

struct nsc_instrument_calls;

/* NULL without memory. @patterns is borrowed. */
struct nsc_instrument_calls *nsc_instrument_calls_new(
    const struct nsc_instrument_patterns *patterns);
void nsc_instrument_calls_free(struct nsc_instrument_calls *calls);

/* The classes of @dex are the app's own: they are recorded from within, or left out. Say so of all
 * dex files before the first question. Returns 0 or -ENOMEM. */
int nsc_instrument_calls_own(struct nsc_instrument_calls *calls, const struct nsc_dex *dex);

/**
 * nsc_instrument_calls_ids - which calls of a dex file are timed.
 * @methods: gets a line for each method that has none yet, whatever file it was met in.
 * @out: receives an array for free(), the id or 0 by index of the method; NULL if all are 0.
 * Returns 0 or -ENOMEM.
 */
int nsc_instrument_calls_ids(struct nsc_instrument_calls *calls, const struct nsc_dex *dex,
                             struct nsc_methods_writer *methods, uint32_t **out);
/* Methods that have an id. */
uint32_t nsc_instrument_calls_count(const struct nsc_instrument_calls *calls);

#endif
