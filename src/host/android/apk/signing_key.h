/*
 * signing_key.h - where the key comes from that an APK is signed with.
 *
 * Called by cli/. The debug key is made when it is first needed, and is the same ever after: a
 * phone updates an app only when the new one has the same key.
 */
#ifndef NSC_ANDROID_APK_SIGNING_KEY_H
#define NSC_ANDROID_APK_SIGNING_KEY_H

#include "android/apk/libcrypto/crypto.h"

#define NSC_APK_KEY_DEBUG_NAME "Nanoscope Debug"

/**
 * nsc_apk_key_debug - the user's debug key: nanoscope/debug.pem under $XDG_CONFIG_HOME or
 * ~/.config. Made if there is none, for the user's eyes only; one that is there is never touched.
 * @path: receives its path, for free(); may be NULL.
 * @made: receives whether it was made now; may be NULL.
 * Returns 0 or -errno with @diag: -ENOENT (no home), -EPERM (others may read it), and what reading
 * and writing gives.
 */
int nsc_apk_key_debug(struct nsc_crypto_key **out, char **path, bool *made, struct nsc_diag *diag);

/**
 * nsc_apk_key_load - the key of a file of the user: PKCS#12, or PEM with private key and
 * certificate.
 * @alias: which key of a PKCS#12 file; NULL if it has one only. With PEM it must be NULL.
 * @password: NULL if there is none.
 * Returns 0 or -errno with @diag, which names the file: as nsc_crypto_key_from_pem() and _pkcs12(),
 * -ENOTSUP (a Java keystore, with the command that converts it), -EINVAL (an alias for PEM).
 */
int nsc_apk_key_load(const char *path, const char *alias, const char *password,
                     struct nsc_crypto_key **out, struct nsc_diag *diag);

/* What the key's own certificate says. Returns 0 or -EBADMSG. */
int nsc_apk_key_certificate(const struct nsc_crypto_key *key, struct nsc_crypto_certificate *out);

#endif
