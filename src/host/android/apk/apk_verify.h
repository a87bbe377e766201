/*
 * apk_verify.h - who signed an APK, and whether what they signed is what is there.
 *
 * Called by cli/. All schemes that are there are looked at, whatever an Android of some version
 * would look at. Nobody is asked whether the signer is to be trusted: with APKs nobody is.
 */
#ifndef NSC_ANDROID_APK_APK_VERIFY_H
#define NSC_ANDROID_APK_APK_VERIFY_H

#include "android/apk/libcrypto/crypto.h"
#include "android/zip/zip_reader.h"

enum nsc_apk_scheme_kind {
    NSC_APK_V1,
    NSC_APK_V2,
    NSC_APK_V3,
    NSC_APK_V31,
    NSC_APK_SCHEMES,
};

struct nsc_apk_scheme {
    bool present;
    bool valid;           /* present, and nothing is wrong */
    struct nsc_diag diag; /* what is wrong */
};

struct nsc_apk_signer {
    enum nsc_apk_scheme_kind scheme;
    struct nsc_crypto_certificate certificate;
    uint32_t min_sdk, max_sdk; /* v3 only */
};

struct nsc_apk_signatures {
    struct nsc_apk_scheme schemes[NSC_APK_SCHEMES];
    struct nsc_apk_signer *signers; /* of schemes that are valid */
    uint32_t count, room;
};

/* "v1", "v2", "v3", "v3.1". */
const char *nsc_apk_scheme_name(enum nsc_apk_scheme_kind scheme);

/**
 * nsc_apk_verify - look at all signatures of an archive.
 * @out: receives what was found; release with nsc_apk_signatures_free(). A wrong signature is no
 *       failure: see there.
 * Returns 0 or -errno with @diag: -ENOSYS (no libcrypto), -EIO, -ENOMEM.
 */
int nsc_apk_verify(const struct nsc_zip *z, struct nsc_apk_signatures *out, struct nsc_diag *diag);
void nsc_apk_signatures_free(struct nsc_apk_signatures *s);

/* ---- Between verify*.c -------------------------------------------------------------------------
 */

/* Adds the signer to whom a certificate in DER belongs. Returns 0, -EBADMSG or -ENOMEM with @diag.
 */
int nsc_apk_add_signer(struct nsc_apk_signatures *s, enum nsc_apk_scheme_kind scheme,
                       struct nsc_crypto_bytes certificate, struct nsc_diag *diag);
/* Each fills its schemes; returns 0 or -errno with @diag, as nsc_apk_verify(). */
int nsc_apk_verify_v1(const struct nsc_zip *z, struct nsc_apk_signatures *out,
                      struct nsc_diag *diag);
int nsc_apk_verify_block(const struct nsc_zip *z, struct nsc_apk_signatures *out,
                         struct nsc_diag *diag);

#endif
