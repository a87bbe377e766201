/*
 * apk_sign_v1.h - write signature scheme v1 (signed JAR): a digest of each entry, in files of the
 * archive.
 *
 * Called by apk_build.c. Android before 7.0 supports only this scheme.
 */
#ifndef NSC_ANDROID_APK_APK_SIGN_V1_H
#define NSC_ANDROID_APK_APK_SIGN_V1_H

#include "android/apk/libcrypto/crypto.h"

struct nsc_sign_v1 {
    struct nsc_buffer manifest;  /* META-INF/MANIFEST.MF */
    struct nsc_buffer signature; /* META-INF/CERT.SF, without its head */
    struct nsc_crypto_hasher *hasher;
};

#define NSC_SIGN_V1_MANIFEST "META-INF/MANIFEST.MF"
#define NSC_SIGN_V1_LIST     "META-INF/CERT.SF"
#define NSC_SIGN_V1_RSA      "META-INF/CERT.RSA"
#define NSC_SIGN_V1_EC       "META-INF/CERT.EC"

/* Returns 0 or -ENOMEM. Release with nsc_sign_v1_free(), also on failure. */
int nsc_sign_v1_begin(struct nsc_sign_v1 *s);
void nsc_sign_v1_free(struct nsc_sign_v1 *s);
/* Add an entry whose bytes have been added to @s->hasher. Folders are not signed. */
void nsc_sign_v1_entry(struct nsc_sign_v1 *s, const char *name);
/* After the last entry: @list receives CERT.SF, @message CERT.RSA or CERT.EC. Returns 0 or -errno
 * with @diag. */
int nsc_sign_v1_end(struct nsc_sign_v1 *s, const struct nsc_crypto_key *key,
                    struct nsc_buffer *list, struct nsc_buffer *message, struct nsc_diag *diag);

#endif
