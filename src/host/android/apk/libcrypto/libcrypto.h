/*
 * libcrypto.h - OpenSSL's functions, loaded at run time. Private to libcrypto.c and crypto_*.c.
 */
#ifndef NSC_ANDROID_APK_LIBCRYPTO_LIBCRYPTO_H
#define NSC_ANDROID_APK_LIBCRYPTO_LIBCRYPTO_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "android/apk/libcrypto/crypto.h"

/* clang-format off */
#define NSC_LIBCRYPTO_HASHES(x)                                                                    \
    x(EVP_sha1) x(EVP_sha256) x(EVP_sha512) x(EVP_Digest) x(EVP_MD_CTX_new) x(EVP_MD_CTX_free)     \
    x(EVP_DigestInit_ex) x(EVP_DigestUpdate) x(EVP_DigestFinal_ex) x(ERR_clear_error)
#define NSC_LIBCRYPTO_KEYS(x)                                                                      \
    x(EVP_PKEY_Q_keygen) x(EVP_PKEY_free) x(EVP_PKEY_get_base_id) x(EVP_PKEY_get_bits)             \
    x(EVP_PKEY_up_ref) x(i2d_PUBKEY) x(d2i_PUBKEY) x(EVP_DigestSignInit) x(EVP_DigestSign)         \
    x(EVP_DigestVerifyInit) x(EVP_DigestVerify) x(EVP_PKEY_CTX_set_rsa_padding)                    \
    x(EVP_PKEY_CTX_set_rsa_pss_saltlen) x(EVP_PKCS82PKEY) x(PKCS8_PRIV_KEY_INFO_free)
#define NSC_LIBCRYPTO_CERTIFICATES(x)                                                              \
    x(X509_new) x(X509_free) x(X509_up_ref) x(X509_set_version) x(X509_get_serialNumber)           \
    x(ASN1_INTEGER_set_uint64) x(X509_getm_notBefore) x(X509_getm_notAfter) x(X509_time_adj_ex)    \
    x(X509_get0_notBefore) x(X509_get0_notAfter) x(ASN1_TIME_to_tm)               \
    x(X509_set_pubkey) x(X509_get0_pubkey) x(X509_get_subject_name) x(X509_set_issuer_name)        \
    x(X509_NAME_add_entry_by_txt) x(X509_NAME_print_ex) x(X509_sign) x(X509_check_private_key)     \
    x(i2d_X509) x(d2i_X509) x(RAND_bytes)
#define NSC_LIBCRYPTO_FILES(x)                                                                     \
    x(BIO_new) x(BIO_s_mem) x(BIO_new_mem_buf) x(BIO_free) x(BIO_ctrl) x(BIO_read)                 \
    x(PEM_read_bio_PrivateKey) x(PEM_read_bio_X509) x(PEM_write_bio_PrivateKey)                    \
    x(PEM_write_bio_X509) x(PKCS7_sign) x(PKCS7_get0_signers) x(PKCS7_free)                        \
    x(PKCS7_dataInit) x(PKCS7_get_signer_info) x(PKCS7_signatureVerify) x(BIO_free_all)            \
    x(d2i_PKCS7) x(i2d_PKCS7) x(d2i_PKCS12) x(PKCS12_free) x(PKCS12_verify_mac)                    \
    x(PKCS12_mac_present) x(PKCS12_unpack_authsafes) x(PKCS12_unpack_p7data)                       \
    x(PKCS12_unpack_p7encdata) x(PKCS12_SAFEBAG_free) x(PKCS12_SAFEBAG_get_nid)        \
    x(PKCS12_SAFEBAG_get_bag_nid) x(PKCS12_SAFEBAG_get0_attr) x(PKCS12_SAFEBAG_get0_p8inf)         \
    x(PKCS12_SAFEBAG_get1_cert) x(PKCS12_decrypt_skey) x(PKCS12_get_friendlyname)                  \
    x(OSSL_PROVIDER_load) x(OPENSSL_sk_num) x(OPENSSL_sk_value)       \
    x(OPENSSL_sk_new_null) x(OPENSSL_sk_push) x(OPENSSL_sk_free) x(OPENSSL_sk_pop_free)            \
    x(CRYPTO_free) x(OBJ_obj2nid)
#define NSC_LIBCRYPTO_FUNCTIONS(x)                                                                 \
    NSC_LIBCRYPTO_HASHES(x) NSC_LIBCRYPTO_KEYS(x) NSC_LIBCRYPTO_CERTIFICATES(x) NSC_LIBCRYPTO_FILES(x)
/* clang-format on */

/* NOLINTBEGIN(readability-identifier-naming): the names are the library's. */
struct nsc_libcrypto {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name */
#define NSC_LIBCRYPTO_MEMBER(name) __typeof__(name) *name;
    NSC_LIBCRYPTO_FUNCTIONS(NSC_LIBCRYPTO_MEMBER)
#undef NSC_LIBCRYPTO_MEMBER
};
/* NOLINTEND(readability-identifier-naming) */

/* Filled by nsc_crypto_load(). */
extern struct nsc_libcrypto nsc_libcrypto;

#define LC(name) (nsc_libcrypto.name)

struct nsc_crypto_key {
    EVP_PKEY *key;
    X509 **chain; /* its own certificate first */
    uint32_t count;
};

/* Create a key with those of the @count certificates in @given that belong to it. Takes its own
 * references. Returns 0 or -errno with @diag. */
int nsc_libcrypto_assemble(EVP_PKEY *key, X509 **given, uint32_t count, struct nsc_crypto_key **out,
                           struct nsc_diag *diag);
const EVP_MD *nsc_libcrypto_md(enum nsc_crypto_hash kind);
enum nsc_crypto_kind nsc_libcrypto_kind(EVP_PKEY *key);
/* Append the contents of a memory BIO to @out. */
void nsc_libcrypto_drain(BIO *bio, struct nsc_buffer *out);
int nsc_libcrypto_no_memory(struct nsc_diag *diag);

#endif
