/*
 * fuzz_query.c - SQL of any text over a trace: rows or a message, and never more memory or time
 * than it was given; a row may be read in every kind.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROWS_MAX 2000

/* The first byte chooses the trace. */
static struct nsc_query *open_query(uint8_t which)
{
    static const char *const paths[] = {"tests/golden/small.nst", "tests/golden/notes.nst",
                                        "tests/golden/nodes.nst"};
    static struct nsc_query *queries[3];
    static struct nsc_trace *traces[3];
    static struct nsc_categories categories[3];
    struct nsc_query_options options = {.size = sizeof options,
                                        .categories = &categories[which % 3],
                                        .memory_bytes = 64u << 20,
                                        .time_ns = 2000000000};
    struct nsc_category_rules *rules;

    which %= 3;
    if (queries[which] != NULL)
        return queries[which];
    if (nsc_trace_open(paths[which], 0, &traces[which], NULL) != 0 ||
        nsc_category_rules_read(NULL, 0, &rules, NULL) != 0)
        abort();
    if (nsc_categories_make(rules, traces[which], &categories[which]) != 0 ||
        nsc_query_open(traces[which], &options, &queries[which], NULL) != 0)
        abort();
    nsc_category_rules_free(rules);
    return queries[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nsc_query *q;
    int more;

    if (size == 0)
        return 0;
    q = open_query(data[0]);
    more = nsc_query_begin(q, (const char *)data + 1, size - 1, &diag) == 0 ? 1 : -1;
    for (uint32_t rows = 0; more > 0 && rows < ROWS_MAX; rows++) {
        more = nsc_query_next(q, &diag);
        for (size_t i = 0; more > 0 && i < nsc_query_column_count(q); i++) {
            struct nsc_query_value value;

            nsc_query_value(q, i, &value);
            if (value.kind == NSC_QUERY_TEXT && strlen(value.text) > 16u << 20)
                abort();
        }
    }
    if (more < 0 && diag.message[0] == '\0')
        abort();
    return 0;
}
