/* libcrypto.c - see crypto.h: load the library; hashes; signatures. */
#include "android/apk/libcrypto/libcrypto.h"

#include <errno.h>
#include <limits.h>

#include "util/os/dynlib.h"

struct nsc_libcrypto nsc_libcrypto;

struct nsc_crypto_hasher {
    EVP_MD_CTX *context;
    enum nsc_crypto_hash kind;
};

int nsc_crypto_load(struct nsc_diag *diag)
{
    static const char *const names[] = {
#define NAME(function) #function,
        NSC_LIBCRYPTO_FUNCTIONS(NAME)
#undef NAME
    };

    _Static_assert(sizeof nsc_libcrypto == sizeof names, "a pointer for each name");
    if (nsc_libcrypto.EVP_Digest != NULL)
        return 0;
    return nsc_dynlib_load("libcrypto.so.3", "to sign APKs (Debian: apt install libssl3)", names,
                           sizeof names / sizeof names[0], &nsc_libcrypto, diag);
}

int nsc_libcrypto_no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

const EVP_MD *nsc_libcrypto_md(enum nsc_crypto_hash kind)
{
    switch (kind) {
    case NSC_CRYPTO_SHA1:
        return LC(EVP_sha1)();
    case NSC_CRYPTO_SHA512:
        return LC(EVP_sha512)();
    case NSC_CRYPTO_SHA256:
        break;
    }
    return LC(EVP_sha256)();
}

size_t nsc_crypto_hash_bytes(enum nsc_crypto_hash kind)
{
    return kind == NSC_CRYPTO_SHA1 ? 20 : kind == NSC_CRYPTO_SHA256 ? 32 : 64;
}

int nsc_crypto_digest(enum nsc_crypto_hash kind, const void *data, size_t bytes, uint8_t *out)
{
    return LC(EVP_Digest)(data, bytes, out, NULL, nsc_libcrypto_md(kind), NULL) == 1 ? 0 : -ENOMEM;
}

struct nsc_crypto_hasher *nsc_crypto_hasher_new(enum nsc_crypto_hash kind)
{
    struct nsc_crypto_hasher *h = calloc(1, sizeof *h);

    if (h == NULL)
        return NULL;
    h->kind = kind;
    h->context = LC(EVP_MD_CTX_new)();
    if (h->context == NULL ||
        LC(EVP_DigestInit_ex)(h->context, nsc_libcrypto_md(kind), NULL) != 1) {
        nsc_crypto_hasher_free(h);
        return NULL;
    }
    return h;
}

void nsc_crypto_hasher_free(struct nsc_crypto_hasher *h)
{
    if (h == NULL)
        return;
    LC(EVP_MD_CTX_free)(h->context);
    free(h);
}

/* Cannot fail for an initialized hash. */
void nsc_crypto_hasher_add(struct nsc_crypto_hasher *h, const void *data, size_t bytes)
{
    LC(EVP_DigestUpdate)(h->context, data, bytes);
}

void nsc_crypto_hasher_end(struct nsc_crypto_hasher *h, uint8_t *out)
{
    LC(EVP_DigestFinal_ex)(h->context, out, NULL);
    LC(EVP_DigestInit_ex)(h->context, nsc_libcrypto_md(h->kind), NULL);
}

enum nsc_crypto_kind nsc_libcrypto_kind(EVP_PKEY *key)
{
    switch (LC(EVP_PKEY_get_base_id)(key)) {
    case EVP_PKEY_RSA:
        return NSC_CRYPTO_RSA;
    case EVP_PKEY_EC:
        return NSC_CRYPTO_EC;
    default:
        return NSC_CRYPTO_OTHER;
    }
}

void nsc_libcrypto_drain(BIO *bio, struct nsc_buffer *out)
{
    char *data = NULL;
    long bytes = LC(BIO_ctrl)(bio, BIO_CTRL_INFO, 0, &data);

    nsc_buffer_bytes(out, data, bytes > 0 ? (size_t)bytes : 0);
}

