/*
 * Fuzzes the reader of ZIP archives, and the writer with what was read: the copy must hold the
 * same.
 *
 * Build and run: make fuzz-zip
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "android/apk/apk_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check(int condition)
{
    if (!condition)
        abort();
}

static int count(void *context, const uint8_t *data, size_t bytes)
{
    check(data != NULL && bytes > 0);
    *(uint64_t *)context += bytes;
    return 0;
}

/* Whether all entries can be unpacked. */
static int read_all(const struct nsc_zip *z, size_t bytes)
{
    const struct nsc_zip_layout *l = nsc_zip_layout(z);
    struct nsc_diag diag = {0};
    int good = 1;

    check(l->file_bytes == bytes && l->block_off <= l->central_off && l->central_off <= l->end_off);
    for (uint32_t i = 0; i < nsc_zip_count(z); i++) {
        const struct nsc_zip_entry *e = nsc_zip_at(z, i);
        uint64_t given = 0;

        check(nsc_zip_find(z, e->name) == e && e->name[0] != '/' && e->name[0] != 0);
        check(e->data_off + e->packed_bytes <= l->block_off);
        if (nsc_zip_stream(z, e, count, &given, &diag) != 0)
            good = 0;
        else
            check(given == e->bytes);
        check(given <= e->bytes);
    }
    return good;
}

static void copy(const struct nsc_zip *z)
{
    struct nsc_diag diag = {0};
    struct nsc_apk_build *b = NULL;
    struct nsc_zip *again = NULL;
    uint32_t copied = 0;
    char out[40];

    snprintf(out, sizeof out, "/tmp/fuzz_zip.%d", (int)getpid());
    check(nsc_apk_build_create(out, NULL, &b, &diag) == 0);
    for (uint32_t i = 0; i < nsc_zip_count(z); i++)
        check(nsc_apk_build_copy(b, z, nsc_zip_at(z, i), &diag) == 0);
    check(nsc_apk_build_finish(b, NULL, NULL, &diag) == 0);
    check(nsc_zip_open(out, &again, &diag) == 0);
    unlink(out);
    for (uint32_t i = 0; i < nsc_zip_count(again); i++) {
        const struct nsc_zip_entry *e = nsc_zip_at(again, i), *was = nsc_zip_find(z, e->name);

        check(was != NULL && was->crc == e->crc && was->bytes == e->bytes);
        copied++;
    }
    check(copied <= nsc_zip_count(z));
    nsc_zip_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct nsc_zip *z = NULL;
    struct nsc_diag diag;
    int fd = memfd_create("input", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    if (nsc_zip_open_fd(fd, "input", &z, &diag) != 0)
        return 0;
    if (read_all(z, bytes))
        copy(z);
    nsc_zip_close(z);
    return 0;
}
