/*
 * test_apk_build.c - APKs that are written: alignment, what is kept and what is left out, and keys.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "android/apk/apk_build.h"
#include "android/apk/signing_key.h"
#include "tap.h"
#include "unit/rigs/zip_rig.h"

static char folder[] = "/tmp/test_apk_build.XXXXXX", out[64], out2[64], big[50000];

static void make(struct zip_rig *r)
{
    rig_text(r, "AndroidManifest.xml", "manifest");
    rig_text(r, "META-INF/MANIFEST.MF", "old");
    rig_text(r, "META-INF/OLD.SF", "old");
    rig_text(r, "META-INF/old.rsa", "old");
    rig_text(r, "META-INF/services/x.SF", "kept");
    rig_text(r, "stamp-cert-sha256", "old");
    rig_text(r, "assets/a", "a");
    rig_text(r, "lib/x86/liba.so", "library");
    rig_add(r, (struct rig_entry){.name = "resources.arsc",
                                  .data = big,
                                  .bytes = sizeof big,
                                  .method = 8,
                                  .descriptor = true});
    rig_add(r, (struct rig_entry){.name = "classes.dex",
                                  .data = big,
                                  .bytes = sizeof big,
                                  .method = 8,
                                  .descriptor = true});
    rig_text(r, "res/", "");
}

static int build(const char *path, const struct nsc_zip *z, const struct nsc_crypto_key *key,
                 struct nsc_diag *diag)
{
    struct nsc_apk_build *b;
    int error = nsc_apk_build_create(path, key, &b, diag);

    if (error != 0)
        return error;
    for (uint32_t i = 0; error == 0 && i < nsc_zip_count(z); i++)
        error = nsc_apk_build_copy(b, z, nsc_zip_at(z, i), diag);
    if (error == 0)
        error = nsc_apk_build_add(b, "assets/new", NSC_ZIP_DEFLATED, big, sizeof big, diag);
    if (error == 0)
        error = nsc_apk_build_add(b, "lib/x86/libn.so", NSC_ZIP_STORED, "new", 3, diag);
    if (error == 0)
        return nsc_apk_build_finish(b, NULL, NULL, diag);
    nsc_apk_build_abandon(b);
    return error;
}

static struct nsc_zip *open_rig(struct zip_rig *r)
{
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;

    rig_end(r);
    if (rig_open_bytes(r->file.data, r->file.used, &z, &diag) != 0)
        printf("# %s\n", diag.message);
    rig_free(r);
    return z;
}

static bool same(const char *a, const char *b)
{
    char command[256];

    snprintf(command, sizeof command, "cmp -s %s %s", a, b);
    return system(command) == 0;
}

static void check_text(const struct nsc_zip *z, const char *name, const void *want, size_t bytes)
{
    const struct nsc_zip_entry *e = nsc_zip_find(z, name);
    struct nsc_diag diag = {0};
    uint8_t *data = NULL;
    size_t got = 0;

    CHECK(e != NULL && nsc_zip_read(z, e, 1 << 20, &data, &got, &diag) == 0 && got == bytes &&
          memcmp(data, want, bytes) == 0);
    free(data);
}

static void test_entries(const struct nsc_crypto_key *key)
{
    struct nsc_diag diag = {0};
    struct zip_rig r = {0};
    struct nsc_zip *z, *got = NULL;
    const struct nsc_zip_entry *e;

    make(&r);
    z = open_rig(&r);
    CHECK(build(out, z, key, &diag) == 0);
    CHECK(build(out2, z, key, &diag) == 0);
    CHECK(same(out, out2));
    CHECK(nsc_zip_open(out, &got, &diag) == 0);
    check_text(got, "AndroidManifest.xml", "manifest", 8);
    check_text(got, "META-INF/services/x.SF", "kept", 4);
    check_text(got, "resources.arsc", big, sizeof big);
    check_text(got, "classes.dex", big, sizeof big);
    check_text(got, "assets/new", big, sizeof big);
    CHECK(nsc_zip_find(got, "META-INF/OLD.SF") == NULL);
    CHECK(nsc_zip_find(got, "META-INF/old.rsa") == NULL);
    CHECK(nsc_zip_find(got, "stamp-cert-sha256") == NULL);
    CHECK((nsc_zip_find(got, "META-INF/MANIFEST.MF") != NULL) == (key != NULL));
    for (uint32_t i = 0; i < nsc_zip_count(got); i++) {
        e = nsc_zip_at(got, i);
        if (e->method == NSC_ZIP_STORED && e->bytes > 0)
            CHECK(e->data_off % (strstr(e->name, ".so") != NULL ? 16384 : 4) == 0);
    }
    e = nsc_zip_find(got, "resources.arsc");
    CHECK(e->method == NSC_ZIP_STORED);
    e = nsc_zip_find(got, "classes.dex");
    CHECK(e->method == NSC_ZIP_DEFLATED && (e->flags & 8) == 0 && e->time == 0x5821);
    CHECK_U64(nsc_zip_layout(got)->block_off % 4096,
              key != NULL ? 0 : nsc_zip_layout(got)->block_off % 4096);
    CHECK((nsc_zip_layout(got)->block_off < nsc_zip_layout(got)->central_off) == (key != NULL));
    nsc_zip_close(z);
    /* What is aligned stays as it is. */
    CHECK(build(out2, got, key, &diag) == -EEXIST);
    printf("# %s\n", diag.message);
    nsc_zip_close(got);
}