/* ---- Signing -------------------------------------------------------------------------------- */

static int cannot_sign(struct nsc_diag *diag)
{
    LC(ERR_clear_error)();
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "libcrypto cannot sign with this key");
}

int nsc_crypto_sign(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                    struct nsc_buffer *out, struct nsc_diag *diag)
{
    EVP_MD_CTX *context = LC(EVP_MD_CTX_new)();
    size_t room = 0;
    uint8_t *to = NULL;
    bool ok = context != NULL &&
              LC(EVP_DigestSignInit)(context, NULL, LC(EVP_sha256)(), NULL, key->key) == 1 &&
              LC(EVP_DigestSign)(context, NULL, &room, data, bytes) == 1;

    if (ok)
        to = nsc_buffer_reserve(out, room);
    ok = to != NULL && LC(EVP_DigestSign)(context, to, &room, data, bytes) == 1;
    LC(EVP_MD_CTX_free)(context);
    if (!ok)
        return cannot_sign(diag);
    out->used += room;
    return 0;
}

/* Append the message in DER to @out. Returns false on failure. */
static bool put_pkcs7(PKCS7 *message, struct nsc_buffer *out)
{
    int bytes = LC(i2d_PKCS7)(message, NULL);
    uint8_t *to = bytes > 0 ? nsc_buffer_reserve(out, (size_t)bytes) : NULL;

    if (to == NULL || LC(i2d_PKCS7)(message, &to) != bytes)
        return false;
    out->used += (size_t)bytes;
    return true;
}

int nsc_crypto_sign_pkcs7(const struct nsc_crypto_key *key, const void *data, size_t bytes,
                          struct nsc_buffer *out, struct nsc_diag *diag)
{
    BIO *in = bytes <= INT_MAX ? LC(BIO_new_mem_buf)(data, (int)bytes) : NULL;
    OPENSSL_STACK *others = LC(OPENSSL_sk_new_null)();
    PKCS7 *message = NULL;
    bool ok = in != NULL && others != NULL;

    for (uint32_t i = 1; ok && i < key->count; i++)
        ok = LC(OPENSSL_sk_push)(others, key->chain[i]) > 0;
    if (ok)
        message = LC(PKCS7_sign)(key->chain[0], key->key, (STACK_OF(X509) *)others, in,
                                 PKCS7_DETACHED | PKCS7_BINARY | PKCS7_NOATTR);
    ok = message != NULL && put_pkcs7(message, out);
    LC(PKCS7_free)(message);
    LC(OPENSSL_sk_free)(others);
    LC(BIO_free)(in);
    return ok ? 0 : cannot_sign(diag);
}

/* ---- Verification --------------------------------------------------------------------------- */

static bool set_scheme(EVP_PKEY_CTX *context, enum nsc_crypto_scheme scheme,
                       enum nsc_crypto_hash hash)
{
    if (scheme == NSC_CRYPTO_PSS)
        return LC(EVP_PKEY_CTX_set_rsa_padding)(context, RSA_PKCS1_PSS_PADDING) > 0 &&
               LC(EVP_PKEY_CTX_set_rsa_pss_saltlen)(context, (int)nsc_crypto_hash_bytes(hash)) > 0;
    return true;
}

static bool fits(EVP_PKEY *key, enum nsc_crypto_scheme scheme)
{
    switch (scheme) {
    case NSC_CRYPTO_PKCS1:
    case NSC_CRYPTO_PSS:
        return nsc_libcrypto_kind(key) == NSC_CRYPTO_RSA;
    case NSC_CRYPTO_ECDSA:
        return nsc_libcrypto_kind(key) == NSC_CRYPTO_EC;
    case NSC_CRYPTO_DSA:
        break;
    }
    return LC(EVP_PKEY_get_base_id)(key) == EVP_PKEY_DSA;
}

