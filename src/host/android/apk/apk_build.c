/* apk_build.c - see apk_build.h. */
#include "android/apk/apk_build.h"

#include <errno.h>

#include "android/apk/apk_sign_v1.h"
#include "android/apk/content_digest.h"
#include "android/apk/signature_scheme.h"
#include "android/zip/zip_writer.h"

#define RESOURCES     "resources.arsc"
#define RESOURCES_MAX (1u << 30)
/* Digest of the source stamp's certificate. The stamp itself is in the original's signing block. */
#define STAMP         "stamp-cert-sha256"

struct nsc_apk_build {
    struct nsc_zip_writer *writer;
    const struct nsc_crypto_key *key; /* NULL: not signed */
    struct nsc_sign_v1 v1;
    struct nsc_apk_digest *digest;
};

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

void nsc_apk_build_abandon(struct nsc_apk_build *b)
{
    if (b == NULL)
        return;
    nsc_zip_writer_abandon(b->writer);
    if (b->key != NULL) {
        nsc_sign_v1_free(&b->v1);
        nsc_apk_digest_free(b->digest);
    }
    free(b);
}

int nsc_apk_build_create(const char *path, const struct nsc_crypto_key *key,
                         struct nsc_apk_build **out, struct nsc_diag *diag)
{
    struct nsc_apk_build *b = calloc(1, sizeof *b);
    int error;

    if (b == NULL)
        return no_memory(diag);
    error = nsc_zip_writer_create(path, &b->writer, diag);
    if (error == 0 && key != NULL) {
        b->key = key;
        b->digest = nsc_apk_digest_new(NSC_CRYPTO_SHA256);
        if (nsc_sign_v1_begin(&b->v1) != 0 || b->digest == NULL)
            error = no_memory(diag);
        else
            nsc_zip_writer_watch(b->writer, nsc_apk_digest_add, b->digest);
    }
    if (error != 0) {
        nsc_apk_build_abandon(b);
        return error;
    }
    *out = b;
    return 0;
}

/* ---- Entries -------------------------------------------------------------------------------- */

static int into_hasher(void *context, const uint8_t *data, size_t bytes)
{
    nsc_crypto_hasher_add(context, data, bytes);
    return 0;
}

static int copy_stored(struct nsc_apk_build *b, const struct nsc_zip *z,
                       const struct nsc_zip_entry *e, struct nsc_diag *diag)
{
    uint8_t *data;
    size_t bytes;
    int error = nsc_zip_read(z, e, RESOURCES_MAX, &data, &bytes, diag);

    if (error != 0)
        return error;
    error = nsc_apk_build_add(b, e->name, NSC_ZIP_STORED, data, bytes, diag);
    free(data);
    return error;
}

int nsc_apk_build_copy(struct nsc_apk_build *b, const struct nsc_zip *z,
                       const struct nsc_zip_entry *e, struct nsc_diag *diag)
{
    int error;

    if (nsc_scheme_is_v1_file(e->name) || strcmp(e->name, STAMP) == 0)
        return 0;
    if (strcmp(e->name, RESOURCES) == 0 && e->method != NSC_ZIP_STORED)
        return copy_stored(b, z, e, diag);
    if (b->key != NULL) {
        error = nsc_zip_stream(z, e, into_hasher, b->v1.hasher, diag);
        if (error != 0)
            return error;
        nsc_sign_v1_entry(&b->v1, e->name);
    }
    return nsc_zip_writer_copy(b->writer, z, e, diag);
}

int nsc_apk_build_add(struct nsc_apk_build *b, const char *name, enum nsc_zip_method method,
                      const void *data, size_t bytes, struct nsc_diag *diag)
{
    if (b->key != NULL) {
        nsc_crypto_hasher_add(b->v1.hasher, data, bytes);
        nsc_sign_v1_entry(&b->v1, name);
    }
    return nsc_zip_writer_add(b->writer, name, method, data, bytes, diag);
}

int nsc_apk_build_comment(struct nsc_apk_build *b, const struct nsc_zip *z, struct nsc_diag *diag)
{
    static const uint8_t end_magic[] = {'P', 'K', 5, 6};
    const struct nsc_zip_layout *l = nsc_zip_layout(z);
    uint8_t *comment = malloc(l->comment_bytes + 1u);
    int error;

    if (comment == NULL)
        return no_memory(diag);
    error = nsc_zip_raw(z, l->end_off + NSC_ZIP_END_BYTES, comment, l->comment_bytes, diag);
    if (error == 0 && memmem(comment, l->comment_bytes, end_magic, sizeof end_magic) == NULL)
        error = nsc_zip_writer_comment(b->writer, comment, l->comment_bytes, diag);
    free(comment);
    return error;
}

/* ---- The end -------------------------------------------------------------------------------- */

static int add_buffer(struct nsc_apk_build *b, const char *name, const struct nsc_buffer *data,
                      struct nsc_diag *diag)
{
    return nsc_zip_writer_add(b->writer, name, NSC_ZIP_DEFLATED, data->data, data->used, diag);
}

