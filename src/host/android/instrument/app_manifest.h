/*
 * app_manifest.h - read and edit the app's AndroidManifest.xml. Private to instrument/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_APP_MANIFEST_H
#define NSC_ANDROID_INSTRUMENT_APP_MANIFEST_H

#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "android/zip/zip_reader.h"
#include "util/buffer.h"

struct nsc_instrument_manifest {
    struct nsc_buffer bytes; /* new contents; empty: unchanged */
    bool keeps_libraries;    /* android:extractNativeLibs="false" */
};

/**
 * nsc_instrument_manifest - read the manifest and edit it by @options.
 * @out: release with nsc_buffer_free(&out->bytes) in any case.
 * @report: receives package, debuggable flags, added permissions, and warnings.
 * Returns 0 or -errno with @diag, which does not name the manifest: -EINVAL (a split APK), or a
 * read error.
 */
int nsc_instrument_manifest(const struct nsc_instrument_options *options, const struct nsc_zip *zip,
                            struct nsc_instrument_manifest *out,
                            struct nsc_instrument_report *report, struct nsc_diag *diag);

#endif
