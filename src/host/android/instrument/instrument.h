/*
 * instrument.h - an Android app in, the same app out, whose methods call our hooks.
 *
 * Called by cli/ (`nanoscope inject`). Puts together what dex/, axml/ and apk/ can do. Must not
 * print.
 */
#ifndef NSC_ANDROID_INSTRUMENT_INSTRUMENT_H
#define NSC_ANDROID_INSTRUMENT_INSTRUMENT_H

#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "util/diag.h"

/**
 * nsc_instrument - rewrite an app.
 * @report: receives what was done; release with nsc_instrument_report_free() in any case.
 *
 * Nothing appears under the names of the outputs before all is well. Returns 0 or -errno with
 * @diag: what nsc_apk_*(), nsc_dex_*() and nsc_axml_*() return, and -EINVAL (no app that can be
 * rewritten), -EALREADY (it is rewritten already), -ENOENT (no library for it).
 * Context: any thread. Memory: the largest dex file four times over, at most.
 */
int nsc_instrument_app(const struct nsc_instrument_options *options,
                       struct nsc_instrument_report *report, struct nsc_diag *diag);

#endif
