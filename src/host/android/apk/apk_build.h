/*
 * apk_build.h - build an APK: copied entries of another APK, new entries, and signatures.
 *
 * Called by `nanoscope apk sign` and by instrument/, which replaces some entries:
 *
 *     nsc_apk_build_create("out.apk", key, &b, &diag);
 *     for each entry e of the archive z:
 *         nsc_apk_build_copy(b, z, e, &diag)   or   nsc_apk_build_add(b, e->name, ..., &diag);
 *     nsc_apk_build_finish(b, NULL, NULL, &diag);
 *
 * Signs with schemes v1, v2 and v3, so that every Android since 4.3 (with an EC key, since 5.0)
 * finds a scheme that it supports. One pass: bytes are hashed as they are written. The file appears
 * under its name when it is complete; it may replace the input.
 */
#ifndef NSC_ANDROID_APK_APK_BUILD_H
#define NSC_ANDROID_APK_APK_BUILD_H

#include "android/apk/libcrypto/crypto.h"
#include "android/zip/zip_reader.h"
#include "util/os/atomic_file.h"

struct nsc_apk_build;

struct nsc_apk_build_result {
    uint64_t bytes;   /* of the file */
    uint64_t entries; /* in it */
};

/**
 * nsc_apk_build_create - begin an APK.
 * @path: final path, or "-" for standard output.
 * @key: signing key, borrowed until finish or abandon; NULL: do not sign.
 * @out: receives the build; end it with nsc_apk_build_finish() or nsc_apk_build_abandon().
 * Returns 0 or -errno with @diag: as nsc_atomic_file_create().
 */
int nsc_apk_build_create(const char *path, const struct nsc_crypto_key *key,
                         struct nsc_apk_build **out, struct nsc_diag *diag);

/**
 * nsc_apk_build_copy - copy an entry of @z, with new alignment.
 * Silently skips the files of old v1 signatures and of a source stamp. Stores a deflated
 * resources.arsc uncompressed, as Android 11 requires. When signing, unpacks the entry for hashing
 * and checks its CRC. Returns 0 or -errno with @diag.
 */
int nsc_apk_build_copy(struct nsc_apk_build *b, const struct nsc_zip *z,
                       const struct nsc_zip_entry *e, struct nsc_diag *diag);

/* Copy the comment of the archive @z, unless Android could mistake it for an end of central
 * directory record. Returns 0 or -errno with @diag. */
int nsc_apk_build_comment(struct nsc_apk_build *b, const struct nsc_zip *z, struct nsc_diag *diag);

/* Add a new entry; as nsc_zip_writer_add(). */
int nsc_apk_build_add(struct nsc_apk_build *b, const char *name, enum nsc_zip_method method,
                      const void *data, size_t bytes, struct nsc_diag *diag);

/**
 * nsc_apk_build_finish - sign, write the end, publish the file under its name. Frees @b in any
 * case.
 * @beside: a completely written file that is published if and only if the APK is; released in any
 *   case. NULL: none.
 * @result: may be NULL.
 * Returns 0 or -errno with @diag: -EEXIST (duplicate entry), -EFBIG (signing requested, but it
 * needs ZIP64, which Android does not accept), or a write error.
 */
int nsc_apk_build_finish(struct nsc_apk_build *b, struct nsc_atomic_file *beside,
                         struct nsc_apk_build_result *result, struct nsc_diag *diag);
/* Remove the file, free @b (may be NULL). */
void nsc_apk_build_abandon(struct nsc_apk_build *b);

#endif
