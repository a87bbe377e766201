/*
 * engine.c - passes each request to its handler; see engine.h.
 *
 * Called by viewer/server/ and the page's module. Must not depend on what the requests mean.
 */
#include "viewer/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/engine/cache.h"
#include "viewer/engine/handlers.h"

#define CACHE_BYTES ((size_t)16 << 20)

struct nsc_engine {
    struct nsc_engine_source sources[NSC_ENGINE_TRACES_MAX];
    uint32_t source_count;
    struct nsc_cache *cache, *tiles;            /* each gets half of cache_bytes */
    const struct nsc_engine_handler **handlers; /* in order of lookup */
    size_t handler_count;
    struct nsc_engine_options options;
};

/* Requests that every engine answers; see docs/viewer-protocol.md. */
static const struct nsc_engine_handler own_handlers[] = {
    {"/api/trace", NULL, nsc_engine_trace},       {"/api/functions", NULL, nsc_engine_functions},
    {"/api/tiles", NULL, nsc_engine_tiles},       {"/api/overview", NULL, nsc_engine_overview},
    {"/api/call", NULL, nsc_engine_call},         {"/api/step", NULL, nsc_engine_step},
    {"/api/report", NULL, nsc_engine_report},     {"/api/tree", NULL, nsc_engine_tree},
    {"/api/sandwich", NULL, nsc_engine_sandwich}, {"/api/histogram", NULL, nsc_engine_histogram},
    {"/api/shares", NULL, nsc_engine_shares},     {"/api/states", NULL, nsc_engine_states},
    {"/api/samples", NULL, nsc_engine_samples},   {"/api/counters", NULL, nsc_engine_counters},
    {"/api/marks", NULL, nsc_engine_marks},       {"/api/left-out", NULL, nsc_engine_left_out},
    {"/api/search", NULL, nsc_engine_search},
};

/* Requests that are available if two traces are open. */
static const struct nsc_engine_handler pair_handlers[] = {{"/api/diff", "diff", nsc_engine_diff}};

int nsc_engine_add(struct nsc_engine *a, const struct nsc_engine_handler *handlers, size_t count)
{
    const struct nsc_engine_handler **grown =
        reallocarray(a->handlers, a->handler_count + count + 1, sizeof(*grown));

    if (grown == NULL)
        return -ENOMEM;
    a->handlers = grown;
    for (size_t i = 0; i < count; i++)
        grown[a->handler_count++] = &handlers[i];
    return 0;
}

int nsc_engine_open(struct nsc_trace *const *traces, size_t count,
                    const struct nsc_engine_options *options, struct nsc_engine **out)
{
    static const struct nsc_engine_options defaults = {.size = sizeof(defaults)};
    struct nsc_engine *a;
    size_t bytes;

    options = options != NULL ? options : &defaults;
    if (count == 0 || count > NSC_ENGINE_TRACES_MAX || options->size < sizeof(*options))
        return -EINVAL;
    a = calloc(1, sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        a->sources[i] = (struct nsc_engine_source){
            .trace = traces[i], .number = i, .growing = i == 0 && options->growing};
        nsc_trace_watch(traces[i], options->is_gone, options->context);
    }
    a->source_count = (uint32_t)count;
    a->options = *options;
    bytes = options->cache_bytes != 0 ? options->cache_bytes : CACHE_BYTES;
    if (nsc_cache_new(bytes / 2, &a->cache) == 0 && nsc_cache_new(bytes / 2, &a->tiles) == 0 &&
        nsc_engine_add(a, own_handlers, sizeof own_handlers / sizeof own_handlers[0]) == 0 &&
        (count < 2 ||
         nsc_engine_add(a, pair_handlers, sizeof pair_handlers / sizeof pair_handlers[0]) == 0)) {
        *out = a;
        return 0;
    }
    nsc_engine_close(a);
    return -ENOMEM;
}

void nsc_engine_close(struct nsc_engine *a)
{
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->source_count; i++) {
        nsc_trace_watch(a->sources[i].trace, NULL, NULL);
        nsc_engine_forget_facts(&a->sources[i]);
        nsc_categories_free(&a->sources[i].categories);
        free(a->sources[i].calls);
    }
    nsc_cache_free(a->cache);
    nsc_cache_free(a->tiles);
    free(a->handlers);
    free(a);
}

/* ---- One request ----------------------------------------------------------------------------- */

static const struct nsc_engine_handler *find_handler(const struct nsc_engine_context *ask,
                                                     const char *path)
{
    for (size_t i = 0; i < ask->handler_count; i++)
        if (strcmp(ask->handlers[i]->path, path) == 0)
            return ask->handlers[i];
    return NULL;
}

static int choose_trace(struct nsc_engine_context *ask)
{
    uint64_t number = nsc_context_number(ask, "trace", 0, NSC_ENGINE_TRACES_MAX);

    if (number >= ask->source_count)
        return nsc_context_refuse(ask, "there is no trace %u", (unsigned)number);
    ask->source = &ask->sources[number];
    ask->trace = ask->source->trace;
    return 0;
}

/* Finish the JSON answer. Returns 0 or -ENOMEM. */
static int end_json(struct nsc_engine_context *ask)
{
    bool failed;

    if (ask->json.out == NULL)
        return 0;
    failed = ferror(ask->json.out) != 0;
    failed = fclose(ask->json.out) != 0 || failed;
    ask->json.out = NULL;
    ask->reply->room = ask->reply->count;
    return failed ? nsc_context_no_memory(ask) : 0;
}

static int status_of(int error)
{
    return error == 0 ? 200 : error == -EINVAL ? 400 : error == -ENOENT ? 404 : 500;
}

static void tell_error(struct nsc_engine_context *ask)
{
    struct nsc_json *j = nsc_context_json(ask);

    if (j == NULL)
        return;
    nsc_json_open_object(j, NULL);
    nsc_json_text(j, "error", ask->diag.message);
    nsc_json_close_object(j);
    if (end_json(ask) != 0)
        ask->reply->count = 0;
}

static int answer(struct nsc_engine_context *ask, const char *request, size_t bytes)
{
    int error, ended;

    if (bytes > NSC_ENGINE_REQUEST_MAX)
        return nsc_context_refuse(ask, "the request is longer than %u bytes",
                                  NSC_ENGINE_REQUEST_MAX);
    error = nsc_request_parse(request, bytes, &ask->request, &ask->diag);
    if (error != 0)
        return error;
    ask->handler = find_handler(ask, ask->request.path);
    if (ask->handler == NULL)
        return nsc_context_absent(ask, "there is no such request: %.100s", ask->request.path);
    error = choose_trace(ask);
    if (error == 0)
        error = ask->handler->answer(ask);
    ended = end_json(ask);
    return error != 0 ? error : ended;
}

void nsc_engine_answer(struct nsc_engine *a, const char *request, size_t bytes,
                       struct nsc_engine_reply *reply)
{
    struct nsc_engine_context ask = {
        .options = &a->options,
        .handlers = a->handlers,
        .handler_count = a->handler_count,
        .sources = a->sources,
        .source_count = a->source_count,
        .cache = a->cache,
        .tiles = a->tiles,
        .reply = reply,
    };
    int error;

    reply->count = 0;
    reply->type = "application/json";
    nsc_cache_begin(a->cache);
    nsc_cache_begin(a->tiles);
    error = answer(&ask, request, bytes);
    nsc_request_free(&ask.request);
    reply->status = status_of(error);
    if (error != 0)
        tell_error(&ask);
}
