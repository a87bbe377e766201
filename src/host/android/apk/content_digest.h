/*
 * content_digest.h - the digest of an APK's contents that its signature schemes v2 and v3 sign:
 * each section in chunks of 1 MiB, hashed one by one, and a hash over those.
 *
 * Called by apk_build.c and apk_verify.c. Memory: one chunk.
 * Source: "APK Signature Scheme v2", section "Integrity-protected contents".
 */
#ifndef NSC_ANDROID_APK_CONTENT_DIGEST_H
#define NSC_ANDROID_APK_CONTENT_DIGEST_H

#include "android/apk/libcrypto/crypto.h"

struct nsc_apk_digest;

/* NULL: no memory. */
struct nsc_apk_digest *nsc_apk_digest_new(enum nsc_crypto_hash kind);
void nsc_apk_digest_free(struct nsc_apk_digest *d);
/* The next bytes of the section; a nsc_zip_sink. Returns 0 or -ENOMEM. */
int nsc_apk_digest_add(void *digest, const uint8_t *data, size_t bytes);
/* The section ends. Returns 0 or -ENOMEM. */
int nsc_apk_digest_section(struct nsc_apk_digest *d);
/* After the last section: nsc_crypto_hash_bytes() to @out. Returns 0 or -ENOMEM. */
int nsc_apk_digest_end(struct nsc_apk_digest *d, uint8_t *out);

#endif
