/*
 * crypto_pkcs12.c - see crypto.h: read a private key from a PKCS#12 file by its alias.
 *
 * Iterates over the bags of the file: the library's own function returns only the first key,
 * without its name.
 */
#include <errno.h>
#include <limits.h>
#include <strings.h>

#include "android/apk/libcrypto/libcrypto.h"
#include "util/array.h"

struct found {
    const char *password;
    const char *alias;
    EVP_PKEY *key;
    uint32_t keys;   /* number of keys in the file */
    uint32_t chosen; /* number of keys that match the alias */
    X509 **certificates;
    uint32_t count, room;
    char names[160]; /* of the keys, for messages */
    bool failed;     /* out of memory, or decryption failed */
};

static void free_bag(void *bag)
{
    LC(PKCS12_SAFEBAG_free)(bag);
}

static void free_message(void *message)
{
    LC(PKCS7_free)(message);
}

static void take_key(struct found *f, PKCS12_SAFEBAG *bag)
{
    bool shrouded = LC(PKCS12_SAFEBAG_get_nid)(bag) == NID_pkcs8ShroudedKeyBag;
    char *name = LC(PKCS12_get_friendlyname)(bag);
    PKCS8_PRIV_KEY_INFO *plain = NULL;
    size_t used = strlen(f->names);

    f->keys++;
    snprintf(f->names + used, sizeof f->names - used, "%s%.60s", used > 0 ? ", " : "",
             name != NULL ? name : "(no name)");
    if (f->alias == NULL || (name != NULL && strcasecmp(name, f->alias) == 0)) {
        f->chosen++;
        if (shrouded)
            plain = LC(PKCS12_decrypt_skey)(bag, f->password, -1);
        LC(EVP_PKEY_free)(f->key);
        f->key = shrouded && plain == NULL
                     ? NULL
                     : LC(EVP_PKCS82PKEY)(shrouded ? plain : LC(PKCS12_SAFEBAG_get0_p8inf)(bag));
        f->failed |= f->key == NULL;
        LC(PKCS8_PRIV_KEY_INFO_free)(plain);
    }
    LC(CRYPTO_free)(name, __FILE__, __LINE__);
}

static void take_certificate(struct found *f, PKCS12_SAFEBAG *bag)
{
    X509 *x = LC(PKCS12_SAFEBAG_get_bag_nid)(bag) == NID_x509Certificate
                  ? LC(PKCS12_SAFEBAG_get1_cert)(bag)
                  : NULL;
    X509 **bigger;

    if (x == NULL)
        return;
    bigger = nsc_array_grow(f->certificates, &f->room, f->count, sizeof(X509 *));
    if (bigger == NULL) {
        f->failed = true;
        LC(X509_free)(x);
        return;
    }
    f->certificates = bigger;
    bigger[f->count++] = x;
}

static void take_bags(struct found *f, OPENSSL_STACK *bags)
{
    f->failed |= bags == NULL;
    for (int i = 0; bags != NULL && i < LC(OPENSSL_sk_num)(bags); i++) {
        PKCS12_SAFEBAG *bag = LC(OPENSSL_sk_value)(bags, i);

        switch (LC(PKCS12_SAFEBAG_get_nid)(bag)) {
        case NID_keyBag:
        case NID_pkcs8ShroudedKeyBag:
            take_key(f, bag);
            break;
        case NID_certBag:
            take_certificate(f, bag);
            break;
        default:
            break;
        }
    }
    LC(OPENSSL_sk_pop_free)(bags, free_bag);
}

static void take_safes(struct found *f, PKCS12 *file)
{
    OPENSSL_STACK *safes = (OPENSSL_STACK *)LC(PKCS12_unpack_authsafes)(file);

    f->failed |= safes == NULL;
    for (int i = 0; safes != NULL && i < LC(OPENSSL_sk_num)(safes); i++) {
        PKCS7 *safe = LC(OPENSSL_sk_value)(safes, i);
        int kind = LC(OBJ_obj2nid)(safe->type);

        if (kind == NID_pkcs7_data)
            take_bags(f, (OPENSSL_STACK *)LC(PKCS12_unpack_p7data)(safe));
        else if (kind == NID_pkcs7_encrypted)
            take_bags(f, (OPENSSL_STACK *)LC(PKCS12_unpack_p7encdata)(safe, f->password, -1));
    }
    LC(OPENSSL_sk_pop_free)(safes, free_message);
}

static int judge(struct found *f, struct nsc_crypto_key **out, struct nsc_diag *diag)
{
    if (f->failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "it cannot be decrypted: damaged, or a cipher that libcrypto lacks");
    if (f->keys == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG, "there is no private key in it");
    if (f->chosen == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT,
                            "no key has the alias %.60s; it has: %s", f->alias, f->names);
    if (f->chosen > 1)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTUNIQ,
                            "which key? give its alias (--key-alias): %s", f->names);
    return nsc_libcrypto_assemble(f->key, f->certificates, f->count, out, diag);
}

/* Older keystores use ciphers of OpenSSL 3's legacy provider. If that is not installed, they cannot
 * be decrypted; the caller reports it. */
static void load_old_ciphers(void)
{
    static bool tried;

    if (!tried && LC(OSSL_PROVIDER_load)(NULL, "legacy") != NULL)
        (void)LC(OSSL_PROVIDER_load)(NULL, "default");
    tried = true;
    LC(ERR_clear_error)();
}

int nsc_crypto_key_from_pkcs12(const void *data, size_t bytes, const char *password,
                               const char *alias, struct nsc_crypto_key **out,
                               struct nsc_diag *diag)
{
    struct found f = {.password = password != NULL ? password : "", .alias = alias};
    const unsigned char *at = data;
    PKCS12 *file = bytes <= LONG_MAX ? LC(d2i_PKCS12)(NULL, &at, (long)bytes) : NULL;
    int error;

    LC(ERR_clear_error)();
    if (file == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "it is neither a PEM nor a PKCS#12 file, or damaged");
    load_old_ciphers();
    if (LC(PKCS12_mac_present)(file) && !LC(PKCS12_verify_mac)(file, f.password, -1)) {
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EACCES,
                             password == NULL ? "its password is needed" : "the password is wrong");
    } else {
        take_safes(&f, file);
        error = judge(&f, out, diag);
    }
    for (uint32_t i = 0; i < f.count; i++)
        LC(X509_free)(f.certificates[i]);
    free(f.certificates);
    LC(EVP_PKEY_free)(f.key);
    LC(PKCS12_free)(file);
    LC(ERR_clear_error)();
    return error;
}
