/*
 * engine.c - from a request to the handler that answers it, and what both need; see engine.h.
 *
 * Called by serve/ and the page's module. Must not know what the requests mean.
 */
#include "viewer/engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/engine/cache.h"
#include "viewer/engine/context.h"
#include "viewer/engine/handlers.h"

#define CACHE_BYTES ((size_t)16 << 20)

struct nsc_answer {
    struct nsc_answer_source sources[NSC_ANSWER_TRACES_MAX];
    uint32_t source_count;
    struct nsc_cache *cache, *tiles;            /* half of the bytes each */
    const struct nsc_answer_handler **handlers; /* in the order in which they are looked for */
    size_t handler_count;
    struct nsc_answer_options options;
};

/* What is always there; see docs/viewer-protocol.md. */
static const struct nsc_answer_handler own_handlers[] = {
    {"/api/trace", NULL, nsc_answer_trace},       {"/api/functions", NULL, nsc_answer_functions},
    {"/api/tiles", NULL, nsc_answer_tiles},       {"/api/overview", NULL, nsc_answer_overview},
    {"/api/call", NULL, nsc_answer_call},         {"/api/step", NULL, nsc_answer_step},
    {"/api/report", NULL, nsc_answer_report},     {"/api/tree", NULL, nsc_answer_tree},
    {"/api/sandwich", NULL, nsc_answer_sandwich}, {"/api/histogram", NULL, nsc_answer_histogram},
    {"/api/shares", NULL, nsc_answer_shares},     {"/api/states", NULL, nsc_answer_states},
    {"/api/samples", NULL, nsc_answer_samples},   {"/api/counters", NULL, nsc_answer_counters},
    {"/api/marks", NULL, nsc_answer_marks},       {"/api/left-out", NULL, nsc_answer_left_out},
    {"/api/search", NULL, nsc_answer_search},
};

/* What is there if two traces are open. */
static const struct nsc_answer_handler pair_handlers[] = {{"/api/diff", "diff", nsc_answer_diff}};

int nsc_answer_add(struct nsc_answer *a, const struct nsc_answer_handler *handlers, size_t count)
{
    const struct nsc_answer_handler **grown =
        reallocarray(a->handlers, a->handler_count + count + 1, sizeof(*grown));

    if (grown == NULL)
        return -ENOMEM;
    a->handlers = grown;
    for (size_t i = 0; i < count; i++)
        grown[a->handler_count++] = &handlers[i];
    return 0;
}

int nsc_answer_open(struct nsc_trace *const *traces, size_t count,
                    const struct nsc_answer_options *options, struct nsc_answer **out)
{
    static const struct nsc_answer_options defaults = {.size = sizeof(defaults)};
    struct nsc_answer *a;
    size_t bytes;

    options = options != NULL ? options : &defaults;
    if (count == 0 || count > NSC_ANSWER_TRACES_MAX || options->size < sizeof(*options))
        return -EINVAL;
    a = calloc(1, sizeof(*a));
    if (a == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        a->sources[i] = (struct nsc_answer_source){
            .trace = traces[i], .number = i, .growing = i == 0 && options->growing};
        nsc_trace_watch(traces[i], options->is_gone, options->context);
    }
    a->source_count = (uint32_t)count;
    a->options = *options;
    bytes = options->cache_bytes != 0 ? options->cache_bytes : CACHE_BYTES;
    if (nsc_cache_new(bytes / 2, &a->cache) == 0 && nsc_cache_new(bytes / 2, &a->tiles) == 0 &&
        nsc_answer_add(a, own_handlers, sizeof own_handlers / sizeof own_handlers[0]) == 0 &&
        (count < 2 ||
         nsc_answer_add(a, pair_handlers, sizeof pair_handlers / sizeof pair_handlers[0]) == 0)) {
        *out = a;
        return 0;
    }
    nsc_answer_close(a);
    return -ENOMEM;
}

