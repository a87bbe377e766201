/*
 * apk_build.h - make an APK: entries of another one, new ones, and the signatures over all of it.
 *
 * Called by `nanoscope apk sign` and by inject/, which replaces some entries:
 *
 *     nsc_apk_build_create("out.apk", key, &b, &diag);
 *     for each entry e of the archive z:
 *         nsc_apk_build_copy(b, z, e, &diag)   or   nsc_apk_build_add(b, e->name, ..., &diag);
 *     nsc_apk_build_finish(b, NULL, NULL, &diag);
 *
 * Signed with schemes v1, v2 and v3: every version of Android since 4.3 (with an EC key, 5.0)
 * finds one that it knows, and the later ones their own. One pass: what is written is hashed on its
 * way. The file appears under its name when it is whole, and may be the one that is read.
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
 * @path: where it will appear, or "-" for standard output.
 * @key: to sign with, borrowed until the end; NULL: it will not be signed.
 * @out: receives the build; end it with nsc_apk_build_finish() or nsc_apk_build_abandon().
 * Returns 0 or -errno with @diag: as nsc_atomic_file_create().
 */
int nsc_apk_build_create(const char *path, const struct nsc_crypto_key *key,
                         struct nsc_apk_build **out, struct nsc_diag *diag);

/**
 * nsc_apk_build_copy - an entry as it is in @z, aligned anew.
 * Left out without a word: the files of old signatures of v1. A deflated resources.arsc is stored,
 * as Android 11 wants it. When it is signed, the entry is unpacked and its CRC checked on the way.
 * Returns 0 or -errno with @diag.
 */
int nsc_apk_build_copy(struct nsc_apk_build *b, const struct nsc_zip *z,
                       const struct nsc_zip_entry *e, struct nsc_diag *diag);

/* The comment of the archive @z becomes this one's, unless Android could take it for the end of an
 * archive. Returns 0 or -errno with @diag. */
int nsc_apk_build_comment(struct nsc_apk_build *b, const struct nsc_zip *z, struct nsc_diag *diag);

/* A new entry; as nsc_zip_writer_add(). */
int nsc_apk_build_add(struct nsc_apk_build *b, const char *name, enum nsc_zip_method method,
                      const void *data, size_t bytes, struct nsc_diag *diag);

/**
 * nsc_apk_build_finish - sign, write the end, move the file to its name. Frees @b in any case.
 * @beside: a file that is all written and gets its name if, and only if, the APK does; released in
 *   any case. NULL: none.
 * @result: may be NULL.
 * Returns 0 or -errno with @diag: -EEXIST (an entry comes twice), -EFBIG (it is to be signed, and
 * needs ZIP64, which Android does not take), and what writing gives.
 */
int nsc_apk_build_finish(struct nsc_apk_build *b, struct nsc_atomic_file *beside,
                         struct nsc_apk_build_result *result, struct nsc_diag *diag);
/* Remove what there is, free @b (may be NULL). */
void nsc_apk_build_abandon(struct nsc_apk_build *b);

#endif
