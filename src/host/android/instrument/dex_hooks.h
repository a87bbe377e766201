/*
 * dex_hooks.h - instrument one dex file of an app: insert hooks into its methods and assign ids.
 * Private to instrument/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_DEX_HOOKS_H
#define NSC_ANDROID_INSTRUMENT_DEX_HOOKS_H

#include "android/dex/dex.h"
#include "android/instrument/call_sites.h"
#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "android/names/method_table.h"
#include "android/names/r8_mapping.h"

/* State shared by all dex files of an app. */
struct nsc_instrument_rewrite {
    const struct nsc_instrument_options *options;
    const struct nsc_r8_mapping *mapping; /* NULL: none */
    struct nsc_instrument_calls *calls;   /* NULL: record no calls at call sites */
    struct nsc_methods_writer *methods;
    struct nsc_instrument_report *report;
    struct nsc_diag *diag;
};

/**
 * nsc_instrument_dex - instrument a dex file.
 * @name: "classes2.dex"; an entry is added to the report.
 * @data: the file, @bytes.
 * @out: receives the new file; stays empty if nothing changes.
 * Returns 0 or -errno with r->diag: nsc_dex_read()'s, -EALREADY (it already has our hooks),
 * -ENOMEM.
 */
int nsc_instrument_dex(const struct nsc_instrument_rewrite *r, const char *name,
                       const uint8_t *data, size_t bytes, struct nsc_buffer *out);

#endif
