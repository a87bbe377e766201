/*
 * instrument.h - instrument an Android app: write a copy whose methods call our hooks.
 *
 * Called by cli/ (`nanoscope inject`). Combines dex/, axml/ and apk/. Must not print.
 */
#ifndef NSC_ANDROID_INSTRUMENT_INSTRUMENT_H
#define NSC_ANDROID_INSTRUMENT_INSTRUMENT_H

#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "util/diag.h"

/**
 * nsc_instrument_app - instrument an app.
 * @report: receives the results; release with nsc_instrument_report_free() in any case.
 *
 * The output files appear only after complete success. Returns 0 or -errno with @diag: errors of
 * nsc_apk_*(), nsc_dex_*() and nsc_axml_*(), and -EINVAL (not an app that can be instrumented),
 * -EALREADY (already instrumented), -ENOENT (no library for its ABI).
 * Context: any thread. Memory: at most four times the largest dex file.
 */
int nsc_instrument_app(const struct nsc_instrument_options *options,
                       struct nsc_instrument_report *report, struct nsc_diag *diag);

#endif
