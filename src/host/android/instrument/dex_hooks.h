/*
 * dex_hooks.h - one dex file of an app: its methods get their hooks and their ids. Private to
 * inject/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_DEX_HOOKS_H
#define NSC_ANDROID_INSTRUMENT_DEX_HOOKS_H

#include "android/dex/dex.h"
#include "android/instrument/call_sites.h"
#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "android/names/method_table.h"
#include "android/names/r8_mapping.h"

/* What all dex files of an app share. */
struct nsc_instrument_rewrite {
    const struct nsc_instrument_options *options;
    const struct nsc_r8_mapping *mapping; /* NULL: none */
    struct nsc_instrument_calls *calls;   /* NULL: none are timed */
    struct nsc_methods_writer *methods;
    struct nsc_instrument_report *report;
    struct nsc_diag *diag;
};

/**
 * nsc_instrument_dex - rewrite a dex file.
 * @name: "classes2.dex"; the report gets an entry for it.
 * @data: @bytes of it.
 * @out: receives the new file; stays empty if nothing is to be changed in it.
 * Returns 0 or -errno with r->diag: nsc_dex_read()'s, -EALREADY (our hooks are in it), -ENOMEM.
 */
int nsc_instrument_dex(const struct nsc_instrument_rewrite *r, const char *name,
                       const uint8_t *data, size_t bytes, struct nsc_buffer *out);

#endif
