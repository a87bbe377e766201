/*
 * fuzz_dex.c - any bytes as a DEX file: what is read can be written, is then the same when it is
 * read and written again, and stays so when references are added.
 */
#include <stdint.h>
#include <stdlib.h>

#include "android/dex/dex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read, and write behind nothing; NULL if it is no DEX file. */
static struct nsc_dex *through(const uint8_t *data, size_t size, struct nsc_buffer *out)
{
    struct nsc_dex *dex = NULL;
    struct nsc_diag diag = {.message = ""};

    if (nsc_dex_read(data, size, &dex, &diag) != 0) {
        if (diag.message[0] == '\0')
            abort(); /* refused without a word */
        return NULL;
    }
    if (nsc_dex_write(dex, out, &diag) != 0)
        abort();
    return dex;
}

static void walk(const struct nsc_dex *dex)
{
    struct nsc_buffer text = {0};

    for (struct nsc_dex_walk w = {0}; nsc_dex_walk_next(dex, &w);) {
        nsc_buffer_clear(&text);
        nsc_dex_pretty(dex, w.member->index, &text);
        nsc_dex_signature(dex, w.member->index, &text);
        nsc_dex_first_line(dex, w.code);
    }
    nsc_buffer_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_buffer first = {0}, second = {0}, third = {0};
    struct nsc_dex *dex = through(data, size, &first), *again;
    struct nsc_diag diag;
    char name[8];

    if (dex == NULL)
        return 0;
    walk(dex);
    again = through(first.data, first.used, &second);
    if (again == NULL || first.used != second.used ||
        memcmp(first.data, second.data, first.used) != 0)
        abort();
    for (int i = 0; i < 4; i++) {
        memcpy(name, "L$i$a;", 7);
        name[2] = (char)('A' + i * 17 + data[size / 2] % 4);
        nsc_dex_add_method(again, name, "a", i % 2 != 0 ? "(J)V" : "([LA;)I");
    }
    if (nsc_dex_settle(again, &diag) == 0) {
        if (nsc_dex_write(again, &third, &diag) != 0)
            abort();
        nsc_dex_free(dex);
        dex = NULL;
        if (nsc_dex_read(third.data, third.used, &dex, &diag) != 0)
            abort();
        walk(dex);
    }
    nsc_dex_free(dex);
    nsc_dex_free(again);
    nsc_buffer_free(&first);
    nsc_buffer_free(&second);
    nsc_buffer_free(&third);
    return 0;
}