void nsc_answer_close(struct nsc_answer *a)
{
    if (a == NULL)
        return;
    for (uint32_t i = 0; i < a->source_count; i++) {
        nsc_trace_watch(a->sources[i].trace, NULL, NULL);
        nsc_answer_forget_facts(&a->sources[i]);
        nsc_categories_free(&a->sources[i].categories);
        free(a->sources[i].calls);
    }
    nsc_cache_free(a->cache);
    nsc_cache_free(a->tiles);
    free(a->handlers);
    free(a);
}

void nsc_answer_reply_free(struct nsc_answer_reply *reply)
{
    free(reply->bytes);
    *reply = (struct nsc_answer_reply){0};
}

const struct nsc_category_rules *nsc_answer_rules(const struct nsc_answer *a)
{
    return a->options.rules;
}

bool nsc_ask_is_gone(const struct nsc_answer_ask *ask)
{
    const struct nsc_answer_options *options = &ask->engine->options;

    return options->is_gone != NULL && options->is_gone(options->context);
}

void nsc_answer_put_abilities(struct nsc_answer_ask *ask)
{
    const struct nsc_answer *a = ask->engine;

    nsc_json_open_array(&ask->json, "can");
    for (size_t i = 0; i < a->handler_count; i++)
        if (a->handlers[i]->can != NULL)
            nsc_json_text(&ask->json, NULL, a->handlers[i]->can);
    nsc_json_close_array(&ask->json);
}

/* ---- One request ----------------------------------------------------------------------------- */

static const struct nsc_answer_handler *find_handler(const struct nsc_answer *a, const char *path)
{
    for (size_t i = 0; i < a->handler_count; i++)
        if (strcmp(a->handlers[i]->path, path) == 0)
            return a->handlers[i];
    return NULL;
}

static int choose_trace(struct nsc_answer_ask *ask)
{
    uint64_t number = nsc_ask_number(ask, "trace", 0, NSC_ANSWER_TRACES_MAX);

    if (number >= ask->source_count)
        return nsc_ask_refuse(ask, "there is no trace %u", (unsigned)number);
    ask->source = &ask->sources[number];
    ask->trace = ask->source->trace;
    return 0;
}

/* End what was written as JSON. Returns 0 or -ENOMEM. */
static int end_json(struct nsc_answer_ask *ask)
{
    bool failed;

    if (ask->json.out == NULL)
        return 0;
    failed = ferror(ask->json.out) != 0;
    failed = fclose(ask->json.out) != 0 || failed;
    ask->json.out = NULL;
    ask->reply->room = ask->reply->count;
    return failed ? nsc_ask_no_memory(ask) : 0;
}

static int status_of(int error)
{
    return error == 0 ? 200 : error == -EINVAL ? 400 : error == -ENOENT ? 404 : 500;
}

static void tell_error(struct nsc_answer_ask *ask)
{
    struct nsc_json *j = nsc_ask_json(ask);

    if (j == NULL)
        return;
    nsc_json_open_object(j, NULL);
    nsc_json_text(j, "error", ask->diag.message);
    nsc_json_close_object(j);
    if (end_json(ask) != 0)
        ask->reply->count = 0;
}

static int answer(struct nsc_answer_ask *ask, const char *request, size_t bytes)
{
    int error, ended;

    if (bytes > NSC_ANSWER_REQUEST_MAX)
        return nsc_ask_refuse(ask, "the request is longer than %u bytes", NSC_ANSWER_REQUEST_MAX);
    error = nsc_request_parse(request, bytes, &ask->request, &ask->diag);
    if (error != 0)
        return error;
    ask->handler = find_handler(ask->engine, ask->request.path);
    if (ask->handler == NULL)
        return nsc_ask_absent(ask, "there is no such request: %.100s", ask->request.path);
    error = choose_trace(ask);
    if (error == 0)
        error = ask->handler->answer(ask);
    ended = end_json(ask);
    return error != 0 ? error : ended;
}

void nsc_answer_ask(struct nsc_answer *a, const char *request, size_t bytes,
                    struct nsc_answer_reply *reply)
{
    struct nsc_answer_ask ask = {
        .engine = a,
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
