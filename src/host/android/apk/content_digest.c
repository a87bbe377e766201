/* content_digest.c - see content_digest.h. */
#include "android/apk/content_digest.h"

#include <errno.h>

#include "base/span.h"

#define CHUNK      (1024u * 1024)
#define HEAD       5u /* of a chunk: one byte and the length */
#define CHUNK_MARK 0xa5u
#define WHOLE_MARK 0x5au

struct nsc_apk_digest {
    enum nsc_crypto_hash kind;
    uint8_t *chunk; /* HEAD, then @held bytes */
    size_t held;
    uint32_t count;
    struct nsc_buffer hashes; /* HEAD, then the chunks' hashes */
};

struct nsc_apk_digest *nsc_apk_digest_new(enum nsc_crypto_hash kind)
{
    struct nsc_apk_digest *d = calloc(1, sizeof *d);

    if (d == NULL)
        return NULL;
    d->kind = kind;
    d->chunk = malloc(HEAD + CHUNK);
    if (d->chunk == NULL) {
        nsc_apk_digest_free(d);
        return NULL;
    }
    nsc_buffer_bytes(&d->hashes, (const uint8_t[HEAD]){WHOLE_MARK}, HEAD);
    return d;
}

void nsc_apk_digest_free(struct nsc_apk_digest *d)
{
    if (d == NULL)
        return;
    free(d->chunk);
    nsc_buffer_free(&d->hashes);
    free(d);
}

int nsc_apk_digest_section(struct nsc_apk_digest *d)
{
    uint8_t hash[NSC_CRYPTO_HASH_MAX];
    int error;

    if (d->held == 0)
        return 0;
    d->chunk[0] = CHUNK_MARK;
    nsc_span_put32(d->chunk + 1, (uint32_t)d->held);
    error = nsc_crypto_digest(d->kind, d->chunk, HEAD + d->held, hash);
    if (error != 0)
        return error;
    nsc_buffer_bytes(&d->hashes, hash, nsc_crypto_hash_bytes(d->kind));
    d->count++;
    d->held = 0;
    return d->hashes.failed ? -ENOMEM : 0;
}

int nsc_apk_digest_add(void *digest, const uint8_t *data, size_t bytes)
{
    struct nsc_apk_digest *d = digest;
    int error = 0;

    while (error == 0 && bytes > 0) {
        size_t part = CHUNK - d->held < bytes ? CHUNK - d->held : bytes;

        memcpy(d->chunk + HEAD + d->held, data, part);
        d->held += part;
        data += part;
        bytes -= part;
        if (d->held == CHUNK)
            error = nsc_apk_digest_section(d);
    }
    return error;
}

int nsc_apk_digest_end(struct nsc_apk_digest *d, uint8_t *out)
{
    int error = nsc_apk_digest_section(d);

    if (error != 0 || d->hashes.failed)
        return -ENOMEM;
    nsc_span_put32(d->hashes.data + 1, d->count);
    return nsc_crypto_digest(d->kind, d->hashes.data, d->hashes.used, out);
}
