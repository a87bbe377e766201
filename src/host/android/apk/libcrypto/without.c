/*
 * without.c - crypto.h for builds without OpenSSL's headers: nsc_crypto_load() fails with a
 * message.
 *
 * The Makefile builds it instead of the other files here. Callers call nsc_crypto_load() first, so
 * the other functions are never called.
 */
#include <errno.h>

#include "android/apk/libcrypto/crypto.h"

static int absent(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS,
                        "nanoscope was built without libcrypto: install it (Debian: apt install "
                        "libssl-dev) and build again");
}

int nsc_crypto_load(struct nsc_diag *diag)
{
    return absent(diag);
}

size_t nsc_crypto_hash_bytes(enum nsc_crypto_hash kind)
{
    (void)kind;
    return 0;
}

int nsc_crypto_digest(enum nsc_crypto_hash kind, const void *data, size_t bytes, uint8_t *out)
{
    (void)kind;
    (void)data;
    (void)bytes;
    (void)out;
    return -ENOMEM;
}

struct nsc_crypto_hasher *nsc_crypto_hasher_new(enum nsc_crypto_hash kind)
{
    (void)kind;
    return NULL;
}

void nsc_crypto_hasher_free(struct nsc_crypto_hasher *h)
{
    (void)h;
}

void nsc_crypto_hasher_add(struct nsc_crypto_hasher *h, const void *data, size_t bytes)
{
    (void)h;
    (void)data;
    (void)bytes;
}

void nsc_crypto_hasher_end(struct nsc_crypto_hasher *h, uint8_t *out)
{
    (void)h;
    (void)out;
}

int nsc_crypto_key_generate(const char *name, struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    (void)name;
    (void)out;
    return absent(diag);
}

int nsc_crypto_key_from_pem(const void *data, size_t bytes, const char *password,
                            struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    (void)data;
    (void)bytes;
    (void)password;
    (void)out;
    return absent(diag);
}

int nsc_crypto_key_from_pkcs12(const void *data, size_t bytes, const char *password,
                               const char *alias, struct nsc_crypto_key **out,
                               struct nsc_diag *diag)
{
    (void)data;
    (void)bytes;
    (void)password;
    (void)alias;
    (void)out;
    return absent(diag);
}

void nsc_crypto_key_free(struct nsc_crypto_key *key)
{
    (void)key;
}

int nsc_crypto_key_to_pem(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag)
{
    (void)key;
    (void)out;
    return absent(diag);
}

enum nsc_crypto_kind nsc_crypto_key_kind(const struct nsc_crypto_key *key)
{
    (void)key;
    return NSC_CRYPTO_OTHER;
}

bool nsc_crypto_key_certificate(const struct nsc_crypto_key *key, uint32_t index,
                                struct nsc_buffer *out)
{
    (void)key;
    (void)index;
    (void)out;
    return false;
}

int nsc_crypto_key_public(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag)
{
    (void)key;
    (void)out;
    return absent(diag);
}

int nsc_crypto_sign(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                    struct nsc_buffer *out, struct nsc_diag *diag)
{
    (void)key;
    (void)data;
    (void)bytes;
    (void)out;
    return absent(diag);
}

int nsc_crypto_sign_pkcs7(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                          struct nsc_buffer *out, struct nsc_diag *diag)
{
    return nsc_crypto_sign(key, data, bytes, out, diag);
}

int nsc_crypto_certificate(const void *der, size_t bytes, struct nsc_crypto_certificate *out)
{
    (void)der;
    (void)bytes;
    (void)out;
    return -EBADMSG;
}

int nsc_crypto_certificate_public(const void *der, size_t bytes, struct nsc_buffer *out)
{
    (void)der;
    (void)bytes;
    (void)out;
    return -EBADMSG;
}

bool nsc_crypto_verify(struct nsc_crypto_bytes public_key, enum nsc_crypto_scheme scheme,
                       enum nsc_crypto_hash hash, struct nsc_crypto_bytes data,
                       struct nsc_crypto_bytes signature)
{
    (void)public_key;
    (void)scheme;
    (void)hash;
    (void)data;
    (void)signature;
    return false;
}

bool nsc_crypto_verify_pkcs7(struct nsc_crypto_bytes message, struct nsc_crypto_bytes data,
                             struct nsc_buffer *certificate)
{
    (void)message;
    (void)data;
    (void)certificate;
    return false;
}
