/*
 * fuzz_category.c - a file of rules, whatever its bytes: rules that sort every function of a trace
 * into a category that there is, or a message of one line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/functions/category.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct nsc_trace *trace;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_category_rules *rules;
    struct nsc_categories c;

    if (trace == NULL && nsc_trace_open("tests/golden/small.nst", 0, &trace, NULL) != 0)
        abort();
    if (nsc_category_rules_read((const char *)data, size, &rules, &diag) != 0) {
        if (diag.message[0] == '\0' || strchr(diag.message, '\n') != NULL)
            abort();
        return 0;
    }
    if (nsc_categories_make(rules, trace, &c) != 0 || c.count == 0 ||
        strcmp(c.names[NSC_CATEGORY_OTHER], "other") != 0)
        abort();
    for (uint32_t i = 0; i < nsc_trace_info(trace)->function_count; i++)
        if (c.of_function[i] >= c.count)
            abort();
    nsc_categories_free(&c);
    nsc_category_rules_free(rules);
    return 0;
}
