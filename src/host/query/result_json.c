/* result_json.c - a statement's result as JSON: output of `query --json` and of /api/query. */
#include <string.h>

#include "query/query.h"

/* Write a value. Returns its approximate size in bytes. */
static uint64_t put_value(struct nsc_json *j, const struct nsc_query_value *value)
{
    switch (value->kind) {
    case NSC_QUERY_NULL:
        nsc_json_null(j, NULL);
        break;
    case NSC_QUERY_INTEGER:
        nsc_json_i64(j, NULL, value->integer);
        break;
    case NSC_QUERY_REAL:
        nsc_json_double(j, NULL, value->real);
        break;
    case NSC_QUERY_TEXT:
        nsc_json_text(j, NULL, value->text);
        return strlen(value->text);
    }
    return 8;
}

int nsc_query_put_json(struct nsc_query *q, struct nsc_json *j, uint64_t limit, uint64_t bytes_max,
                       struct nsc_diag *diag)
{
    size_t columns = nsc_query_column_count(q);
    uint64_t rows = 0, bytes = 0;
    int more;

    nsc_json_open_array(j, "columns");
    for (size_t i = 0; i < columns; i++)
        nsc_json_text(j, NULL, nsc_query_column_name(q, i));
    nsc_json_close_array(j);
    nsc_json_open_array(j, "rows");
    while ((more = nsc_query_next(q, diag)) > 0 && rows++ < limit && bytes < bytes_max) {
        nsc_json_open_array(j, NULL);
        for (size_t i = 0; i < columns; i++) {
            struct nsc_query_value value;

            nsc_query_value(q, i, &value);
            bytes += put_value(j, &value);
        }
        nsc_json_close_array(j);
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, "more", more > 0);
    return more < 0 ? more : 0;
}
