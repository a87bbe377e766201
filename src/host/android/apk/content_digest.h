/*
 * content_digest.h - the digest of an APK's contents that the signature schemes v2 and v3 sign:
 * each section is hashed in chunks of 1 MiB; the digest is a hash over the chunks' hashes.
 *
 * Called by apk_build.c and apk_verify.c. Memory: one chunk.
 * Source: "APK Signature Scheme v2", section "Integrity-protected contents".
 */
#ifndef NSC_ANDROID_APK_CONTENT_DIGEST_H
#define NSC_ANDROID_APK_CONTENT_DIGEST_H

#include "android/apk/libcrypto/crypto.h"

struct nsc_apk_digest;

/* Begin a digest. NULL if out of memory. */
struct nsc_apk_digest *nsc_apk_digest_new(enum nsc_crypto_hash kind);
void nsc_apk_digest_free(struct nsc_apk_digest *d);
/* Add the next bytes of the section; a nsc_zip_sink. Returns 0 or -ENOMEM. */
int nsc_apk_digest_add(void *digest, const uint8_t *data, size_t bytes);
/* End the section. Returns 0 or -ENOMEM. */
int nsc_apk_digest_section(struct nsc_apk_digest *d);
/* After the last section: write nsc_crypto_hash_bytes() to @out. Returns 0 or -ENOMEM. */
int nsc_apk_digest_end(struct nsc_apk_digest *d, uint8_t *out);

#endif
