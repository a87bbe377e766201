/*
 * crypto.h - interface of apk/ to OpenSSL's libcrypto: hashes, keys, certificates, signatures.
 *
 * Only libcrypto.c and crypto_*.c include OpenSSL. nsc_crypto_load() loads the library at run time.
 * Builds without OpenSSL's headers use without.c instead, whose nsc_crypto_load() fails.
 * Certificates and signatures to be verified are hostile input.
 */
#ifndef NSC_ANDROID_APK_LIBCRYPTO_CRYPTO_H
#define NSC_ANDROID_APK_LIBCRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/diag.h"

/* Load the library. Returns 0, or -ENOSYS with @diag, which names the package to install. Must have
 * succeeded before any other function is called. */
int nsc_crypto_load(struct nsc_diag *diag);

/* ---- Hashes --------------------------------------------------------------------------------- */

enum nsc_crypto_hash { NSC_CRYPTO_SHA1, NSC_CRYPTO_SHA256, NSC_CRYPTO_SHA512 };

#define NSC_CRYPTO_HASH_MAX 64u

size_t nsc_crypto_hash_bytes(enum nsc_crypto_hash kind);
/* Hash one buffer into @out. Returns 0 or -ENOMEM. */
int nsc_crypto_digest(enum nsc_crypto_hash kind, const void *data, size_t bytes, uint8_t *out);

/* Incremental hash. NULL if out of memory. */
struct nsc_crypto_hasher;
struct nsc_crypto_hasher *nsc_crypto_hasher_new(enum nsc_crypto_hash kind);
void nsc_crypto_hasher_free(struct nsc_crypto_hasher *h);
void nsc_crypto_hasher_add(struct nsc_crypto_hasher *h, const void *data, size_t bytes);
/* Write the hash of the added bytes to @out, and reset the hasher. */
void nsc_crypto_hasher_end(struct nsc_crypto_hasher *h, uint8_t *out);

/* ---- Keys to sign with ---------------------------------------------------------------------- */

enum nsc_crypto_kind { NSC_CRYPTO_RSA, NSC_CRYPTO_EC, NSC_CRYPTO_OTHER };

struct nsc_crypto_key; /* a private key and its certificates */

/**
 * nsc_crypto_key_generate - generate an RSA key of 2,048 bits with a self-signed certificate.
 * @name: common name of the certificate.
 * Returns 0 or -errno with @diag.
 */
int nsc_crypto_key_generate(const char *name, struct nsc_crypto_key **out, struct nsc_diag *diag);

/**
 * nsc_crypto_key_from_pem - read the private key and the certificates of a PEM file.
 * @password: of an encrypted key; NULL if not encrypted.
 * Returns 0 or -errno with @diag: -EBADMSG (no key, or no certificate of this key), -EACCES (wrong
 * or missing password), -ENOTSUP (neither RSA nor EC).
 */
int nsc_crypto_key_from_pem(const void *data, size_t bytes, const char *password,
                            struct nsc_crypto_key **out, struct nsc_diag *diag);

/**
 * nsc_crypto_key_from_pkcs12 - read a private key and its certificates from a PKCS#12 file.
 * @alias: name of the key; NULL if there is only one. Compared case-insensitively, as in Java.
 * Returns as above, and -ENOENT (no such alias), -ENOTUNIQ (several keys, no alias).
 */
int nsc_crypto_key_from_pkcs12(const void *data, size_t bytes, const char *password,
                               const char *alias, struct nsc_crypto_key **out,
                               struct nsc_diag *diag);
void nsc_crypto_key_free(struct nsc_crypto_key *key);

/* Write the unencrypted private key and the certificates as PEM. Returns 0 or -errno with @diag. */
int nsc_crypto_key_to_pem(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag);

enum nsc_crypto_kind nsc_crypto_key_kind(const struct nsc_crypto_key *key);
/* Append the certificate @index in DER to @out; 0 is the key's own. Returns false after the last.
 */
bool nsc_crypto_key_certificate(const struct nsc_crypto_key *key, uint32_t index,
                                struct nsc_buffer *out);
/* Append the public key as SubjectPublicKeyInfo in DER. Returns 0 or -errno with @diag. */
int nsc_crypto_key_public(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag);

/* Sign with SHA-256: RSA (PKCS #1 v1.5) or ECDSA. Appends to @out. */
int nsc_crypto_sign(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                    struct nsc_buffer *out, struct nsc_diag *diag);
/* The same as a PKCS #7 message in DER that holds certificates and signature, not the data. */
int nsc_crypto_sign_pkcs7(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                          struct nsc_buffer *out, struct nsc_diag *diag);

/* ---- Verification of certificates and signatures -------------------------------------------- */

struct nsc_crypto_certificate {
    uint8_t sha256[32]; /* of its DER */
    char subject[256];  /* "CN=Android Debug, O=Android, C=US"; truncated if longer */
    enum nsc_crypto_kind kind;
    unsigned bits;
    int64_t begins_s, ends_s; /* validity, in seconds since 1970 */
};

/* Decode a certificate. Returns 0, or -EBADMSG if @der is not a certificate. */
int nsc_crypto_certificate(const void *der, size_t bytes, struct nsc_crypto_certificate *out);
/* Append its public key, in the same form as nsc_crypto_key_public(). */
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

/* Whether @signature is a valid signature of @data by @public_key (SubjectPublicKeyInfo). */
bool nsc_crypto_verify(struct nsc_crypto_bytes public_key, enum nsc_crypto_scheme scheme,
                       enum nsc_crypto_hash hash, struct nsc_crypto_bytes data,
                       struct nsc_crypto_bytes signature);

/* Whether @message is a PKCS #7 message with a valid signature of @data. @certificate: receives the
 * signer's certificate in DER. Does not check a chain of trust. */
bool nsc_crypto_verify_pkcs7(struct nsc_crypto_bytes message, struct nsc_crypto_bytes data,
                             struct nsc_buffer *certificate);

#endif
