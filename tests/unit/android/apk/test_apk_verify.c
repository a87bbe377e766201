/*
 * test_apk_verify.c - signatures: what is signed verifies, and whatever is changed is found.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "android/apk/apk_build.h"
#include "android/apk/apk_verify.h"
#include "android/apk/jar_manifest.h"
#include "android/apk/signature_scheme.h"
#include "tap.h"
#include "unit/rigs/zip_rig.h"

static char folder[] = "/tmp/test_apk_verify.XXXXXX", out[64];

/* ---- A signed APK --------------------------------------------------------------------------- */

static struct nsc_buffer read_file(const char *path)
{
    struct nsc_buffer b = {0};
    int fd = open(path, O_RDONLY);
    ssize_t n;

    while (fd >= 0 && (n = read(fd, nsc_buffer_reserve(&b, 65536), 65536)) > 0)
        b.used += (size_t)n;
    close(fd);
    return b;
}

static struct nsc_buffer make_signed(const struct nsc_crypto_key *key)
{
    struct nsc_diag diag = {0};
    struct nsc_apk_build *b = NULL;

    if (nsc_apk_build_create(out, key, &b, &diag) != 0 ||
        nsc_apk_build_add(b, "AndroidManifest.xml", NSC_ZIP_DEFLATED, "manifest", 8, &diag) != 0 ||
        nsc_apk_build_add(b, "res/", NSC_ZIP_STORED, "", 0, &diag) != 0 ||
        nsc_apk_build_add(b,
                          "assets/a name that is so long that its line in the manifest must be "
                          "continued in the next, and in the one after that, too, 0123456789",
                          NSC_ZIP_STORED, "asset", 5, &diag) != 0 ||
        nsc_apk_build_finish(b, NULL, NULL, &diag) != 0)
        printf("# %s\n", diag.message);
    return read_file(out);
}

/* Which schemes are there (1, 2, 4, 8) and which of them valid (16, 32, 64, 128); -errno if the
 * archive is refused. */
static int look(const struct nsc_buffer *file, struct nsc_apk_signatures *kept)
{
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;
    struct nsc_apk_signatures s;
    int result = rig_open_bytes(file->data, file->used, &z, &diag);

    if (result != 0)
        return result;
    if (nsc_apk_verify(z, &s, &diag) != 0)
        abort();
    for (int i = 0; i < NSC_APK_SCHEMES; i++)
        result |= (s.schemes[i].present ? 1 << i : 0) | (s.schemes[i].valid ? 16 << i : 0);
    nsc_zip_close(z);
    if (kept != NULL)
        *kept = s;
    else
        nsc_apk_signatures_free(&s);
    return result;
}

#define ALL_VALID 0x77

static void test_good(const struct nsc_buffer *file, const struct nsc_crypto_key *key)
{
    struct nsc_apk_signatures s = {0};
    struct nsc_crypto_certificate own;
    struct nsc_buffer der = {0};

    CHECK_U64((unsigned)look(file, &s), ALL_VALID);
    CHECK(nsc_crypto_key_certificate(key, 0, &der) &&
          nsc_crypto_certificate(der.data, der.used, &own) == 0);
    CHECK_U64(s.count, 3);
    for (uint32_t i = 0; i < s.count; i++) {
        CHECK(memcmp(s.signers[i].certificate.sha256, own.sha256, 32) == 0);
        CHECK_STR(s.signers[i].certificate.subject, "CN=Test");
    }
    nsc_apk_signatures_free(&s);
    nsc_buffer_free(&der);
}

/* ---- Changes -------------------------------------------------------------------------------- */

static uint8_t *find_id(const struct nsc_buffer *file, uint32_t id)
{
    uint8_t wanted[4];

    nsc_span_put32(wanted, id);
    return memmem(file->data, file->used, wanted, 4);
}

/* Every byte but those of the padding, and of the lengths that say how much of it there is. */
static void test_every_byte(struct nsc_buffer *file)
{
    size_t from = (size_t)(find_id(file, NSC_SCHEME_PADDING) - file->data) - 8;
    size_t to = from + 8 + (size_t)nsc_span_get64(file->data + from);
    size_t step = T_SANITIZED ? 61 : 7;
    unsigned unnoticed = 0, refused = 0, tried = 0;

    for (size_t at = 0; at < file->used; at += step, tried++) {
        uint8_t bit = (uint8_t)(1u << at % 8);
        int result;

        file->data[at] ^= bit;
        result = look(file, NULL);
        file->data[at] ^= bit;
        refused += result < 0;
        if (result == ALL_VALID && (at < from || at >= to)) {
            printf("# the change of byte %zu is not noticed\n", at);
            unnoticed++;
        }
    }
    printf("# %u changes, %u of them refused as an archive\n", tried, refused);
    CHECK_U64(unnoticed, 0);
    CHECK_U64((unsigned)look(file, NULL), ALL_VALID);
}

static void test_truncations(const struct nsc_buffer *file)
{
    unsigned opened = 0;

    for (size_t bytes = 0; bytes < file->used; bytes += 11)
        opened += look(&(struct nsc_buffer){.data = file->data, .used = bytes}, NULL) >= 0;
    CHECK_U64(opened, 0);
}

