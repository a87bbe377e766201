/*
 * fuzz_filter.c - a filter's text, as it comes to a recorder by its socket: whatever the bytes, a
 * filter that can be asked and freed, or a message.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/options/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_filter filter = {0};
    struct nsc_diag diag;
    char *text;

    if (nsc_filter_read((const char *)data, size, &filter, &diag) != 0)
        return 0;
    (void)nsc_filter_check(&filter, &diag);
    (void)nsc_filter_keeps_name(&filter, "ns::f<int>(int)");
    (void)nsc_filter_keeps_file(&filter, "/src/a.c");
    (void)nsc_filter_keeps_module(&filter, "/lib/a.so");
    (void)nsc_filter_keeps_thread(&filter, "worker", 7);
    (void)nsc_filter_roles(&filter, "f");
    text = nsc_filter_text(&filter);
    if (text == NULL)
        abort();
    free(text);
    nsc_filter_free(&filter);
    return 0;
}
