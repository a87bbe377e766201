/*
 * handle_query.c - see handle_query.h.
 *
 * Called by workers through the engine. Sets the limits of memory, time and output of a statement;
 * query/ decides what a statement may do.
 */
#include "viewer/server/handle_query.h"

#include <errno.h>
#include <string.h>

#include "query/query.h"
#include "viewer/engine/context.h"

static bool is_gone(void *context)
{
    return nsc_context_is_gone(context);
}

static int put_rows(struct nsc_engine_context *ask, struct nsc_query *q, uint64_t limit)
{
    struct nsc_json *json = nsc_context_json(ask);
    int error;

    if (json == NULL)
        return -ENOMEM;
    nsc_json_open_object(json, NULL);
    error = nsc_query_put_json(q, json, limit, NSC_SQL_BYTES_MAX, &ask->diag);
    nsc_json_close_object(json);
    return error;
}

static int answer_query(struct nsc_engine_context *ask)
{
    const char *sql = nsc_context_text(ask, "sql");
    uint64_t limit = nsc_context_number(ask, "limit", NSC_SQL_ROWS, NSC_SQL_ROWS_MAX);
    struct nsc_query_options options = {.size = sizeof options,
                                        .memory_bytes = NSC_SQL_MEMORY_MAX,
                                        .time_ns = NSC_SQL_SECONDS * UINT64_C(1000000000),
                                        .is_gone = is_gone,
                                        .context = ask};
    struct nsc_query *q = NULL;
    int error;

    if (sql == NULL && !ask->refused)
        nsc_context_refuse(ask, "`sql` is missing");
    if (sql == NULL || nsc_context_check(ask) != 0)
        return -EINVAL;
    options.categories = nsc_context_categories(ask);
    if (options.categories == NULL)
        return -ENOMEM;
    error = nsc_query_open(ask->trace, &options, &q, &ask->diag);
    if (error == 0)
        error = nsc_query_begin(q, sql, strlen(sql), &ask->diag);
    if (error == 0)
        error = put_rows(ask, q, limit);
    nsc_query_close(q);
    return error;
}

const struct nsc_engine_handler *nsc_query_handler(void)
{
    static const struct nsc_engine_handler handler = {"/api/query", "sql", answer_query};

    return nsc_query_load(NULL) == 0 ? &handler : NULL;
}