/* Whoever takes away the better scheme is found out by the others. */
static void test_stripped(struct nsc_buffer *file)
{
    static const uint32_t ids[] = {NSC_SCHEME_V2, NSC_SCHEME_V3};
    static const int want[] = {0x45, 0x03}; /* v1 is wrong; without v3, v2 is wrong, too */

    for (size_t i = 0; i < 2; i++) {
        uint8_t *at = find_id(file, ids[i]);

        at[0] ^= 0xff;
        CHECK_U64((unsigned)look(file, NULL), (unsigned)want[i]);
        at[0] ^= 0xff;
    }
    for (size_t i = 0; i < 2; i++) {
        uint8_t *at = find_id(file, ids[i]);

        nsc_span_put32(at, NSC_SCHEME_PADDING);
        CHECK(look(file, NULL) != ALL_VALID);
        nsc_span_put32(at, ids[i]);
    }
}

/* An entry more, and one less: v1 alone must find that. */
static void test_v1_alone(const struct nsc_buffer *file)
{
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;

    for (int change = 0; change < 4; change++) {
        struct zip_rig r = {0};

        rig_open_bytes(file->data, file->used, &z, &diag);
        for (uint32_t i = 0; i < nsc_zip_count(z); i++) {
            const struct nsc_zip_entry *e = nsc_zip_at(z, i);
            uint8_t *data = NULL;
            size_t bytes = 0;
            char *scheme;

            nsc_zip_read(z, e, 1 << 20, &data, &bytes, &diag);
            /* The list then is not what was signed. */
            scheme = strstr(e->name, ".SF") != NULL ? strstr((char *)data, "Signed: 2, 3") : NULL;
            if (scheme != NULL && change == 3)
                memcpy(scheme, "Signed: 7, 8", 12);
            if (change != 1 || strstr(e->name, "assets") == NULL)
                rig_add(&r, (struct rig_entry){.name = e->name, .data = data, .bytes = bytes});
            free(data);
        }
        if (change == 0)
            rig_text(&r, "new", "not signed");
        rig_end(&r);
        /* An entry that is gone is nothing that v1 forbids; but the other schemes are gone, too. */
        CHECK_U64((unsigned)look(&r.file, NULL), 0x01);
        rig_free(&r);
        nsc_zip_close(z);
    }
}

/* ---- Manifests ------------------------------------------------------------------------------ */

static int parse(const char *text, size_t bytes, struct nsc_jar *jar)
{
    uint8_t *raw = malloc(bytes + 1);
    struct nsc_diag diag = {0};

    memcpy(raw, text, bytes);
    return nsc_jar_parse(raw, bytes, jar, &diag);
}

static void test_jar(void)
{
    static const char good[] = "Manifest-Version: 1.0\r\nSHA1-Digest-Manifest: abc=\r\n\r\n"
                               "Name: a very\r\n  long\n  name\r\nSHA-256-Digest: x\r\n"
                               " yz\r\nsha-512-digest: u\n\r\n\r\nName: b\nSHA-1-Digest: c";
    static const char *const bad[] = {
        "no colon\n",
        "Name: a\n",
        "A: b\n\nB: c\n",
        "A: b\n\nName: a\nName: b\n",
        "A: b\n\nName: a\n\nName: a\n",
        " A: b\n\n\nName\n",
    };
    const struct nsc_jar_section *s;
    struct nsc_jar jar;

    CHECK(parse(good, sizeof good - 1, &jar) == 0);
    CHECK_U64(jar.count, 3);
    CHECK_STR(jar.sections[0].digests[NSC_CRYPTO_SHA1], "abc=");
    s = nsc_jar_find(&jar, "a very long name");
    CHECK(s != NULL && nsc_jar_best(s) == NSC_CRYPTO_SHA512);
    CHECK_STR(s->digests[NSC_CRYPTO_SHA256], "xyz");
    CHECK(s->bytes == 73 && memcmp(s->at, "Name", 4) == 0);
    s = nsc_jar_find(&jar, "b");
    CHECK_STR(s->digests[NSC_CRYPTO_SHA1], "c");
    CHECK(nsc_jar_find(&jar, "c") == NULL);
    nsc_jar_free(&jar);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK(parse(bad[i], strlen(bad[i]), &jar) == -EBADMSG);
        nsc_jar_free(&jar);
    }
    CHECK(parse("A: b\0c\n", 7, &jar) == -EBADMSG);
    nsc_jar_free(&jar);
    CHECK(parse("", 0, &jar) == 0);
    nsc_jar_free(&jar);
    for (size_t bytes = 0; bytes < sizeof good; bytes++) {
        parse(good, bytes, &jar);
        nsc_jar_free(&jar);
    }
}

int main(void)
{
    struct nsc_crypto_key *key = NULL;
    struct nsc_diag diag = {0};
    struct nsc_buffer file;

    if (nsc_crypto_load(&diag) != 0) {
        printf("ok 1 - all # SKIP %s\n1..1\n", diag.message);
        return 0;
    }
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(out, sizeof out, "%s/out.apk", folder);
    CHECK(nsc_crypto_key_generate("Test", &key, &diag) == 0);
    file = make_signed(key);
    test_good(&file, key);
    test_every_byte(&file);
    test_truncations(&file);
    test_stripped(&file);
    test_v1_alone(&file);
    test_jar();
    nsc_buffer_free(&file);
    nsc_crypto_key_free(key);
    unlink(out);
    CHECK(rmdir(folder) == 0);
    return t_done();
}
