/*
 * usage: add IN OUT COUNT [VERSION]
 * Copy a DEX file with COUNT strings added that come before most others, and, with COUNT, types,
 * prototypes, fields and methods everywhere among those that are there; as another version if one
 * is given.
 */
#include <stdio.h>
#include <stdlib.h>

#include "android/dex/dex.h"

static int fail(const char *what)
{
    fprintf(stderr, "add: %s\n", what);
    return 1;
}

static int read_file(const char *path, struct nsc_buffer *out)
{
    FILE *f = fopen(path, "rb");
    size_t n;

    if (f == NULL)
        return -1;
    do {
        uint8_t *at = nsc_buffer_reserve(out, 65536);

        n = at == NULL ? 0 : fread(at, 1, 65536, f);
        out->used += n;
    } while (n > 0);
    return fclose(f);
}

static void add(struct nsc_dex *dex, int count)
{
    static const char first[] = "$AILZ_az";
    char text[32];

    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "$%d", i);
        nsc_dex_add_string(dex, text);
    }
    for (int i = 0; count > 0 && i < 20; i++) {
        snprintf(text, sizeof text, "L%c%d/a;", first[i % 8], i);
        nsc_dex_add_method(dex, text, i % 2 != 0 ? "$$" : "zz", i % 3 != 0 ? "(IJ)V" : "(J)[[I");
        nsc_dex_add_field(dex, text, "$", i % 2 != 0 ? "I" : "Z");
    }
    for (int i = 0; count > 0 && i < 20; i++) {
        snprintf(text, sizeof text, "%c%d", first[i % 8], i);
        nsc_dex_add_method(dex, "Ltest/All;", text, i % 3 != 0 ? "(C)J" : "()V");
    }
}

int main(int argc, char **argv)
{
    struct nsc_buffer in = {0}, out = {0};
    struct nsc_dex *dex;
    struct nsc_diag diag;
    FILE *f;

    if (argc < 4 || read_file(argv[1], &in) != 0)
        return fail("cannot read the file");
    if (nsc_dex_read(in.data, in.used, &dex, &diag) != 0)
        return fail(diag.message);
    add(dex, atoi(argv[3]));
    if (argc > 4)
        dex->version = (uint32_t)atoi(argv[4]);
    if (nsc_dex_settle(dex, &diag) != 0 || nsc_dex_write(dex, &out, &diag) != 0)
        return fail(diag.message);
    f = fopen(argv[2], "wb");
    if (f == NULL || fwrite(out.data, 1, out.used, f) != out.used || fclose(f) != 0)
        return fail("cannot write the file");
    nsc_dex_free(dex);
    nsc_buffer_free(&in);
    nsc_buffer_free(&out);
    return 0;
}
