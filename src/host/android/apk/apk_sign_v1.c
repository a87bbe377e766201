/* apk_sign_v1.c - see apk_sign_v1.h; also the v1 functions of signature_scheme.h. */
#include "android/apk/apk_sign_v1.h"

#include <errno.h>
#include <strings.h>

#include "android/apk/signature_scheme.h"

#define LINE_MAX_BYTES 70u /* of text, without the line end; longer lines are folded */

/* ---- Shared with the verifier --------------------------------------------------------------- */

bool nsc_scheme_is_v1_file(const char *name)
{
    static const char *const endings[] = {".SF", ".RSA", ".DSA", ".EC"};
    const char *file = name + 9;
    size_t bytes;

    if (strncasecmp(name, "META-INF/", 9) != 0 || strchr(file, '/') != NULL)
        return false;
    bytes = strlen(file);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t n = strlen(endings[i]);

        if (bytes >= n && strcasecmp(file + bytes - n, endings[i]) == 0)
            return true;
    }
    return strcasecmp(file, "MANIFEST.MF") == 0 || strncasecmp(file, "SIG-", 4) == 0;
}

void nsc_scheme_base64(const uint8_t *data, size_t bytes, char out[NSC_SCHEME_DIGEST_TEXT])
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    size_t n = 0;

    for (size_t i = 0; i < bytes && n + 4 < NSC_SCHEME_DIGEST_TEXT; i += 3) {
        uint32_t v = (uint32_t)data[i] << 16 | (i + 1 < bytes ? (uint32_t)data[i + 1] << 8 : 0) |
                     (i + 2 < bytes ? data[i + 2] : 0);

        out[n++] = digits[v >> 18];
        out[n++] = digits[v >> 12 & 63];
        out[n++] = digits[i + 1 < bytes ? v >> 6 & 63 : 64];
        out[n++] = digits[i + 2 < bytes ? v & 63 : 64];
    }
    out[n] = 0;
}

int nsc_scheme_digest_text(enum nsc_crypto_hash kind, const void *data, size_t bytes,
                           char out[NSC_SCHEME_DIGEST_TEXT])
{
    uint8_t hash[NSC_CRYPTO_HASH_MAX];
    int error = nsc_crypto_digest(kind, data, bytes, hash);

    if (error == 0)
        nsc_scheme_base64(hash, nsc_crypto_hash_bytes(kind), out);
    return error;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static void text(struct nsc_buffer *b, const char *what)
{
    nsc_buffer_bytes(b, what, strlen(what));
}

/* Append "NAME: VALUE", folded into lines. */
static void attribute(struct nsc_buffer *b, const char *name, const char *value)
{
    size_t bytes = strlen(value), room = LINE_MAX_BYTES - strlen(name) - 2;

    text(b, name);
    text(b, ": ");
    while (bytes > room) {
        nsc_buffer_bytes(b, value, room);
        text(b, "\r\n ");
        value += room;
        bytes -= room;
        room = LINE_MAX_BYTES - 1;
    }
    nsc_buffer_bytes(b, value, bytes);
    text(b, "\r\n");
}

int nsc_sign_v1_begin(struct nsc_sign_v1 *s)
{
    *s = (struct nsc_sign_v1){.hasher = nsc_crypto_hasher_new(NSC_CRYPTO_SHA256)};
    attribute(&s->manifest, "Manifest-Version", "1.0");
    attribute(&s->manifest, "Created-By", "1.0 (Nanoscope)");
    text(&s->manifest, "\r\n");
    return s->hasher != NULL && !s->manifest.failed ? 0 : -ENOMEM;
}

void nsc_sign_v1_free(struct nsc_sign_v1 *s)
{
    nsc_buffer_free(&s->manifest);
    nsc_buffer_free(&s->signature);
    nsc_crypto_hasher_free(s->hasher);
    s->hasher = NULL;
}

void nsc_sign_v1_entry(struct nsc_sign_v1 *s, const char *name)
{
    char digest[NSC_SCHEME_DIGEST_TEXT];
    uint8_t hash[32];
    size_t at = s->manifest.used, bytes = strlen(name);

    nsc_crypto_hasher_end(s->hasher, hash);
    if (bytes == 0 || name[bytes - 1] == '/')
        return;
    nsc_scheme_base64(hash, sizeof hash, digest);
    attribute(&s->manifest, "Name", name);
    attribute(&s->manifest, "SHA-256-Digest", digest);
    text(&s->manifest, "\r\n");
    if (s->manifest.failed)
        return;
    s->signature.failed |= nsc_scheme_digest_text(NSC_CRYPTO_SHA256, s->manifest.data + at,
                                                  s->manifest.used - at, digest) != 0;
    attribute(&s->signature, "Name", name);
    attribute(&s->signature, "SHA-256-Digest", digest);
    text(&s->signature, "\r\n");
}

int nsc_sign_v1_end(struct nsc_sign_v1 *s, const struct nsc_crypto_key *key,
                    struct nsc_buffer *list, struct nsc_buffer *message, struct nsc_diag *diag)
{
    char digest[NSC_SCHEME_DIGEST_TEXT];

    if (s->manifest.failed || s->signature.failed ||
        nsc_scheme_digest_text(NSC_CRYPTO_SHA256, s->manifest.data, s->manifest.used, digest) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    attribute(list, "Signature-Version", "1.0");
    attribute(list, "Created-By", "1.0 (Nanoscope)");
    attribute(list, "SHA-256-Digest-Manifest", digest);
    /* Stripping protection: verifiers that support these schemes then require them. */
    attribute(list, "X-Android-APK-Signed", "2, 3");
    text(list, "\r\n");
    nsc_buffer_bytes(list, s->signature.data, s->signature.used);
    /* Android before 4.4 fails on files whose size is a multiple of 1,024 bytes. */
    if (list->used % 1024 == 0)
        text(list, "\r\n");
    if (list->failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return nsc_crypto_sign_pkcs7(key, list->data, list->used, message, diag);
}
