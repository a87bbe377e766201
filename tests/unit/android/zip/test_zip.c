/*
 * test_zip.c - reading ZIP archives: what is in them, and every way to be wrong.
 */
#include <errno.h>

#include "tap.h"
#include "unit/rigs/zip_rig.h"

static char big[200000];

static void make(struct zip_rig *r)
{
    rig_text(r, "a.txt", "hello");
    rig_add(r,
            (struct rig_entry){.name = "dir/big", .data = big, .bytes = sizeof big, .method = 8});
    rig_add(r, (struct rig_entry){.name = "dir/streamed",
                                  .data = "some more",
                                  .bytes = 9,
                                  .method = 8,
                                  .descriptor = true});
    rig_text(r, "dir/", "");
}

static void test_good(void)
{
    struct zip_rig r = {0};
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;
    const struct nsc_zip_entry *e;
    uint8_t *data = NULL;
    size_t bytes = 0, central;

    make(&r);
    central = rig_end(&r);
    CHECK(rig_open_bytes(r.file.data, r.file.used, &z, &diag) == 0);
    CHECK_U64(nsc_zip_count(z), 4);
    CHECK_U64(nsc_zip_layout(z)->central_off, central);
    CHECK_U64(nsc_zip_layout(z)->block_off, central);
    CHECK_U64(nsc_zip_layout(z)->end_off, r.file.used - 22);
    CHECK(nsc_zip_find(z, "dir") == NULL && nsc_zip_find(z, "zzz") == NULL);
    e = nsc_zip_find(z, "dir/big");
    CHECK(e == nsc_zip_at(z, 1));
    CHECK_U64(e->bytes, sizeof big);
    CHECK(nsc_zip_read(z, e, sizeof big - 1, &data, &bytes, &diag) == -EFBIG);
    CHECK(nsc_zip_read(z, e, sizeof big, &data, &bytes, &diag) == 0);
    CHECK(bytes == sizeof big && memcmp(data, big, bytes) == 0);
    free(data);
    CHECK(nsc_zip_read(z, nsc_zip_find(z, "dir/streamed"), 100, &data, &bytes, &diag) == 0);
    CHECK_STR((char *)data, "some more");
    free(data);
    CHECK(nsc_zip_read(z, nsc_zip_find(z, "dir/"), 100, &data, &bytes, &diag) == 0 && bytes == 0);
    free(data);
    nsc_zip_close(z);
    rig_free(&r);
}

/* The archive @r, ended, with @bytes at @at of the file, is refused with @error. */
static void refused(const char *what, struct zip_rig *r, int error)
{
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;
    int got = rig_open_bytes(r->file.data, r->file.used, &z, &diag);

    printf("# %s: %s (%lld)\n", what, diag.message, (long long)diag.offset);
    if (got == 0)
        nsc_zip_close(z);
    CHECK(got == error);
    CHECK(strchr(diag.message, '\n') == NULL && diag.message[0] != 0);
    rig_free(r);
}

static void test_names(void)
{
    static const char *const bad[] = {"/etc/passwd", "../up", "a/../../up", "a/..",
                                      "..",          "a\\b",  "a\nb.c",     "a\302\233b",
                                      "./a",         ".",     "a/./b"};
    struct zip_rig r = {0};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rig_text(&r, bad[i], "x");
        rig_end(&r);
        refused("name", &r, -EBADMSG);
    }
    rig_add(&r, (struct rig_entry){.name = "a\0b", .name_bytes = 3, .data = "", .bytes = 0});
    rig_end(&r);
    refused("NUL in a name", &r, -EBADMSG);
    rig_text(&r, "", "x");
    rig_end(&r);
    refused("no name", &r, -EBADMSG);
    rig_text(&r, "classes.dex", "one");
    rig_text(&r, "b", "two");
    rig_text(&r, "classes.dex", "three");
    rig_end(&r);
    refused("twice", &r, -EBADMSG);
}

static void test_contradictions(void)
{
    static const struct {
        unsigned at; /* in the record of the central directory */
        uint32_t value;
        int error;
    } cases[] = {
        {8, 1, -ENOTSUP},           /* encrypted */
        {10, 8, -EBADMSG},          /* method: the data is stored */
        {10, 99, -ENOTSUP},         /* method */
        {16, 0x12345678, -EBADMSG}, /* CRC */
        {20, 4, -EBADMSG},          /* packed size */
        {24, 6, -EBADMSG},          /* size */
        {34, 1, -ENOTSUP},          /* disk */
        {42, 1, -EBADMSG},          /* offset */
        {42, 0x7fffffff, -EBADMSG}, /* offset */
        {42, UINT32_MAX, -EBADMSG}, /* offset in a field that is not there */
    };
    struct zip_rig r = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool wide = cases[i].at == 16 || cases[i].at == 20 || cases[i].at == 24 || cases[i].at > 40;

        rig_text(&r, "a.txt", "hello");
        if (wide)
            nsc_span_put32(r.central.data + r.record + cases[i].at, cases[i].value);
        else
            nsc_span_put16(r.central.data + r.record + cases[i].at, (uint16_t)cases[i].value);
        rig_end(&r);
        refused("central directory", &r, cases[i].error);
    }
    rig_text(&r, "a.txt", "hello");
    r.file.data[r.header + 30] = 'b';
    rig_end(&r);
    refused("another name in the local header", &r, -EBADMSG);
}

