/*
 * fuzz_method_table.c - any bytes as a table of methods: refused with a message of one line, or a
 * table that is the same when it is written and read again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "android/names/method_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The lines of @m as a table of our own. */
static void write_again(const struct nsc_methods *m, struct nsc_methods_writer *w)
{
    struct nsc_method method;

    nsc_methods_writer_begin(w);
    for (uint32_t id = 1; id <= nsc_methods_count(m); id++) {
        if (nsc_methods_get(m, id, &method) != 0 || method.signature[0] == '\0')
            abort();
        if (nsc_methods_writer_add(w, method.signature, method.file, method.line) != id)
            abort();
    }
    if (nsc_methods_writer_end(w) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_methods_writer first, second;
    struct nsc_methods *m = NULL, *again = NULL;

    if (nsc_methods_read((const char *)data, size, "input", &m, &diag) != 0) {
        if (m != NULL || diag.message[0] == '\0' || strchr(diag.message, '\n') != NULL)
            abort();
        return 0;
    }
    write_again(m, &first);
    if (nsc_methods_read((char *)first.text.data, first.text.used, "again", &again, &diag) != 0)
        abort();
    write_again(again, &second);
    if (strcmp(first.build, second.build) != 0 ||
        strcmp(nsc_methods_build(again), first.build) != 0)
        abort();
    nsc_methods_writer_free(&first);
    nsc_methods_writer_free(&second);
    nsc_methods_free(m);
    nsc_methods_free(again);
    return 0;
}
