/*
 * crypto.h - what apk/ wants of OpenSSL's libcrypto: hashes, keys, certificates, signatures.
 *
 * libcrypto.c and crypto_*.c are the only files that see OpenSSL. The library is loaded when the
 * first of these functions is called; where its headers were not there when nanoscope was built,
 * without.c says so in their place. Certificates and signatures of others are hostile input.
 */
#ifndef NSC_ANDROID_APK_LIBCRYPTO_CRYPTO_H
#define NSC_ANDROID_APK_LIBCRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/diag.h"

/* Load the library. Returns 0, or -ENOSYS with @diag: what to install. All other functions expect
 * that this has succeeded. */
int nsc_crypto_load(struct nsc_diag *diag);

/* ---- Hashes --------------------------------------------------------------------------------- */

enum nsc_crypto_hash { NSC_CRYPTO_SHA1, NSC_CRYPTO_SHA256, NSC_CRYPTO_SHA512 };

#define NSC_CRYPTO_HASH_MAX 64u

size_t nsc_crypto_hash_bytes(enum nsc_crypto_hash kind);
/* Of one run of bytes, into @out. Returns 0 or -ENOMEM. */
int nsc_crypto_digest(enum nsc_crypto_hash kind, const void *data, size_t bytes, uint8_t *out);

/* Of several runs. NULL: no memory. */
struct nsc_crypto_hasher;
struct nsc_crypto_hasher *nsc_crypto_hasher_new(enum nsc_crypto_hash kind);
void nsc_crypto_hasher_free(struct nsc_crypto_hasher *h);
void nsc_crypto_hasher_add(struct nsc_crypto_hasher *h, const void *data, size_t bytes);
/* The hash of what was added, into @out; the hasher begins anew. */
void nsc_crypto_hasher_end(struct nsc_crypto_hasher *h, uint8_t *out);

/* ---- Keys to sign with ---------------------------------------------------------------------- */

enum nsc_crypto_kind { NSC_CRYPTO_RSA, NSC_CRYPTO_EC, NSC_CRYPTO_OTHER };

struct nsc_crypto_key; /* a private key and its certificates */

/**
 * nsc_crypto_key_generate - a new RSA key of 2,048 bits with a certificate signed by itself.
 * @name: its common name.
 * Returns 0 or -errno with @diag.
 */
int nsc_crypto_key_generate(const char *name, struct nsc_crypto_key **out, struct nsc_diag *diag);

/**
 * nsc_crypto_key_from_pem - the private key and the certificates of a PEM file.
 * @password: for an encrypted key; NULL if there is none.
 * Returns 0 or -errno with @diag: -EBADMSG (no key, no certificate of this key), -EACCES (wrong
 * password, or none), -ENOTSUP (neither RSA nor EC).
 */
int nsc_crypto_key_from_pem(const void *data, size_t bytes, const char *password,
                            struct nsc_crypto_key **out, struct nsc_diag *diag);

/**
 * nsc_crypto_key_from_pkcs12 - a private key and its certificates of a PKCS#12 file.
 * @alias: its name; NULL if there is only one key. Compared without regard to case, as Java does.
 * Returns as above, and -ENOENT (no such alias), -ENOTUNIQ (several keys, no alias).
 */
int nsc_crypto_key_from_pkcs12(const void *data, size_t bytes, const char *password,
                               const char *alias, struct nsc_crypto_key **out,
                               struct nsc_diag *diag);
void nsc_crypto_key_free(struct nsc_crypto_key *key);

/* The private key, unencrypted, and the certificates, as PEM. Returns 0 or -errno with @diag. */
int nsc_crypto_key_to_pem(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag);

enum nsc_crypto_kind nsc_crypto_key_kind(const struct nsc_crypto_key *key);
/* Certificates in DER, the key's own first. Append to @out; false after the last. */
bool nsc_crypto_key_certificate(const struct nsc_crypto_key *key, uint32_t index,
                                struct nsc_buffer *out);
/* Its public half as SubjectPublicKeyInfo in DER. Returns 0 or -errno with @diag. */
int nsc_crypto_key_public(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag);

/* Sign with SHA-256: RSA (PKCS #1 v1.5) or ECDSA. Appends to @out. */
int nsc_crypto_sign(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                    struct nsc_buffer *out, struct nsc_diag *diag);
/* The same as a PKCS #7 message in DER that holds certificates and signature, not the data. */
int nsc_crypto_sign_pkcs7(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                          struct nsc_buffer *out, struct nsc_diag *diag);

/* ---- Certificates and signatures of others -------------------------------------------------- */

struct nsc_crypto_certificate {
    uint8_t sha256[32]; /* of its DER */
    char subject[256];  /* "CN=Android Debug, O=Android, C=US"; cut off if longer */
    enum nsc_crypto_kind kind;
    unsigned bits;
    int64_t begins_s, ends_s; /* validity, since 1970 */
};

/* Returns 0, or -EBADMSG: @der is no certificate. */
int nsc_crypto_certificate(const void *der, size_t bytes, struct nsc_crypto_certificate *out);
/* Its public key, as above. */
int nsc_crypto_certificate_public(const void *der, size_t bytes, struct nsc_buffer *out);

enum nsc_crypto_scheme {
    NSC_CRYPTO_PKCS1,
    NSC_CRYPTO_PSS,
    NSC_CRYPTO_ECDSA,
    NSC_CRYPTO_DSA,
};

struct nsc_crypto_bytes {
    const uint8_t *at;
    size_t bytes;
};

/* Is @signature one of @data, by the owner of @public_key (SubjectPublicKeyInfo)? */
bool nsc_crypto_verify(struct nsc_crypto_bytes public_key, enum nsc_crypto_scheme scheme,
                       enum nsc_crypto_hash hash, struct nsc_crypto_bytes data,
                       struct nsc_crypto_bytes signature);

/* Is @message a PKCS #7 message that signs @data? @certificate: receives the signer's, in DER.
 * Whether anybody vouches for the certificate is not asked. */
bool nsc_crypto_verify_pkcs7(struct nsc_crypto_bytes message, struct nsc_crypto_bytes data,
                             struct nsc_buffer *certificate);

#endif
