/*
 * fuzz_r8_mapping.c - any bytes as a mapping file, behind a query of three lines: class, name and
 * descriptor. Build and run: make fuzz
 */
#include <stdio.h>
#include <stdlib.h>

#include "android/names/r8_mapping.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_r8_mapping *m = NULL;
    struct nsc_mapping_found found;
    struct nsc_buffer signature = {0};
    struct nsc_diag diag = {0};
    char *text = malloc(size + 1), *lines[3], *at = text, *end = text + size;

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = 0;
    for (int i = 0; i < 3; i++) {
        char *next = memchr(at, '\n', (size_t)(end - at));

        lines[i] = at;
        at = next == NULL ? end : next + 1;
        if (next != NULL)
            *next = 0;
    }
    if (nsc_mapping_read(at, (size_t)(end - at), &m, &diag) == 0) {
        struct nsc_mapping_query q = {lines[0], lines[1], lines[2], (uint32_t)size % 32};

        if (nsc_mapping_method(m, &q, &signature, &found) == 0 && signature.data == NULL)
            abort();
        nsc_buffer_free(&signature);
        nsc_mapping_free(m);
    } else if (diag.message[0] == 0) {
        abort(); /* refused without a word */
    }
    free(text);
    return 0;
}