static int add_v1(struct nsc_apk_build *b, struct nsc_diag *diag)
{
    bool ec = nsc_crypto_key_kind(b->key) == NSC_CRYPTO_EC;
    struct nsc_buffer list = {0}, message = {0};
    int error = nsc_sign_v1_end(&b->v1, b->key, &list, &message, diag);

    if (error == 0)
        error = add_buffer(b, NSC_SIGN_V1_MANIFEST, &b->v1.manifest, diag);
    if (error == 0)
        error = add_buffer(b, NSC_SIGN_V1_LIST, &list, diag);
    if (error == 0)
        error = add_buffer(b, ec ? NSC_SIGN_V1_EC : NSC_SIGN_V1_RSA, &message, diag);
    nsc_buffer_free(&list);
    nsc_buffer_free(&message);
    return error;
}

/* Pad to a page boundary, where the signing block begins: on devices it may be verified by page. */
static int fill_page(struct nsc_zip_writer *w, struct nsc_diag *diag)
{
    static const uint8_t zeros[NSC_SCHEME_PAGE];
    size_t over = (size_t)(nsc_zip_writer_at(w) % NSC_SCHEME_PAGE);

    return over == 0 ? 0 : nsc_zip_writer_raw(w, zeros, NSC_SCHEME_PAGE - over, diag);
}

/* Compute the digest over entries, central directory and end record. In the end record the central
 * directory's offset is replaced by that of the signing block. */
static int end_digest(struct nsc_apk_build *b, const struct nsc_buffer *central,
                      const struct nsc_buffer *end, uint8_t digest[32], struct nsc_diag *diag)
{
    struct nsc_apk_digest *d = b->digest;

    nsc_zip_writer_watch(b->writer, NULL, NULL);
    if (nsc_apk_digest_section(d) != 0 || nsc_apk_digest_add(d, central->data, central->used) ||
        nsc_apk_digest_section(d) != 0 || nsc_apk_digest_add(d, end->data, end->used) ||
        nsc_apk_digest_end(d, digest) != 0)
        return no_memory(diag);
    return 0;
}

/* Write the signing block, and update the offset of the central directory in @end. */
static int add_block(struct nsc_apk_build *b, const struct nsc_buffer *central,
                     struct nsc_buffer *end, struct nsc_diag *diag)
{
    struct nsc_buffer block = {0};
    uint8_t digest[32];
    int error = end_digest(b, central, end, digest, diag);

    if (error == 0)
        error = nsc_scheme_write_block(b->key, digest, &block, diag);
    if (error == 0)
        error = nsc_zip_writer_raw(b->writer, block.data, block.used, diag);
    nsc_buffer_free(&block);
    if (error == 0)
        nsc_span_put32(end->data + 16, (uint32_t)nsc_zip_writer_at(b->writer));
    return error;
}

static int write_tail(struct nsc_apk_build *b, struct nsc_diag *diag)
{
    struct nsc_zip_writer *w = b->writer;
    struct nsc_buffer central = {0}, end = {0};
    int error = nsc_zip_writer_tail(w, nsc_zip_writer_at(w), &central, &end, diag);

    if (error == 0 && b->key != NULL)
        error = add_block(b, &central, &end, diag);
    if (error == 0)
        error = nsc_zip_writer_raw(w, central.data, central.used, diag);
    if (error == 0)
        error = nsc_zip_writer_raw(w, end.data, end.used, diag);
    nsc_buffer_free(&central);
    nsc_buffer_free(&end);
    return error;
}

static int sign(struct nsc_apk_build *b, struct nsc_diag *diag)
{
    int error = add_v1(b, diag);

    if (error == 0)
        error = fill_page(b->writer, diag);
    /* 1 MiB is an upper bound of the signing block. */
    if (error == 0 && nsc_zip_writer_is_large(b->writer, nsc_zip_writer_at(b->writer) + (1u << 20)))
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG,
                             "it is too large to be signed: Android takes no APK of 4 GiB or of "
                             "65,535 entries");
    return error;
}

int nsc_apk_build_finish(struct nsc_apk_build *b, struct nsc_atomic_file *beside,
                         struct nsc_apk_build_result *result, struct nsc_diag *diag)
{
    struct nsc_apk_build_result r;
    int error = b->key != NULL ? sign(b, diag) : 0;

    if (error == 0)
        error = write_tail(b, diag);
    if (error == 0) {
        r.bytes = nsc_zip_writer_at(b->writer);
        r.entries = nsc_zip_writer_entries(b->writer);
        error = nsc_zip_writer_publish(b->writer, beside, diag);
        b->writer = NULL;
    } else if (beside != NULL) {
        nsc_atomic_file_abandon(beside);
    }
    if (error == 0 && result != NULL)
        *result = r;
    nsc_apk_build_abandon(b);
    return error;
}
