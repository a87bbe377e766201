/* apk_sign_v2.c - see signature_scheme.h: write the signing block with v2 and v3 signatures. */
#include <errno.h>

#include "android/apk/signature_scheme.h"

static void put32(struct nsc_buffer *b, uint32_t value)
{
    uint8_t p[4];

    nsc_span_put32(p, value);
    nsc_buffer_bytes(b, p, sizeof p);
}

static void put64(struct nsc_buffer *b, uint64_t value)
{
    uint8_t p[8];

    nsc_span_put64(p, value);
    nsc_buffer_bytes(b, p, sizeof p);
}

/* Length prefix: call begin() before the content, and end() with the result after it. */
static size_t begin(struct nsc_buffer *b)
{
    put32(b, 0);
    return b->used;
}

static void end(struct nsc_buffer *b, size_t at)
{
    if (!b->failed)
        nsc_span_put32(b->data + at - 4, (uint32_t)(b->used - at));
}

static uint32_t algorithm_of(const struct nsc_crypto_key *key)
{
    return nsc_crypto_key_kind(key) == NSC_CRYPTO_EC ? NSC_SCHEME_ECDSA_SHA256
                                                     : NSC_SCHEME_PKCS1_SHA256;
}

static void put_digests(struct nsc_buffer *b, uint32_t algorithm, const uint8_t digest[32])
{
    size_t all = begin(b), one = begin(b);

    put32(b, algorithm);
    put32(b, 32);
    nsc_buffer_bytes(b, digest, 32);
    end(b, one);
    end(b, all);
}

static void put_certificates(struct nsc_buffer *b, const struct nsc_crypto_key *key)
{
    size_t all = begin(b);

    for (uint32_t i = 0;; i++) {
        size_t one = begin(b);

        if (!nsc_crypto_key_certificate(key, i, b)) {
            b->used -= b->failed ? 0 : 4;
            break;
        }
        end(b, one);
    }
    end(b, all);
}

/* Stripping protection: without the attribute, an attacker could remove the v3 signature and
 * Android would accept v2. */
static void put_attributes(struct nsc_buffer *b, uint32_t scheme)
{
    size_t all = begin(b);

    if (scheme == NSC_SCHEME_V2) {
        size_t one = begin(b);

        put32(b, NSC_SCHEME_STRIPPING);
        put32(b, 3);
        end(b, one);
    }
    end(b, all);
}

static void put_range(struct nsc_buffer *b, uint32_t scheme)
{
    if (scheme != NSC_SCHEME_V3)
        return;
    put32(b, NSC_SCHEME_V3_SDK);
    put32(b, NSC_SCHEME_MAX_SDK);
}

/* Append a list of one signature of @data. */
static int put_signatures(struct nsc_buffer *b, const struct nsc_crypto_key *key,
                          const struct nsc_buffer *data, struct nsc_diag *diag)
{
    size_t all = begin(b), one = begin(b), signature;
    int error;

    put32(b, algorithm_of(key));
    signature = begin(b);
    error = nsc_crypto_sign(key, data->data, data->used, b, diag);
    end(b, signature);
    end(b, one);
    end(b, all);
    return error;
}

/* Append the only signer of a scheme. */
static int put_signer(struct nsc_buffer *b, uint32_t scheme, const struct nsc_crypto_key *key,
                      const uint8_t digest[32], struct nsc_diag *diag)
{
    size_t all = begin(b), one = begin(b), part;
    struct nsc_buffer data = {0};
    int error;

    put_digests(&data, algorithm_of(key), digest);
    put_certificates(&data, key);
    put_range(&data, scheme);
    put_attributes(&data, scheme);
    part = begin(b);
    nsc_buffer_bytes(b, data.data, data.used);
    end(b, part);
    put_range(b, scheme);
    error = put_signatures(b, key, &data, diag);
    b->failed |= data.failed;
    nsc_buffer_free(&data);
    part = begin(b);
    if (error == 0)
        error = nsc_crypto_key_public(key, b, diag);
    end(b, part);
    end(b, one);
    end(b, all);
    return error;
}

static int put_pair(struct nsc_buffer *out, uint32_t scheme, const struct nsc_crypto_key *key,
                    const uint8_t digest[32], struct nsc_diag *diag)
{
    struct nsc_buffer value = {0};
    int error = put_signer(&value, scheme, key, digest, diag);

    put64(out, value.used + 4);
    put32(out, scheme);
    nsc_buffer_bytes(out, value.data, value.used);
    out->failed |= value.failed;
    nsc_buffer_free(&value);
    return error;
}

/* Append a padding entry, so that the block is a multiple of the page size. @rest: bytes that
 * follow. */
static void put_padding(struct nsc_buffer *out, size_t rest)
{
    size_t over = (out->used + rest) % NSC_SCHEME_PAGE, bytes = NSC_SCHEME_PAGE - over;
    uint8_t *zeros;

    if (over == 0)
        return;
    if (bytes < 12)
        bytes += NSC_SCHEME_PAGE;
    put64(out, bytes - 8);
    put32(out, NSC_SCHEME_PADDING);
    zeros = nsc_buffer_reserve(out, bytes - 12);
    if (zeros == NULL)
        return;
    memset(zeros, 0, bytes - 12);
    out->used += bytes - 12;
}

int nsc_scheme_write_block(const struct nsc_crypto_key *key, const uint8_t digest[32],
                           struct nsc_buffer *out, struct nsc_diag *diag)
{
    static const uint32_t schemes[] = {NSC_SCHEME_V2, NSC_SCHEME_V3};
    int error = 0;

    put64(out, 0);
    for (size_t i = 0; i < 2 && error == 0; i++)
        error = put_pair(out, schemes[i], key, digest, diag);
    put_padding(out, 8 + strlen(NSC_SCHEME_MAGIC));
    put64(out, out->used + strlen(NSC_SCHEME_MAGIC));
    nsc_buffer_bytes(out, NSC_SCHEME_MAGIC, strlen(NSC_SCHEME_MAGIC));
    if (error == 0 && out->failed)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    if (error == 0)
        nsc_span_put64(out->data, out->used - 8);
    return error;
}
