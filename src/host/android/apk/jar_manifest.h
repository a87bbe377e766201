/*
 * jar_manifest.h - parse the files of a v1 signature, MANIFEST.MF and *.SF: sections of
 * "Name: value" lines.
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
    const uint8_t *at; /* raw bytes in the file, including the empty line at the end */
    size_t bytes;
    const char *digests[NSC_JAR_HASHES]; /* base64; NULL: none. In the first section, those of
                                          * the whole manifest */
};

struct nsc_jar {
    uint8_t *raw;
    size_t bytes;
    char *text;                       /* unfolded lines of @raw, each NUL terminated */
    struct nsc_jar_section *sections; /* the first one, then the others sorted by name */
    uint32_t count, room;
    const char *schemes; /* value of X-Android-APK-Signed; NULL if absent */
};

/**
 * nsc_jar_parse - parse such a file.
 * @raw: malloc'ed; owned by @out, also on failure.
 * @out: release with nsc_jar_free(), also on failure.
 * Returns 0 or -errno with @diag (without an offset): -EBADMSG, -ENOMEM.
 */
int nsc_jar_parse(uint8_t *raw, size_t bytes, struct nsc_jar *out, struct nsc_diag *diag);
void nsc_jar_free(struct nsc_jar *jar);
/* Find the section of an entry, or NULL. O(log n). */
const struct nsc_jar_section *nsc_jar_find(const struct nsc_jar *jar, const char *name);

/* The strongest hash that the section has a digest of. */
enum nsc_crypto_hash nsc_jar_best(const struct nsc_jar_section *s);
bool nsc_jar_has_digest(const struct nsc_jar_section *s);
/* Whether the digest of @data equals the section's strongest digest. */
bool nsc_jar_matches(const struct nsc_jar_section *s, const void *data, size_t bytes);

#endif
