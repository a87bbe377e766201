/*
 * apk_verify.h - verify the signatures of an APK and list its signers.
 *
 * Called by cli/. Checks all schemes that are present, independent of what a certain Android
 * version checks. Does not check trust in the signers: APK certificates have no trust chain.
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
    bool valid;           /* present and correct */
    struct nsc_diag diag; /* the fault, if present and not valid */
};

struct nsc_apk_signer {
    enum nsc_apk_scheme_kind scheme;
    struct nsc_crypto_certificate certificate;
    uint32_t min_sdk, max_sdk; /* v3 only */
};

struct nsc_apk_signatures {
    struct nsc_apk_scheme schemes[NSC_APK_SCHEMES];
    struct nsc_apk_signer *signers; /* of valid schemes */
    uint32_t count, room;
};

/* "v1", "v2", "v3", "v3.1". */
const char *nsc_apk_scheme_name(enum nsc_apk_scheme_kind scheme);

/**
 * nsc_apk_verify - verify all signatures of an archive.
 * @out: receives the results; release with nsc_apk_signatures_free(). A wrong signature is not an
 *       error of this function, but recorded there.
 * Returns 0 or -errno with @diag: -ENOSYS (no libcrypto), -EIO, -ENOMEM.
 */
int nsc_apk_verify(const struct nsc_zip *z, struct nsc_apk_signatures *out, struct nsc_diag *diag);
void nsc_apk_signatures_free(struct nsc_apk_signatures *s);

/* ---- Between verify*.c -------------------------------------------------------------------------
 */

/* Add the signer of a certificate in DER. Returns 0, -EBADMSG or -ENOMEM with @diag. */
int nsc_apk_add_signer(struct nsc_apk_signatures *s, enum nsc_apk_scheme_kind scheme,
                       struct nsc_crypto_bytes certificate, struct nsc_diag *diag);
/* Verify scheme v1; verify the schemes in the signing block. Return 0 or -errno with @diag, as
 * nsc_apk_verify(). */
int nsc_apk_verify_v1(const struct nsc_zip *z, struct nsc_apk_signatures *out,
                      struct nsc_diag *diag);
int nsc_apk_verify_block(const struct nsc_zip *z, struct nsc_apk_signatures *out,
                         struct nsc_diag *diag);

#endif
