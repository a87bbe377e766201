/* crypto_key.c - see crypto.h: generate private keys, read them from PEM; certificates. */
#include <errno.h>
#include <limits.h>
#include <time.h>

#include "android/apk/libcrypto/libcrypto.h"
#include "util/array.h"

#define VALID_DAYS (30 * 365) /* as in the platform's tools */

void nsc_crypto_key_free(struct nsc_crypto_key *key)
{
    if (key == NULL)
        return;
    for (uint32_t i = 0; i < key->count; i++)
        LC(X509_free)(key->chain[i]);
    free(key->chain);
    LC(EVP_PKEY_free)(key->key);
    free(key);
}

int nsc_libcrypto_assemble(EVP_PKEY *key, X509 **given, uint32_t count, struct nsc_crypto_key **out,
                           struct nsc_diag *diag)
{
    struct nsc_crypto_key *k;
    uint32_t own = 0;

    if (nsc_libcrypto_kind(key) == NSC_CRYPTO_OTHER)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "the key is neither RSA nor EC: Android wants one of these");
    while (own < count && LC(X509_check_private_key)(given[own], key) != 1)
        own++;
    LC(ERR_clear_error)();
    if (own == count)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "no certificate of the private key is there");
    k = calloc(1, sizeof *k);
    if (k != NULL)
        k->chain = calloc(count, sizeof(X509 *));
    if (k == NULL || k->chain == NULL) {
        free(k);
        return nsc_libcrypto_no_memory(diag);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = i == 0 ? own : i <= own ? i - 1 : i;

        LC(X509_up_ref)(given[from]);
        k->chain[k->count++] = given[from];
    }
    LC(EVP_PKEY_up_ref)(key);
    k->key = key;
    *out = k;
    return 0;
}

/* ---- A new key ------------------------------------------------------------------------------ */

static bool fill(X509 *certificate, EVP_PKEY *key, const char *name)
{
    X509_NAME *subject = LC(X509_get_subject_name)(certificate);
    uint64_t serial = 0;

    return LC(RAND_bytes)((unsigned char *)&serial, sizeof serial) == 1 &&
           LC(X509_set_version)(certificate, 2) == 1 &&
           LC(ASN1_INTEGER_set_uint64)(LC(X509_get_serialNumber)(certificate), serial >> 1 | 1) ==
               1 &&
           /* One day ago: a device's clock may be slow. */
           LC(X509_time_adj_ex)(LC(X509_getm_notBefore)(certificate), -1, 0, NULL) != NULL &&
           LC(X509_time_adj_ex)(LC(X509_getm_notAfter)(certificate), VALID_DAYS, 0, NULL) != NULL &&
           LC(X509_set_pubkey)(certificate, key) == 1 &&
           LC(X509_NAME_add_entry_by_txt)(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name,
                                          -1, -1, 0) == 1 &&
           LC(X509_set_issuer_name)(certificate, subject) == 1 &&
           LC(X509_sign)(certificate, key, LC(EVP_sha256)()) > 0;
}

int nsc_crypto_key_generate(const char *name, struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    EVP_PKEY *key = LC(EVP_PKEY_Q_keygen)(NULL, NULL, "RSA", (size_t)2048);
    X509 *certificate = LC(X509_new)();
    int error;

    if (key != NULL && certificate != NULL && fill(certificate, key, name))
        error = nsc_libcrypto_assemble(key, &certificate, 1, out, diag);
    else
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "libcrypto cannot make a key");
    LC(X509_free)(certificate);
    LC(EVP_PKEY_free)(key);
    LC(ERR_clear_error)();
    return error;
}

int nsc_crypto_key_to_pem(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag)
{
    BIO *bio = LC(BIO_new)(LC(BIO_s_mem)());
    bool ok =
        bio != NULL && LC(PEM_write_bio_PrivateKey)(bio, key->key, NULL, NULL, 0, NULL, NULL) == 1;

    for (uint32_t i = 0; ok && i < key->count; i++)
        ok = LC(PEM_write_bio_X509)(bio, key->chain[i]) == 1;
    if (ok)
        nsc_libcrypto_drain(bio, out);
    LC(BIO_free)(bio);
    LC(ERR_clear_error)();
    return ok && !out->failed ? 0 : nsc_libcrypto_no_memory(diag);
}

/* ---- PEM ------------------------------------------------------------------------------------ */

/* A password for libcrypto's callback. */
struct asked {
    const char *password;
    bool asked;
};

static int on_password(char *to, int room, int writing, void *context)
{
    struct asked *a = context;
    size_t bytes = a->password != NULL ? strlen(a->password) : 0;

    (void)writing;
    a->asked = true;
    if (a->password == NULL || bytes > (size_t)room)
        return -1;
    memcpy(to, a->password, bytes);
    return (int)bytes;
}

static int no_private_key(const struct asked *a, struct nsc_diag *diag)
{
    if (a->asked && a->password == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EACCES,
                            "the private key is encrypted: its password is needed");
    if (a->asked)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EACCES,
                            "the password of the private key is wrong");
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "there is no private key in it");
}

static void free_all(X509 **certificates, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        LC(X509_free)(certificates[i]);
    free(certificates);
}

