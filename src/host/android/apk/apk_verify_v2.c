/*
 * apk_verify_v2.c - see apk_verify.h: verify schemes v2, v3 and v3.1 in the signing block.
 *
 * Everything in the block has a length prefix. Signed data is verified before it is parsed.
 */
#include <errno.h>

#include "android/apk/apk_verify.h"
#include "android/apk/content_digest.h"
#include "android/apk/signature_scheme.h"

#define SIGNERS_MAX    10u /* Android's limit */
#define SIGNATURES_MAX 32u

/* State of the verification. */
struct check {
    const struct nsc_zip *z;
    struct nsc_apk_signatures *out;
    enum nsc_apk_scheme_kind scheme;
    uint8_t *block;
    uint64_t block_off;
    bool there[NSC_APK_SCHEMES];
    struct {
        bool known;
        uint8_t digest[NSC_CRYPTO_HASH_MAX];
    } contents[3]; /* by enum nsc_crypto_hash */
};

/* A signature algorithm: number and properties. */
struct algorithm {
    uint32_t id;
    enum nsc_crypto_scheme scheme;
    enum nsc_crypto_hash hash;
};

static const struct algorithm algorithms[] = {
    {NSC_SCHEME_PSS_SHA256, NSC_CRYPTO_PSS, NSC_CRYPTO_SHA256},
    {NSC_SCHEME_PSS_SHA512, NSC_CRYPTO_PSS, NSC_CRYPTO_SHA512},
    {NSC_SCHEME_PKCS1_SHA256, NSC_CRYPTO_PKCS1, NSC_CRYPTO_SHA256},
    {NSC_SCHEME_PKCS1_SHA512, NSC_CRYPTO_PKCS1, NSC_CRYPTO_SHA512},
    {NSC_SCHEME_ECDSA_SHA256, NSC_CRYPTO_ECDSA, NSC_CRYPTO_SHA256},
    {NSC_SCHEME_ECDSA_SHA512, NSC_CRYPTO_ECDSA, NSC_CRYPTO_SHA512},
    {NSC_SCHEME_DSA_SHA256, NSC_CRYPTO_DSA, NSC_CRYPTO_SHA256},
};

static const struct algorithm *find_algorithm(uint32_t id)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++)
        if (algorithms[i].id == id)
            return &algorithms[i];
    return NULL;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

static uint32_t take32(struct nsc_span *s)
{
    const uint8_t *p = nsc_span_take(s, 4);

    return p != NULL ? nsc_span_get32(p) : 0;
}

/* Take a part with a length prefix. */
static struct nsc_span take_part(struct nsc_span *s)
{
    uint32_t bytes = take32(s);

    return nsc_span_part(s, bytes);
}

static struct nsc_crypto_bytes bytes_of(const struct nsc_span *s)
{
    return (struct nsc_crypto_bytes){s->at, nsc_span_left(s)};
}

static int wrong(const struct check *c, const uint8_t *at, const char *what, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, c->block_off + (uint64_t)(at - c->block), EBADMSG, "%s", what);
}

/* ---- Contents ------------------------------------------------------------------------------- */

