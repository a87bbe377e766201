/*
 * signature_scheme.h - constants and encodings of the signature schemes, for signing and verifying.
 *
 * Source: "APK Signature Scheme v2", "APK Signature Scheme v3", "Signed JAR File".
 */
#ifndef NSC_ANDROID_APK_SIGNATURE_SCHEME_H
#define NSC_ANDROID_APK_SIGNATURE_SCHEME_H

#include "android/apk/libcrypto/crypto.h"
#include "base/span.h"

#define NSC_SCHEME_PAGE  4096u /* alignment of start and end of the signing block */
#define NSC_SCHEME_MAGIC "APK Sig Block 42"

/* Ids of the entries of the signing block. */
#define NSC_SCHEME_V2      0x7109871au
#define NSC_SCHEME_V3      0xf05368c0u
#define NSC_SCHEME_V31     0x1b93ad61u
#define NSC_SCHEME_PADDING 0x42726577u

/* Attribute of a v2 signer (stripping protection): number of a newer scheme that must be present.
 */
#define NSC_SCHEME_STRIPPING 0xbeeff00du
/* First API levels that check v2 and v3. */
#define NSC_SCHEME_V2_SDK    24u
#define NSC_SCHEME_V3_SDK    28u
#define NSC_SCHEME_MAX_SDK   0x7fffffffu

/* Signature algorithms. */
#define NSC_SCHEME_PSS_SHA256   0x0101u
#define NSC_SCHEME_PSS_SHA512   0x0102u
#define NSC_SCHEME_PKCS1_SHA256 0x0103u
#define NSC_SCHEME_PKCS1_SHA512 0x0104u
#define NSC_SCHEME_ECDSA_SHA256 0x0201u
#define NSC_SCHEME_ECDSA_SHA512 0x0202u
#define NSC_SCHEME_DSA_SHA256   0x0301u

/* Whether @name is one of the files of a v1 signature, which are not signed themselves. */
bool nsc_scheme_is_v1_file(const char *name);

/* Digest of @data as written in v1 files: base64, NUL terminated. */
#define NSC_SCHEME_DIGEST_TEXT 92u
int nsc_scheme_digest_text(enum nsc_crypto_hash kind, const void *data, size_t bytes,
                           char out[NSC_SCHEME_DIGEST_TEXT]);
/* The same for an existing digest. */
void nsc_scheme_base64(const uint8_t *data, size_t bytes, char out[NSC_SCHEME_DIGEST_TEXT]);

/**
 * nsc_scheme_write_block - build the signing block with v2 and v3 signatures.
 * @digest: SHA-256 of the contents, see content_digest.h.
 * @out: receives the block, a whole number of pages.
 * Returns 0 or -errno with @diag.
 */
int nsc_scheme_write_block(const struct nsc_crypto_key *key, const uint8_t digest[32],
                           struct nsc_buffer *out, struct nsc_diag *diag);

#endif