bool nsc_crypto_verify(struct nsc_crypto_bytes public_key, enum nsc_crypto_scheme scheme,
                       enum nsc_crypto_hash hash, struct nsc_crypto_bytes data,
                       struct nsc_crypto_bytes signature)
{
    const unsigned char *at = public_key.at;
    EVP_PKEY *key =
        public_key.bytes <= LONG_MAX ? LC(d2i_PUBKEY)(NULL, &at, (long)public_key.bytes) : NULL;
    EVP_MD_CTX *context = LC(EVP_MD_CTX_new)();
    EVP_PKEY_CTX *how = NULL;
    bool ok =
        key != NULL && context != NULL && fits(key, scheme) &&
        LC(EVP_DigestVerifyInit)(context, &how, nsc_libcrypto_md(hash), NULL, key) == 1 &&
        set_scheme(how, scheme, hash) &&
        LC(EVP_DigestVerify)(context, signature.at, signature.bytes, data.at, data.bytes) == 1;

    LC(EVP_MD_CTX_free)(context);
    LC(EVP_PKEY_free)(key);
    LC(ERR_clear_error)();
    return ok;
}

static bool put_certificate(X509 *certificate, struct nsc_buffer *out)
{
    int bytes = certificate != NULL ? LC(i2d_X509)(certificate, NULL) : 0;
    uint8_t *to = bytes > 0 ? nsc_buffer_reserve(out, (size_t)bytes) : NULL;

    if (to == NULL || LC(i2d_X509)(certificate, &to) != bytes)
        return false;
    out->used += (size_t)bytes;
    return true;
}

/* Whether all signers of @p have signed the data that @digests has read. */
static bool check_signers(PKCS7 *p, BIO *digests, OPENSSL_STACK *certificates)
{
    OPENSSL_STACK *signers = (OPENSSL_STACK *)LC(PKCS7_get_signer_info)(p);
    int count = signers != NULL ? LC(OPENSSL_sk_num)(signers) : 0;
    uint8_t piece[4096];
    bool ok = count > 0 && LC(OPENSSL_sk_num)(certificates) == count;

    while (LC(BIO_read)(digests, piece, sizeof piece) > 0)
        continue;
    for (int i = 0; ok && i < count; i++)
        ok = LC(PKCS7_signatureVerify)(digests, p, LC(OPENSSL_sk_value)(signers, i),
                                       LC(OPENSSL_sk_value)(certificates, i)) > 0;
    return ok;
}

/* Does the steps of PKCS7_verify(), which leaks memory on damaged messages. */
static bool check_message(PKCS7 *p, struct nsc_crypto_bytes data, struct nsc_buffer *certificate)
{
    BIO *in = data.bytes <= INT_MAX ? LC(BIO_new_mem_buf)(data.at, (int)data.bytes) : NULL;
    BIO *digests = in != NULL ? LC(PKCS7_dataInit)(p, in) : NULL;
    OPENSSL_STACK *certificates = (OPENSSL_STACK *)LC(PKCS7_get0_signers)(p, NULL, 0);
    bool ok = digests != NULL && certificates != NULL && check_signers(p, digests, certificates) &&
              put_certificate(LC(OPENSSL_sk_value)(certificates, 0), certificate);

    LC(OPENSSL_sk_free)(certificates);
    LC(BIO_free_all)(digests != NULL ? digests : in);
    return ok;
}

bool nsc_crypto_verify_pkcs7(struct nsc_crypto_bytes message, struct nsc_crypto_bytes data,
                             struct nsc_buffer *certificate)
{
    const unsigned char *at = message.at;
    PKCS7 *p = message.bytes <= LONG_MAX ? LC(d2i_PKCS7)(NULL, &at, (long)message.bytes) : NULL;
    bool ok = p != NULL && LC(OBJ_obj2nid)(p->type) == NID_pkcs7_signed &&
              check_message(p, data, certificate);

    LC(PKCS7_free)(p);
    LC(ERR_clear_error)();
    return ok;
}
