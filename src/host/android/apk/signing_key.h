/*
 * signing_key.h - load or create the key that an APK is signed with.
 *
 * Called by cli/. The debug key is created on first use and then kept: a device updates an app only
 * if the new APK is signed with the same key.
 */
#ifndef NSC_ANDROID_APK_SIGNING_KEY_H
#define NSC_ANDROID_APK_SIGNING_KEY_H

#include "android/apk/libcrypto/crypto.h"

#define NSC_APK_KEY_DEBUG_NAME "Nanoscope Debug"

/**
 * nsc_apk_key_debug - load the user's debug key: nanoscope/debug.pem under $XDG_CONFIG_HOME or
 * ~/.config. Creates it if there is none, readable by the user only. Never changes an existing one.
 * @path: receives its path, malloc'ed; may be NULL.
 * @made: receives whether it was created now; may be NULL.
 * Returns 0 or -errno with @diag: -ENOENT (no home), -EPERM (another user's, or accessible by other
 * users), or a read or write error.
 */
int nsc_apk_key_debug(struct nsc_crypto_key **out, char **path, bool *made, struct nsc_diag *diag);

/**
 * nsc_apk_key_load - load a key from a file of the user: PKCS#12, or PEM with private key and
 * certificate.
 * @alias: name of the key in a PKCS#12 file; NULL if it has only one. Must be NULL for PEM.
 * @password: NULL if there is none.
 * Returns 0 or -errno with @diag, which names the file: as nsc_crypto_key_from_pem() and _pkcs12(),
 * -ENOTSUP (a Java keystore, with the command that converts it), -EINVAL (an alias for PEM).
 */
int nsc_apk_key_load(const char *path, const char *alias, const char *password,
                     struct nsc_crypto_key **out, struct nsc_diag *diag);

/* Decode the key's own certificate. Returns 0 or -EBADMSG. */
int nsc_apk_key_certificate(const struct nsc_crypto_key *key, struct nsc_crypto_certificate *out);

#endif
