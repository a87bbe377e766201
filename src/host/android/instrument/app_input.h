/*
 * app_input.h - open the input APK, check that it can be instrumented, list its dex files and ABIs.
 * Private to instrument/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_APP_INPUT_H
#define NSC_ANDROID_INSTRUMENT_APP_INPUT_H

#include "android/instrument/instrument_report.h"
#include "android/zip/zip_reader.h"

#define NSC_INSTRUMENT_MANIFEST "AndroidManifest.xml"

/* An ABI: its folder under lib/, and the folder of our matching library; static. */
struct nsc_instrument_abi {
    const char *name;
    const char *ours; /* NULL: not supported */
};

struct nsc_instrument_input {
    struct nsc_zip *zip;
    /* classes.dex, classes2.dex ... in this order, up to the first missing number: the files that
     * Android loads. */
    const struct nsc_zip_entry **dex;
    uint32_t dex_count;
    uint64_t dex_bytes;
    const struct nsc_instrument_abi *
        *abis; /* ABIs to add our library for: all of the app's, or the four standard ones */
    uint32_t abi_count;
    bool stored_libraries; /* the app's own libraries are not compressed */
};

/**
 * nsc_instrument_open - open the input and check its entry names.
 * @report: receives warnings.
 * Returns 0 or -errno with @diag: nsc_zip_open()'s, -EINVAL (not an APK that can be instrumented;
 * the message says what it is), -EALREADY (already instrumented), -ENOTSUP (libraries for other
 * ABIs only).
 */
int nsc_instrument_open(const char *path, struct nsc_instrument_input *in,
                        struct nsc_instrument_report *report, struct nsc_diag *diag);
void nsc_instrument_close(struct nsc_instrument_input *in);

#endif
