/*
 * jar_manifest.h - the files of a signature of v1, MANIFEST.MF and *.SF: sections of "Name: value"
 * lines.
 *
 * Called by apk_verify_v1.c. Hostile input.
 * Source: JAR File Specification, "Name-Value pairs and Sections".
 */
#ifndef NSC_ANDROID_APK_JAR_MANIFEST_H
#define NSC_ANDROID_APK_JAR_MANIFEST_H

#include "android/apk/libcrypto/crypto.h"

#define NSC_JAR_HASHES 3u /* enum nsc_crypto_hash */

struct nsc_jar_section {
    const char *name;  /* of the entry; "" for the first section */
    const uint8_t *at; /* as it lies in the file, its empty line included */
    size_t bytes;
    const char *digests[NSC_JAR_HASHES]; /* in base64; NULL where there is none. Of the first
                                          * section: of the whole manifest */
};

struct nsc_jar {
    uint8_t *raw;
    size_t bytes;
    char *text;                       /* of @raw: lines put together again, each with a NUL */
    struct nsc_jar_section *sections; /* the first one, then the others by name */
    uint32_t count, room;
    const char *schemes; /* X-Android-APK-Signed; NULL if it is not there */
};

/**
 * nsc_jar_parse - take such a file apart.
 * @raw: malloc'ed; the jar's from now on, also on failure.
 * @out: release with nsc_jar_free(), also on failure.
 * Returns 0 or -errno with @diag (without an offset): -EBADMSG, -ENOMEM.
 */
int nsc_jar_parse(uint8_t *raw, size_t bytes, struct nsc_jar *out, struct nsc_diag *diag);
void nsc_jar_free(struct nsc_jar *jar);
/* The section of an entry, or NULL. O(log n). */
const struct nsc_jar_section *nsc_jar_find(const struct nsc_jar *jar, const char *name);

/* The best digest of a section is that of @data, hashed. */
enum nsc_crypto_hash nsc_jar_best(const struct nsc_jar_section *s);
bool nsc_jar_has_digest(const struct nsc_jar_section *s);
/* Whether @data has the section's best digest. */
bool nsc_jar_matches(const struct nsc_jar_section *s, const void *data, size_t bytes);

#endif