static int digest_range(const struct nsc_zip *z, struct nsc_apk_digest *d, uint64_t from,
                        uint64_t to, struct nsc_diag *diag)
{
    uint8_t piece[16 * 1024];
    int error = 0;

    while (error == 0 && from < to) {
        size_t bytes = to - from < sizeof piece ? (size_t)(to - from) : sizeof piece;

        error = nsc_zip_raw(z, from, piece, bytes, diag);
        if (error == 0 && nsc_apk_digest_add(d, piece, bytes) != 0)
            error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        from += bytes;
    }
    if (error == 0 && nsc_apk_digest_section(d) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return error;
}

/* Digest the end record with the central directory's offset replaced by that of the signing block.
 */
static int digest_end(const struct nsc_zip *z, struct nsc_apk_digest *d, struct nsc_diag *diag)
{
    const struct nsc_zip_layout *l = nsc_zip_layout(z);
    uint8_t end[NSC_ZIP_END_BYTES];
    int error = nsc_zip_raw(z, l->end_off, end, sizeof end, diag);

    if (error != 0)
        return error;
    nsc_span_put32(end + 16, (uint32_t)l->block_off);
    if (nsc_apk_digest_add(d, end, sizeof end) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return digest_range(z, d, l->end_off + sizeof end, l->file_bytes, diag);
}

static int digest_contents(struct check *c, enum nsc_crypto_hash kind, struct nsc_diag *diag)
{
    const struct nsc_zip_layout *l = nsc_zip_layout(c->z);
    struct nsc_apk_digest *d;
    int error;

    if (c->contents[kind].known)
        return 0;
    d = nsc_apk_digest_new(kind);
    if (d == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = digest_range(c->z, d, 0, l->block_off, diag);
    if (error == 0)
        error = digest_range(c->z, d, l->central_off, l->end_off, diag);
    if (error == 0)
        error = digest_end(c->z, d, diag);
    if (error == 0 && nsc_apk_digest_end(d, c->contents[kind].digest) != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    c->contents[kind].known = error == 0;
    nsc_apk_digest_free(d);
    return error;
}

/* ---- One signer ----------------------------------------------------------------------------- */

struct signer {
    struct nsc_span data, signatures, key;
    uint32_t min_sdk, max_sdk;
    uint32_t algorithms[SIGNATURES_MAX]; /* of its signatures */
    uint32_t count;
};

static int check_signatures(const struct check *c, struct signer *s, struct nsc_diag *diag)
{
    unsigned known = 0;

    while (nsc_span_left(&s->signatures) > 0) {
        struct nsc_span one = take_part(&s->signatures), signature;
        const struct algorithm *a;
        uint32_t id = take32(&one);

        signature = take_part(&one);
        if (s->signatures.bad || one.bad || signature.bad)
            return wrong(c, s->data.at, "a signature is cut off", diag);
        if (s->count == SIGNATURES_MAX)
            return wrong(c, s->data.at, "there are too many signatures", diag);
        s->algorithms[s->count++] = id;
        a = find_algorithm(id);
        if (a == NULL)
            continue;
        known++;
        if (!nsc_crypto_verify(bytes_of(&s->key), a->scheme, a->hash, bytes_of(&s->data),
                               bytes_of(&signature)))
            return wrong(c, signature.at, "a signature is wrong", diag);
    }
    return known > 0 ? 0 : wrong(c, s->data.at, "no signature is of an algorithm known here", diag);
}

/* Check that the digests have the algorithms of the signatures in the same order, and their values.
 */
static int check_digests(struct check *c, const struct signer *s, struct nsc_span *digests,
                         struct nsc_diag *diag)
{
    uint32_t i = 0;

    for (; nsc_span_left(digests) > 0; i++) {
        struct nsc_span one = take_part(digests), digest;
        const struct algorithm *a;
        uint32_t id = take32(&one);
        int error;

        digest = take_part(&one);
        if (digests->bad || one.bad || digest.bad || i == s->count || s->algorithms[i] != id)
            return wrong(c, s->data.at, "digests and signatures do not fit each other", diag);
        a = find_algorithm(id);
        if (a == NULL)
            continue;
        error = digest_contents(c, a->hash, diag);
        if (error != 0)
            return error;
        if (nsc_span_left(&digest) != nsc_crypto_hash_bytes(a->hash) ||
            memcmp(digest.at, c->contents[a->hash].digest, nsc_span_left(&digest)) != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                "the contents are not those that were signed");
    }
    return i == s->count
               ? 0
               : wrong(c, s->data.at, "digests and signatures do not fit each other", diag);
}

/* Check the certificates; the first one is the signer's. */
static int check_certificates(struct check *c, struct signer *s, struct nsc_span *certificates,
                              struct nsc_diag *diag)
{
    struct nsc_span own = take_part(certificates);
    struct nsc_buffer key = {0};
    struct nsc_apk_signer *added;
    int error;
    bool same;

    if (own.bad)
        return wrong(c, s->data.at, "there is no certificate", diag);
    error = nsc_apk_add_signer(c->out, c->scheme, bytes_of(&own), diag);
    if (error != 0)
        return error;
    added = &c->out->signers[c->out->count - 1];
    added->min_sdk = s->min_sdk;
    added->max_sdk = s->max_sdk;
    error = nsc_crypto_certificate_public(own.at, nsc_span_left(&own), &key);
    same = error == 0 && key.used == nsc_span_left(&s->key) &&
           memcmp(key.data, s->key.at, key.used) == 0;
    nsc_buffer_free(&key);
    return same ? 0 : wrong(c, own.at, "certificate and public key do not fit each other", diag);
}

static int check_attributes(const struct check *c, struct nsc_span *attributes,
                            struct nsc_diag *diag)
{
    while (nsc_span_left(attributes) > 0) {
        struct nsc_span one = take_part(attributes);
        uint32_t id = take32(&one);

        if (attributes->bad || one.bad)
            return wrong(c, c->block, "an attribute is cut off", diag);
        if (c->scheme == NSC_APK_V2 && id == NSC_SCHEME_STRIPPING && take32(&one) == 3 &&
            !c->there[NSC_APK_V3])
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                                "a signature of v3 was there and is gone");
    }
    return 0;
}

static int check_data(struct check *c, struct signer *s, struct nsc_diag *diag)
{
    struct nsc_span data = s->data, digests = take_part(&data), certificates = take_part(&data);
    struct nsc_span attributes;
    int error;

    if (c->scheme != NSC_APK_V2 && (take32(&data) != s->min_sdk || take32(&data) != s->max_sdk))
        return wrong(c, s->data.at, "the versions of Android that were signed are others", diag);
    attributes = take_part(&data);
    if (data.bad)
        return wrong(c, s->data.at, "what was signed is cut off", diag);
    error = check_certificates(c, s, &certificates, diag);
    if (error == 0)
        error = check_attributes(c, &attributes, diag);
    return error == 0 ? check_digests(c, s, &digests, diag) : error;
}

static int check_signer(struct check *c, struct nsc_span *from, struct nsc_diag *diag)
{
    struct signer s = {.data = take_part(from)};
    int error;

    if (c->scheme != NSC_APK_V2) {
        s.min_sdk = take32(from);
        s.max_sdk = take32(from);
    }
    s.signatures = take_part(from);
    s.key = take_part(from);
    if (from->bad)
        return wrong(c, c->block, "a signer is cut off", diag);
    if (s.min_sdk > s.max_sdk)
        return wrong(c, s.data.at, "a signer is for no version of Android", diag);
    error = check_signatures(c, &s, diag);
    return error == 0 ? check_data(c, &s, diag) : error;
}

/* ---- Schemes -------------------------------------------------------------------------------- */

static int check_scheme(struct check *c, struct nsc_span value, struct nsc_diag *diag)
{
    const struct nsc_zip_layout *l = nsc_zip_layout(c->z);
    struct nsc_span signers = take_part(&value);
    uint32_t count = 0;

    if (nsc_span_left(&value) != 0)
        return wrong(c, value.at, "bytes are left over behind the signers", diag);
    if (l->zip64 || l->central_off + l->central_bytes != l->end_off)
        return nsc_diag_set(diag, l->end_off, EBADMSG,
                            "Android takes nothing between central directory and end");
    while (nsc_span_left(&signers) > 0) {
        struct nsc_span one = take_part(&signers);
        int error;

        if (one.bad || count++ == SIGNERS_MAX)
            return wrong(c, signers.at, "a signer is cut off, or there are too many", diag);
        error = check_signer(c, &one, diag);
        if (error != 0)
            return error;
    }
    return signers.bad || count == 0 ? wrong(c, value.at, "there is no signer", diag) : 0;
}

static bool which_scheme(uint32_t id, enum nsc_apk_scheme_kind *scheme)
{
    switch (id) {
    case NSC_SCHEME_V2:
        *scheme = NSC_APK_V2;
        return true;
    case NSC_SCHEME_V3:
        *scheme = NSC_APK_V3;
        return true;
    case NSC_SCHEME_V31:
        *scheme = NSC_APK_V31;
        return true;
    default:
        return false;
    }
}

/* Take the next id and value. Returns false at the end, or if the block is damaged. */
static bool next_pair(struct nsc_span *pairs, uint32_t *id, struct nsc_span *value)
{
    const uint8_t *p = nsc_span_take(pairs, 8);

    if (p == NULL)
        return false;
    *value = nsc_span_part(pairs, nsc_span_get64(p));
    *id = take32(value);
    return !value->bad;
}

/* Verify the schemes that are present. Of each scheme the first entry is used, as in Android. */
static void check_pairs(struct check *c, struct nsc_span pairs)
{
    struct nsc_span values[NSC_APK_SCHEMES], value;
    enum nsc_apk_scheme_kind scheme;
    uint32_t id;

    while (next_pair(&pairs, &id, &value)) {
        if (!which_scheme(id, &scheme) || c->there[scheme])
            continue;
        c->there[scheme] = true;
        values[scheme] = value;
    }
    for (unsigned i = NSC_APK_V2; i < NSC_APK_SCHEMES; i++) {
        struct nsc_apk_scheme *s = &c->out->schemes[i];

        if (!c->there[i])
            continue;
        c->scheme = (enum nsc_apk_scheme_kind)i;
        s->present = true;
        s->diag.offset = NSC_DIAG_NO_OFFSET;
        s->valid = check_scheme(c, values[i], &s->diag) == 0;
    }
}

int nsc_apk_verify_block(const struct nsc_zip *z, struct nsc_apk_signatures *out,
                         struct nsc_diag *diag)
{
    const struct nsc_zip_layout *l = nsc_zip_layout(z);
    struct check c = {.z = z, .out = out, .block_off = l->block_off};
    size_t bytes = (size_t)(l->central_off - l->block_off);
    int error;

    if (bytes < 32)
        return 0;
    c.block = malloc(bytes);
    if (c.block == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_zip_raw(z, c.block_off, c.block, bytes, diag);
    if (error == 0)
        check_pairs(&c, nsc_span_of(c.block + 8, bytes - 32));
    free(c.block);
    return error;
}