/* Read all certificates of @data. Returns 0 or -ENOMEM. */
static int read_certificates(const void *data, size_t bytes, X509 ***out, uint32_t *count)
{
    BIO *bio = LC(BIO_new_mem_buf)(data, (int)bytes);
    uint32_t room = 0;
    X509 *one;
    int error = bio != NULL ? 0 : -ENOMEM;

    while (error == 0 && (one = LC(PEM_read_bio_X509)(bio, NULL, NULL, NULL)) != NULL) {
        X509 **bigger = nsc_array_grow(*out, &room, *count, sizeof(X509 *));

        if (bigger != NULL) {
            *out = bigger;
            bigger[(*count)++] = one;
            continue;
        }
        LC(X509_free)(one);
        error = -ENOMEM;
    }
    LC(BIO_free)(bio);
    LC(ERR_clear_error)();
    return error;
}

int nsc_crypto_key_from_pem(const void *data, size_t bytes, const char *password,
                            struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    struct asked asked = {password, false};
    BIO *bio = bytes <= INT_MAX ? LC(BIO_new_mem_buf)(data, (int)bytes) : NULL;
    X509 **certificates = NULL;
    uint32_t count = 0;
    EVP_PKEY *key;
    int error;

    if (bio == NULL)
        return nsc_libcrypto_no_memory(diag);
    key = LC(PEM_read_bio_PrivateKey)(bio, NULL, on_password, &asked);
    LC(BIO_free)(bio);
    LC(ERR_clear_error)();
    if (key == NULL)
        return no_private_key(&asked, diag);
    if (read_certificates(data, bytes, &certificates, &count) != 0)
        error = nsc_libcrypto_no_memory(diag);
    else
        error = nsc_libcrypto_assemble(key, certificates, count, out, diag);
    free_all(certificates, count);
    LC(EVP_PKEY_free)(key);
    return error;
}

/* ---- Properties of a key -------------------------------------------------------------------- */

enum nsc_crypto_kind nsc_crypto_key_kind(const struct nsc_crypto_key *key)
{
    return nsc_libcrypto_kind(key->key);
}

bool nsc_crypto_key_certificate(const struct nsc_crypto_key *key, uint32_t index,
                                struct nsc_buffer *out)
{
    int bytes = index < key->count ? LC(i2d_X509)(key->chain[index], NULL) : 0;
    uint8_t *to = bytes > 0 ? nsc_buffer_reserve(out, (size_t)bytes) : NULL;

    if (to == NULL || LC(i2d_X509)(key->chain[index], &to) != bytes)
        return false;
    out->used += (size_t)bytes;
    return true;
}

static bool put_public(EVP_PKEY *key, struct nsc_buffer *out)
{
    int bytes = key != NULL ? LC(i2d_PUBKEY)(key, NULL) : 0;
    uint8_t *to = bytes > 0 ? nsc_buffer_reserve(out, (size_t)bytes) : NULL;

    if (to == NULL || LC(i2d_PUBKEY)(key, &to) != bytes)
        return false;
    out->used += (size_t)bytes;
    return true;
}

int nsc_crypto_key_public(const struct nsc_crypto_key *key, struct nsc_buffer *out,
                          struct nsc_diag *diag)
{
    /* From the certificate: verifiers compare with its encoding. */
    return put_public(LC(X509_get0_pubkey)(key->chain[0]), out) ? 0 : nsc_libcrypto_no_memory(diag);
}

/* ---- Certificates --------------------------------------------------------------------------- */

static X509 *parse(const void *der, size_t bytes)
{
    const unsigned char *at = der;
    X509 *x = bytes > 0 && bytes <= LONG_MAX ? LC(d2i_X509)(NULL, &at, (long)bytes) : NULL;

    LC(ERR_clear_error)();
    return x;
}

static int64_t seconds(const ASN1_TIME *time)
{
    struct tm tm;

    return LC(ASN1_TIME_to_tm)(time, &tm) == 1 ? (int64_t)timegm(&tm) : 0;
}

static void put_subject(X509 *x, char *out, size_t room)
{
    BIO *bio = LC(BIO_new)(LC(BIO_s_mem)());
    int bytes = 0;

    if (bio != NULL &&
        LC(X509_NAME_print_ex)(bio, LC(X509_get_subject_name)(x), 0,
                               (ASN1_STRFLGS_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB) |
                                   XN_FLAG_SEP_CPLUS_SPC | XN_FLAG_DN_REV | XN_FLAG_FN_SN) >= 0)
        bytes = LC(BIO_read)(bio, out, (int)room - 1);
    out[bytes > 0 ? bytes : 0] = 0;
    LC(BIO_free)(bio);
    LC(ERR_clear_error)();
}

int nsc_crypto_certificate(const void *der, size_t bytes, struct nsc_crypto_certificate *out)
{
    X509 *x = parse(der, bytes);
    EVP_PKEY *key;

    if (x == NULL)
        return -EBADMSG;
    memset(out, 0, sizeof *out);
    nsc_crypto_digest(NSC_CRYPTO_SHA256, der, bytes, out->sha256);
    put_subject(x, out->subject, sizeof out->subject);
    out->begins_s = seconds(LC(X509_get0_notBefore)(x));
    out->ends_s = seconds(LC(X509_get0_notAfter)(x));
    key = LC(X509_get0_pubkey)(x);
    out->kind = key != NULL ? nsc_libcrypto_kind(key) : NSC_CRYPTO_OTHER;
    out->bits = key != NULL ? (unsigned)LC(EVP_PKEY_get_bits)(key) : 0;
    LC(X509_free)(x);
    LC(ERR_clear_error)();
    return 0;
}

int nsc_crypto_certificate_public(const void *der, size_t bytes, struct nsc_buffer *out)
{
    X509 *x = parse(der, bytes);
    bool ok = x != NULL && put_public(LC(X509_get0_pubkey)(x), out);

    LC(X509_free)(x);
    LC(ERR_clear_error)();
    return ok ? 0 : -EBADMSG;
}
