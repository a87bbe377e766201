/* test_dex.c - the model of a DEX file: written, read, cut off at every length. */
#include <errno.h>

#include "dex/dex.h"
#include "tap.h"

static void test_empty(uint32_t version, size_t header)
{
    struct nsc_dex *dex = nsc_dex_new(version), *again = NULL;
    struct nsc_buffer out = {0}, twice = {0};
    struct nsc_diag diag;
    size_t refused = 0;

    CHECK(nsc_dex_write(dex, &out, &diag) == 0);
    CHECK_U64(out.used, header + 4 + 2 * 12);
    CHECK(nsc_dex_read(out.data, out.used, &again, &diag) == 0);
    CHECK_U64(again->version, version);
    CHECK(again->checksum_ok && again->signature_ok && again->loose_bytes == 0);
    CHECK(nsc_dex_write(again, &twice, &diag) == 0);
    CHECK(twice.used == out.used && memcmp(twice.data, out.data, out.used) == 0);
    nsc_dex_free(again);
    for (size_t bytes = 0; bytes < out.used; bytes++)
        refused += nsc_dex_read(out.data, bytes, &again, &diag) == -EBADMSG;
    CHECK_U64(refused, out.used);
    nsc_dex_free(dex);
    nsc_buffer_free(&out);
    nsc_buffer_free(&twice);
}

int main(void)
{
    test_empty(35, 112);
    test_empty(41, 120);
    return t_done();
}
