/*
 * apk_verify_v1.c - see apk_verify.h: verify scheme v1 (signed JAR).
 *
 * META-INF/X.RSA signs X.SF, which has digests of the sections of MANIFEST.MF, which has digests of
 * the entries.
 */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "android/apk/apk_sign_v1.h"
#include "android/apk/apk_verify.h"
#include "android/apk/jar_manifest.h"
#include "android/apk/signature_scheme.h"

#define FILE_MAX    (256u << 20)
#define SIGNERS_MAX 10u

struct check {
    const struct nsc_zip *z;
    struct nsc_apk_signatures *out;
    struct nsc_diag *diag; /* fault of the signature */
    struct nsc_jar manifest;
};

static int wrong(struct check *c, const char *name, const char *what)
{
    return nsc_diag_set(c->diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%.200s %s", name, what);
}

static int parse(struct check *c, const struct nsc_zip_entry *e, struct nsc_jar *out)
{
    struct nsc_diag diag;
    uint8_t *data;
    size_t bytes;
    int error = nsc_zip_read(c->z, e, FILE_MAX, &data, &bytes, c->diag);

    if (error != 0)
        return error;
    error = nsc_jar_parse(data, bytes, out, &diag);
    return error == 0 ? 0
                      : nsc_diag_set(c->diag, NSC_DIAG_NO_OFFSET, error, "%.200s: %s", e->name,
                                     diag.message);
}

/* ---- Entries -------------------------------------------------------------------------------- */

static int into_hasher(void *context, const uint8_t *data, size_t bytes)
{
    nsc_crypto_hasher_add(context, data, bytes);
    return 0;
}

static bool is_signed_kind(const char *name)
{
    return name[strlen(name) - 1] != '/' && !nsc_scheme_is_v1_file(name);
}

static int check_entry(struct check *c, struct nsc_crypto_hasher *const hashers[NSC_JAR_HASHES],
                       const struct nsc_zip_entry *e)
{
    const struct nsc_jar_section *s = nsc_jar_find(&c->manifest, e->name);
    char digest[NSC_SCHEME_DIGEST_TEXT];
    uint8_t hash[NSC_CRYPTO_HASH_MAX];
    enum nsc_crypto_hash best;
    int error;

    if (s == NULL || !nsc_jar_has_digest(s))
        return wrong(c, e->name, "is not in the manifest");
    best = nsc_jar_best(s);
    error = nsc_zip_stream(c->z, e, into_hasher, hashers[best], c->diag);
    nsc_crypto_hasher_end(hashers[best], hash);
    if (error != 0)
        return error;
    nsc_scheme_base64(hash, nsc_crypto_hash_bytes(best), digest);
    return strcmp(digest, s->digests[best]) == 0 ? 0 : wrong(c, e->name, "is not what was signed");
}

static int check_entries(struct check *c)
{
    struct nsc_crypto_hasher *hashers[NSC_JAR_HASHES];
    bool ready = true;
    int error = 0;

    for (unsigned i = 0; i < NSC_JAR_HASHES; i++) {
        hashers[i] = nsc_crypto_hasher_new((enum nsc_crypto_hash)i);
        ready = ready && hashers[i] != NULL;
    }
    if (!ready)
        error = nsc_diag_set(c->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; error == 0 && i < nsc_zip_count(c->z); i++)
        if (is_signed_kind(nsc_zip_at(c->z, i)->name))
            error = check_entry(c, hashers, nsc_zip_at(c->z, i));
    for (unsigned i = 0; i < NSC_JAR_HASHES; i++)
        nsc_crypto_hasher_free(hashers[i]);
    return error;
}

/* ---- Signers -------------------------------------------------------------------------------- */

/* Check that the list has the digest of the whole manifest, or of each of its sections. */
static int check_list(struct check *c, const char *name, const struct nsc_jar *list)
{
    bool whole = nsc_jar_matches(&list->sections[0], c->manifest.raw, c->manifest.bytes);

    for (uint32_t i = 1; i < list->count; i++) {
        const struct nsc_jar_section *s = &list->sections[i];
        const struct nsc_jar_section *of = nsc_jar_find(&c->manifest, s->name);

        if (of == NULL || (!whole && !nsc_jar_matches(s, of->at, of->bytes)))
            return wrong(c, name, "is of another manifest");
    }
    for (uint32_t i = 0; i < nsc_zip_count(c->z); i++) {
        const char *entry = nsc_zip_at(c->z, i)->name;

        if (is_signed_kind(entry) && nsc_jar_find(list, entry) == NULL)
            return nsc_diag_set(c->diag, NSC_DIAG_NO_OFFSET, EBADMSG, "%.200s does not sign %.200s",
                                name, entry);
    }
    return 0;
}

/* Check that the schemes stated in the list are present. */
static int check_schemes(struct check *c, const char *schemes)
{
    static const struct {
        char digit;
        enum nsc_apk_scheme_kind kind;
    } known[] = {{'2', NSC_APK_V2}, {'3', NSC_APK_V3}};

    for (size_t i = 0; schemes != NULL && i < 2; i++)
        if (strchr(schemes, known[i].digit) != NULL && !c->out->schemes[known[i].kind].present)
            return nsc_diag_set(c->diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                "a signature of v%c was there and is gone", known[i].digit);
    return 0;
}

/* Check one signature. @message: META-INF/X.RSA; @list: META-INF/X.SF. */
static int check_signature(struct check *c, const struct nsc_zip_entry *message,
                           const struct nsc_zip_entry *list, const struct nsc_jar *jar)
{
    struct nsc_buffer certificate = {0};
    uint8_t *data;
    size_t bytes;
    int error = nsc_zip_read(c->z, message, FILE_MAX, &data, &bytes, c->diag);

    if (error != 0)
        return error;
    if (!nsc_crypto_verify_pkcs7((struct nsc_crypto_bytes){data, bytes},
                                 (struct nsc_crypto_bytes){jar->raw, jar->bytes}, &certificate))
        error = wrong(c, message->name, "is no signature of its list");
    free(data);
    if (error == 0)
        error = nsc_apk_add_signer(c->out, NSC_APK_V1,
                                   (struct nsc_crypto_bytes){certificate.data, certificate.used},
                                   c->diag);
    nsc_buffer_free(&certificate);
    if (error == 0)
        error = check_list(c, list->name, jar);
    return error == 0 ? check_schemes(c, jar->schemes) : error;
}

/* Find the META-INF/X.SF of META-INF/X.RSA (case-sensitive). */
static const struct nsc_zip_entry *find_list(const struct nsc_zip *z, const char *message)
{
    size_t stem = (size_t)(strrchr(message, '.') - message);
    const struct nsc_zip_entry *e;
    char *name;

    if (asprintf(&name, "%.*s.SF", (int)stem, message) < 0)
        return NULL;
    e = nsc_zip_find(z, name);
    free(name);
    return e;
}

/* Whether a file is a signature: META-INF/X.RSA and the like. */
static bool is_message(const char *name)
{
    const char *dot = strrchr(name, '.');

    return nsc_scheme_is_v1_file(name) && dot != NULL &&
           (strcasecmp(dot, ".RSA") == 0 || strcasecmp(dot, ".EC") == 0 ||
            strcasecmp(dot, ".DSA") == 0);
}

static int check_signers(struct check *c)
{
    uint32_t count = 0;
    int error = 0;

    for (uint32_t i = 0; error == 0 && i < nsc_zip_count(c->z); i++) {
        const struct nsc_zip_entry *e = nsc_zip_at(c->z, i), *list;
        struct nsc_jar jar = {0};

        if (!is_message(e->name))
            continue;
        if (count++ == SIGNERS_MAX)
            return wrong(c, e->name, "is one signature too many");
        list = find_list(c->z, e->name);
        if (list == NULL)
            return wrong(c, e->name, "has no list");
        error = parse(c, list, &jar);
        if (error == 0)
            error = check_signature(c, e, list, &jar);
        nsc_jar_free(&jar);
    }
    return error;
}

static bool is_there(const struct nsc_zip *z)
{
    for (uint32_t i = 0; i < nsc_zip_count(z); i++)
        if (is_message(nsc_zip_at(z, i)->name))
            return true;
    return false;
}

int nsc_apk_verify_v1(const struct nsc_zip *z, struct nsc_apk_signatures *out,
                      struct nsc_diag *diag)
{
    struct nsc_apk_scheme *s = &out->schemes[NSC_APK_V1];
    const struct nsc_zip_entry *manifest = nsc_zip_find(z, NSC_SIGN_V1_MANIFEST);
    struct check c = {.z = z, .out = out, .diag = &s->diag};
    int error;

    if (!is_there(z))
        return 0;
    s->present = true;
    s->diag.offset = NSC_DIAG_NO_OFFSET;
    if (manifest == NULL)
        error = wrong(&c, NSC_SIGN_V1_MANIFEST, "is missing");
    else
        error = parse(&c, manifest, &c.manifest);
    if (error == 0)
        error = check_signers(&c);
    if (error == 0)
        error = check_entries(&c);
    nsc_jar_free(&c.manifest);
    s->valid = error == 0;
    if (error == -ENOMEM || error == -EIO)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "%s", s->diag.message);
    return 0;
}