static void test_failures(const struct nsc_crypto_key *key)
{
    struct nsc_diag diag = {0};
    struct zip_rig r = {0};
    struct nsc_apk_build *b = NULL;
    struct nsc_zip *z;

    CHECK(nsc_apk_build_create("/nonexistent/x.apk", key, &b, &diag) == -ENOENT);
    CHECK(nsc_apk_build_create("/dev/null", key, &b, &diag) == -EINVAL);
    unlink(out);
    /* A damaged entry is found while it is signed; nothing remains. */
    rig_text(&r, "a", "hello");
    r.file.data[r.data] = 'x';
    z = open_rig(&r);
    CHECK(build(out, z, key, &diag) == -EBADMSG);
    CHECK(access(out, F_OK) != 0);
    nsc_zip_close(z);
}

/* More entries than the short end can count. */
static void test_many(const struct nsc_crypto_key *key)
{
    enum { MANY = 65600 };
    struct nsc_diag diag = {0};
    struct nsc_apk_build *b = NULL;
    struct nsc_apk_build_result result;
    struct nsc_zip *z = NULL;
    int error = 0;

    CHECK(nsc_apk_build_create(out, NULL, &b, &diag) == 0);
    for (unsigned i = 0; i < MANY && error == 0; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%u", i);
        error = nsc_apk_build_add(b, name, NSC_ZIP_STORED, name, 2, &diag);
    }
    CHECK(error == 0 && nsc_apk_build_finish(b, NULL, &result, &diag) == 0);
    CHECK_U64(result.entries, MANY);
    CHECK(nsc_zip_open(out, &z, &diag) == 0);
    CHECK(nsc_zip_layout(z)->zip64);
    CHECK_U64(nsc_zip_count(z), MANY);
    check_text(z, "n65535", "n6", 2);
    CHECK(build(out2, z, key, &diag) == (key != NULL ? -EFBIG : 0));
    nsc_zip_close(z);
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, mode) != 0)
        abort();
    close(fd);
}

/* Many who make the key at once have the same in the end. */
static struct nsc_crypto_key *test_debug_key(void)
{
    struct nsc_crypto_certificate c[2];
    struct nsc_crypto_key *key[2] = {NULL, NULL};
    struct nsc_diag diag = {0};
    char *path = NULL, command[200];
    struct stat st;
    bool made = true;
    int bad = 0, status;

    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(nsc_apk_key_debug(&key[0], NULL, NULL, &diag) != 0);
    while (wait(&status) > 0)
        bad += status != 0;
    CHECK_U64((unsigned)bad, 0);
    CHECK(nsc_apk_key_debug(&key[0], &path, &made, &diag) == 0 && !made);
    CHECK(nsc_apk_key_load(path, NULL, NULL, &key[1], &diag) == 0);
    CHECK(nsc_apk_key_certificate(key[0], &c[0]) == 0);
    CHECK(nsc_apk_key_certificate(key[1], &c[1]) == 0);
    CHECK(memcmp(c[0].sha256, c[1].sha256, 32) == 0);
    CHECK_STR(c[0].subject, "CN=Nanoscope Debug");
    CHECK(c[0].kind == NSC_CRYPTO_RSA && c[0].bits == 2048);
    CHECK(c[0].ends_s - c[0].begins_s > 20LL * 365 * 86400);
    nsc_crypto_key_free(key[1]);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    snprintf(command, sizeof command, "test $(ls %s/nanoscope | wc -l) = 1", folder);
    CHECK(system(command) == 0);
    CHECK(nsc_apk_key_load(path, "alias", NULL, &key[1], &diag) == -EINVAL);
    chmod(path, 0644);
    CHECK(nsc_apk_key_debug(&key[1], NULL, NULL, &diag) == -EPERM);
    printf("# %s\n", diag.message);
    chmod(path, 0600);
    free(path);
    return key[0];
}

static void test_bad_keys(void)
{
    static const struct {
        const char *text;
        int error;
    } cases[] = {{"", -EBADMSG},
                 {"rubbish", -EBADMSG},
                 {"\xfe\xed\xfe\xed", -ENOTSUP},
                 {"-----BEGIN PRIVATE KEY-----\nrubbish\n-----END PRIVATE KEY-----\n", -EBADMSG}};
    struct nsc_crypto_key *key = NULL;
    struct nsc_diag diag = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(out, cases[i].text, 0600);
        CHECK(nsc_apk_key_load(out, NULL, "password", &key, &diag) == cases[i].error);
        printf("# %s\n", diag.message);
    }
    CHECK(nsc_apk_key_load("/nonexistent", NULL, NULL, &key, &diag) == -ENOENT);
}

int main(void)
{
    struct nsc_crypto_key *key;
    struct nsc_diag diag = {0};
    char command[128];
    uint32_t x = 1;

    for (size_t i = 0; i < sizeof big; i++) {
        x = x * 1664525 + 1013904223;
        big[i] = (char)('a' + (x >> 24) % 4);
    }
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(out, sizeof out, "%s/out.apk", folder);
    snprintf(out2, sizeof out2, "%s/out2.apk", folder);
    setenv("XDG_CONFIG_HOME", folder, 1);
    test_entries(NULL);
    if (nsc_crypto_load(&diag) != 0) {
        printf("# %s\n", diag.message);
        test_many(NULL);
    } else {
        key = test_debug_key();
        test_entries(key);
        test_failures(key);
        test_many(key);
        test_bad_keys();
        nsc_crypto_key_free(key);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
    return t_done();
}