static void test_overlap(void)
{
    struct zip_rig r = {0};
    size_t header;

    rig_text(&r, "a", "hello");
    header = r.header;
    rig_text(&r, "b", "hello");
    /* b's entry inside a's: both read the same bytes. */
    rig_text(&r, "c", "hello");
    nsc_span_put32(r.central.data + r.record + 42, (uint32_t)header);
    r.central.data[r.record + 46] = 'a';
    rig_end(&r);
    refused("one local header for two entries", &r, -EBADMSG);

    /* A large stored entry whose bytes are another entry. */
    rig_text(&r, "a", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    header = r.data;
    rig_text(&r, "b", "hello");
    memcpy(r.file.data + header, r.file.data + r.header, 36);
    nsc_span_put32(r.central.data + r.record + 42, (uint32_t)header);
    rig_end(&r);
    refused("an entry inside another", &r, -EBADMSG);
}

static void test_counts(void)
{
    static const int lies[] = {-1, 1, 1000};
    struct zip_rig r = {0};

    for (size_t i = 0; i < 3; i++) {
        uint8_t *end;

        make(&r);
        rig_end(&r);
        end = r.file.data + r.file.used - 22;
        nsc_span_put16(end + 8, (uint16_t)((int)r.count + lies[i]));
        nsc_span_put16(end + 10, (uint16_t)((int)r.count + lies[i]));
        refused("count", &r, -EBADMSG);
    }
    make(&r);
    rig_end(&r);
    r.file.data[r.file.used - 22 + 4] = 1;
    refused("disk", &r, -ENOTSUP);
    make(&r);
    rig_end(&r);
    nsc_span_put32(r.file.data + r.file.used - 22 + 16, 0xfffffff0);
    refused("central directory outside", &r, -EBADMSG);
    make(&r);
    rig_end(&r);
    nsc_buffer_bytes(&r.file, "behind", 6);
    refused("bytes behind the end", &r, -EBADMSG);
}

static int count_bytes(void *context, const uint8_t *data, size_t bytes)
{
    (void)data;
    *(uint64_t *)context += bytes;
    return 0;
}

/* Data that is not what was declared. */
static void test_data(void)
{
    static const struct {
        unsigned header, record; /* offsets of what is wrong in both */
        uint32_t value;
    } cases[] = {{14, 16, 1}, {22, 24, sizeof big - 1}, {22, 24, sizeof big + 1}, {18, 20, 50}};
    struct zip_rig r = {0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nsc_diag diag = {0};
        struct nsc_zip *z = NULL;
        uint64_t given = 0;

        rig_add(&r,
                (struct rig_entry){.name = "big", .data = big, .bytes = sizeof big, .method = 8});
        nsc_span_put32(r.file.data + r.header + cases[i].header, cases[i].value);
        nsc_span_put32(r.central.data + r.record + cases[i].record, cases[i].value);
        rig_end(&r);
        if (rig_open_bytes(r.file.data, r.file.used, &z, &diag) == 0) {
            CHECK(nsc_zip_stream(z, nsc_zip_at(z, 0), count_bytes, &given, &diag) == -EBADMSG);
            CHECK(given <= nsc_zip_at(z, 0)->bytes);
            nsc_zip_close(z);
        } else {
            CHECK(cases[i].record == 20);
        }
        printf("# %s\n", diag.message);
        rig_free(&r);
    }
    rig_add(&r, (struct rig_entry){.name = "bomb", .data = "x", .bytes = 1, .method = 8});
    nsc_span_put32(r.file.data + r.header + 22, 0x7fffffff);
    nsc_span_put32(r.central.data + r.record + 24, 0x7fffffff);
    rig_end(&r);
    refused("bomb", &r, -EBADMSG);
}

/* An archive of ZIP64: an entry's sizes and the end's numbers in the wide records. */
static size_t make_zip64(struct zip_rig *r, uint64_t entries, uint64_t locator_slip)
{
    size_t at, end;

    rig_text(r, "a.txt", "hello");
    nsc_span_put32(r->central.data + r->record + 24, UINT32_MAX);
    nsc_span_put32(r->central.data + r->record + 42, UINT32_MAX);
    nsc_span_put16(r->central.data + r->record + 30, 20);
    rig_16(&r->central, 1);
    rig_16(&r->central, 16);
    rig_64(&r->central, 5);
    rig_64(&r->central, r->header);
    at = r->file.used;
    nsc_buffer_bytes(&r->file, r->central.data, r->central.used);
    end = r->file.used;
    rig_32(&r->file, 0x06064b50);
    rig_64(&r->file, 44);
    rig_32(&r->file, 0x002d002d);
    rig_64(&r->file, 0);
    rig_64(&r->file, entries);
    rig_64(&r->file, entries);
    rig_64(&r->file, r->central.used);
    rig_64(&r->file, at);
    rig_32(&r->file, 0x07064b50);
    rig_32(&r->file, 0);
    rig_64(&r->file, end + locator_slip);
    rig_32(&r->file, 1);
    rig_32(&r->file, 0x06054b50);
    rig_32(&r->file, 0);
    rig_32(&r->file, UINT32_MAX);
    rig_32(&r->file, r->central.used);
    rig_32(&r->file, UINT32_MAX);
    rig_16(&r->file, 0);
    return at;
}

static void test_zip64(void)
{
    struct zip_rig r = {0};
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;
    uint8_t *data = NULL;
    size_t bytes, at = make_zip64(&r, 1, 0);

    CHECK(rig_open_bytes(r.file.data, r.file.used, &z, &diag) == 0);
    CHECK(nsc_zip_layout(z)->zip64 && nsc_zip_layout(z)->central_off == at);
    CHECK(nsc_zip_read(z, nsc_zip_at(z, 0), 100, &data, &bytes, &diag) == 0);
    CHECK_STR((char *)data, "hello");
    free(data);
    nsc_zip_close(z);
    rig_free(&r);
    make_zip64(&r, UINT64_MAX, 0);
    refused("entries of ZIP64", &r, -EBADMSG);
    make_zip64(&r, 1, 1);
    refused("locator astray", &r, -EBADMSG);
    make_zip64(&r, 1, UINT64_MAX / 2);
    refused("locator far astray", &r, -EBADMSG);
    make_zip64(&r, 1, 0);
    nsc_span_put32(r.file.data + r.file.used - 22 + 16, (uint32_t)at - 1);
    refused("contradicting ends", &r, -EBADMSG);
}

/* Where the block of signatures is. */
static void test_block(void)
{
    for (int wrong = 0; wrong < 3; wrong++) {
        struct zip_rig r = {0};
        struct nsc_diag diag = {0};
        struct nsc_zip *z = NULL;
        size_t block;

        rig_text(&r, "a.txt", "hello");
        block = r.file.used;
        rig_64(&r.file, 32 + (wrong == 1));
        rig_64(&r.file, 0);
        rig_64(&r.file, wrong == 2 ? UINT64_MAX : 32);
        nsc_buffer_bytes(&r.file, "APK Sig Block 42", 16);
        rig_end(&r);
        CHECK(rig_open_bytes(r.file.data, r.file.used, &z, &diag) == 0);
        CHECK_U64(nsc_zip_layout(z)->block_off,
                  wrong != 0 ? nsc_zip_layout(z)->central_off : block);
        nsc_zip_close(z);
        rig_free(&r);
    }
}

/* No part of an archive is one, and whatever byte is wrong, nothing worse than an error happens. */
static void test_damage(void)
{
    struct zip_rig r = {0};
    struct nsc_diag diag = {0};
    int opened = 0;

    rig_text(&r, "a.txt", "hello");
    rig_add(&r, (struct rig_entry){
                    .name = "b", .data = big, .bytes = 300, .method = 8, .descriptor = true});
    rig_end(&r);
    for (size_t bytes = 0; bytes < r.file.used; bytes++) {
        struct nsc_zip *z = NULL;

        if (rig_open_bytes(r.file.data, bytes, &z, &diag) == 0) {
            opened++;
            nsc_zip_close(z);
        }
    }
    CHECK_U64((unsigned)opened, 0);
    for (size_t at = 0; at < r.file.used * 8; at++) {
        struct nsc_zip *z = NULL;

        r.file.data[at / 8] ^= (uint8_t)(1 << at % 8);
        if (rig_open_bytes(r.file.data, r.file.used, &z, &diag) == 0) {
            for (uint32_t i = 0; i < nsc_zip_count(z); i++) {
                uint64_t given = 0;

                nsc_zip_stream(z, nsc_zip_at(z, i), count_bytes, &given, &diag);
            }
            nsc_zip_close(z);
        }
        r.file.data[at / 8] ^= (uint8_t)(1 << at % 8);
    }
    CHECK(1);
    rig_free(&r);
}

static void test_files(void)
{
    struct nsc_diag diag = {0};
    struct nsc_zip *z = NULL;

    CHECK(nsc_zip_open("/nonexistent", &z, &diag) == -ENOENT);
    CHECK(nsc_zip_open("/", &z, &diag) == -EISDIR);
    CHECK(nsc_zip_open("/dev/null", &z, &diag) == -EINVAL);
    CHECK(z == NULL);
}

int main(void)
{
    uint32_t x = 1;

    for (size_t i = 0; i < sizeof big; i++) {
        x = x * 1664525 + 1013904223;
        big[i] = (char)('a' + (x >> 24) % 4);
    }
    test_good();
    test_names();
    test_contradictions();
    test_overlap();
    test_counts();
    test_data();
    test_zip64();
    test_block();
    test_damage();
    test_files();
    return t_done();
}
