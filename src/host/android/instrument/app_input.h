/*
 * app_input.h - what kind of file it is, and what of it matters. Private to inject/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_APP_INPUT_H
#define NSC_ANDROID_INSTRUMENT_APP_INPUT_H

#include "android/instrument/instrument_report.h"
#include "android/zip/zip_reader.h"

#define NSC_INSTRUMENT_MANIFEST "AndroidManifest.xml"

/* A processor's folder under lib/, and the folder of ours that serves it; static. */
struct nsc_instrument_abi {
    const char *name;
    const char *ours; /* NULL: we have none */
};

struct nsc_instrument_input {
    struct nsc_zip *zip;
    /* classes.dex, classes2.dex ... in this order, up to the first that is missing: those that
     * Android loads. */
    const struct nsc_zip_entry **dex;
    uint32_t dex_count;
    uint64_t dex_bytes;
    const struct nsc_instrument_abi *
        *abis; /* into which our library goes; all that are, or the four */
    uint32_t abi_count;
    bool stored_libraries; /* the app's own are not compressed */
};

/**
 * nsc_instrument_open - open the input and look at its names.
 * @report: takes warnings.
 * Returns 0 or -errno with @diag: nsc_zip_open()'s, -EINVAL (not an APK that can be rewritten, and
 * what it is), -EALREADY (it is rewritten), -ENOTSUP (libraries for other processors only).
 */
int nsc_instrument_open(const char *path, struct nsc_instrument_input *in,
                        struct nsc_instrument_report *report, struct nsc_diag *diag);
void nsc_instrument_close(struct nsc_instrument_input *in);

#endif
