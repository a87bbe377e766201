/* context.c - parameters and answers; see context.h. Must not know the requests. */
#include "viewer/engine/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parameters ------------------------------------------------------------------------------ */

static void __attribute__((format(printf, 2, 0)))
describe(struct nsc_engine_context *ask, const char *format, va_list arguments)
{
    ask->diag.offset = NSC_DIAG_NO_OFFSET;
    vsnprintf(ask->diag.message, sizeof(ask->diag.message), format, arguments);
}

int nsc_context_refuse(struct nsc_engine_context *ask, const char *format, ...)
{
    va_list arguments;

    if (!ask->refused) { /* report the first reason */
        va_start(arguments, format);
        describe(ask, format, arguments);
        va_end(arguments);
    }
    ask->refused = true;
    return -EINVAL;
}

int nsc_context_absent(struct nsc_engine_context *ask, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    describe(ask, format, arguments);
    va_end(arguments);
    return -ENOENT;
}

const char *nsc_context_text(struct nsc_engine_context *ask, const char *name)
{
    const char *value = nsc_request_take(&ask->request, name);

    if (value != NULL && nsc_request_take(&ask->request, name) != NULL)
        nsc_context_refuse(ask, "`%s` is given twice", name);
    return value;
}

/* Parse digits up to @end. */
static bool parse_number(const char *text, const char *end, uint64_t *value)
{
    uint64_t v = 0;

    if (text == end)
        return false;
    for (; text < end; text++)
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
            return false;
    *value = v;
    return true;
}

/* Returns 1, 0 if absent, -1 if invalid. */
static int take_number(struct nsc_engine_context *ask, const char *name, uint64_t max,
                       uint64_t *value)
{
    const char *text = nsc_context_text(ask, name);

    if (text == NULL)
        return 0;
    if (!parse_number(text, text + strlen(text), value))
        nsc_context_refuse(ask, "`%s` must be a whole number", name);
    else if (*value > max)
        nsc_context_refuse(ask, "`%s` must not exceed %llu", name, (unsigned long long)max);
    else
        return 1;
    return -1;
}

uint64_t nsc_context_number(struct nsc_engine_context *ask, const char *name, uint64_t otherwise,
                            uint64_t max)
{
    uint64_t value;

    return take_number(ask, name, max, &value) > 0 ? value : otherwise;
}

uint64_t nsc_context_needed(struct nsc_engine_context *ask, const char *name, uint64_t max)
{
    uint64_t value;
    int found = take_number(ask, name, max, &value);

    if (found == 0)
        nsc_context_refuse(ask, "`%s` is missing", name);
    return found > 0 ? value : 0;
}

uint32_t nsc_context_word(struct nsc_engine_context *ask, const char *name,
                          const char *const *words, uint32_t count, uint32_t otherwise)
{
    const char *text = nsc_context_text(ask, name);

    if (text == NULL)
        return otherwise;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    nsc_context_refuse(ask, "`%s` is not one of the words it may be", name);
    return otherwise;
}

static uint32_t ask_id(struct nsc_engine_context *ask, const char *name, const char *what,
                       uint32_t count)
{
    uint64_t id = nsc_context_needed(ask, name, UINT32_MAX - 1);

    if (!ask->refused && id >= count)
        nsc_context_refuse(ask, "there is no %s %llu", what, (unsigned long long)id);
    return (uint32_t)id;
}

uint32_t nsc_context_thread(struct nsc_engine_context *ask, const char *name)
{
    return ask_id(ask, name, "thread", nsc_trace_info(ask->trace)->thread_count);
}

uint32_t nsc_context_function(struct nsc_engine_context *ask, const char *name)
{
    uint32_t id = ask_id(ask, name, "function", nsc_trace_info(ask->trace)->function_count);

    return ask->refused ? id : nsc_trace_canonical(ask->trace, id);
}

uint32_t *nsc_context_ids(struct nsc_engine_context *ask, const char *name, uint32_t below,
                          uint32_t max, uint32_t *count)
{
    const char *text = nsc_context_text(ask, name), *end;
    uint32_t *ids, given = 1, n = 0;

    *count = 0;
    if (text == NULL)
        return NULL;
    for (const char *at = text; *at != '\0' && given <= max; at++)
        given += *at == ',';
    if (given > max) {
        nsc_context_refuse(ask, "`%s` must not have more than %u numbers", name, max);
        return NULL;
    }
    ids = calloc(given, sizeof(*ids));
    if (ids == NULL) {
        nsc_context_refuse(ask, "no memory for `%s`", name);
        return NULL;
    }
    for (;; text = end + 1) {
        uint64_t id;

        end = strchr(text, ',');
        if (end == NULL)
            end = text + strlen(text);
        if (!parse_number(text, end, &id) || id >= below) {
            nsc_context_refuse(ask, "`%s` must be numbers below %u, with commas between them", name,
                               below);
            free(ids);
            return NULL;
        }
        ids[n++] = (uint32_t)id;
        if (*end == '\0')
            break;
    }
    *count = n;
    return ids;
}

void nsc_context_window(struct nsc_engine_context *ask, uint64_t *from_ns, uint64_t *to_ns)
{
    *from_ns = nsc_context_number(ask, "from", 0, UINT64_MAX);
    *to_ns = nsc_context_number(ask, "to", UINT64_MAX, UINT64_MAX);
    if (*to_ns < *from_ns)
        nsc_context_refuse(ask, "`to` is before `from`");
}

static int select_threads(struct nsc_engine_context *ask, const struct nsc_trace *t,
                          const char *name, struct nsc_selection *s)
{
    uint32_t threads = nsc_trace_info(t)->thread_count, count;
    uint32_t *ids = nsc_context_ids(ask, name, threads, UINT32_MAX, &count);

    if (ids == NULL)
        return 0;
    s->threads = calloc(threads + 1u, 1);
    for (uint32_t i = 0; s->threads != NULL && i < count; i++)
        s->threads[ids[i]] = 1;
    free(ids);
    return s->threads != NULL ? 0 : nsc_context_no_memory(ask);
}

/* Compile all values of one name as patterns. Returns their number; invalid ones are recorded. */
static size_t take_patterns(struct nsc_engine_context *ask, const char *name,
                            struct nsc_pattern **out)
{
    const char *text;
    size_t count = 0;

    while ((text = nsc_request_take(&ask->request, name)) != NULL) {
        struct nsc_diag diag;

        if (nsc_pattern_compile(text, &out[count], &diag) == 0)
            count++;
        else
            nsc_context_refuse(ask, "`%s`: %.200s", name, diag.message);
    }
    return count;
}

/* Apply the `only` and `except` patterns to the selections of @count traces. */
static int select_functions(struct nsc_engine_context *ask, struct nsc_trace *const *traces,
                            struct nsc_selection *s, uint32_t count)
{
    struct nsc_pattern **patterns =
        calloc(ask->request.count * 2 + 1, sizeof(struct nsc_pattern *));
    struct nsc_pattern **others;
    size_t only, except;
    int error = 0;

    if (patterns == NULL)
        return nsc_context_no_memory(ask);
    others = patterns + ask->request.count;
    only = take_patterns(ask, "only", patterns);
    except = take_patterns(ask, "except", others);
    for (uint32_t i = 0; i < count && error == 0; i++)
        error = nsc_selection_filter(&s[i], traces[i], patterns, only, others, except);
    while (only > 0)
        nsc_pattern_free(patterns[--only]);
    while (except > 0)
        nsc_pattern_free(others[--except]);
    free(patterns);
    return error == 0 ? 0 : nsc_context_no_memory(ask);
}

int nsc_context_selection(struct nsc_engine_context *ask, struct nsc_selection *s)
{
    uint64_t from_ns, to_ns;
    int error;

    nsc_selection_init(s);
    nsc_context_window(ask, &from_ns, &to_ns);
    nsc_selection_window(s, ask->trace, from_ns, to_ns);
    error = select_threads(ask, ask->trace, "threads", s);
    return error != 0 ? error : select_functions(ask, &ask->trace, s, 1);
}

int nsc_context_selections(struct nsc_engine_context *ask, struct nsc_selection *s)
{
    struct nsc_trace *const traces[] = {ask->sources[0].trace, ask->sources[1].trace};
    uint64_t from_ns, to_ns;
    int error;

    nsc_selection_init(&s[0]);
    nsc_selection_init(&s[1]);
    nsc_context_window(ask, &from_ns, &to_ns);
    nsc_selection_window(&s[0], traces[0], from_ns, to_ns);
    from_ns = nsc_context_number(ask, "from_b", from_ns, UINT64_MAX);
    to_ns = nsc_context_number(ask, "to_b", to_ns, UINT64_MAX);
    if (to_ns < from_ns)
        nsc_context_refuse(ask, "the second trace's window ends before it begins");
    nsc_selection_window(&s[1], traces[1], from_ns, to_ns);
    error = select_threads(ask, traces[0], "threads", &s[0]);
    if (error == 0)
        error = select_threads(ask, traces[1], "threads_b", &s[1]);
    return error != 0 ? error : select_functions(ask, traces, s, 2);
}

int nsc_context_check(struct nsc_engine_context *ask)
{
    const char *left = nsc_request_left(&ask->request);

    if (!ask->refused && left != NULL)
        nsc_context_refuse(ask, "`%.40s` is not a parameter of this request, or given twice", left);
    return ask->refused ? -EINVAL : 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

struct nsc_json *nsc_context_json(struct nsc_engine_context *ask)
{
    struct nsc_engine_reply *reply = ask->reply;
    FILE *out;

    /* Write to a memory stream; its buffer becomes the reply's buffer. */
    free(reply->bytes);
    reply->bytes = NULL;
    reply->count = reply->room = 0;
    out = open_memstream((char **)&reply->bytes, &reply->count);
    if (out == NULL) {
        nsc_context_no_memory(ask);
        return NULL;
    }
    reply->type = "application/json";
    ask->json = (struct nsc_json){.out = out, .compact = true};
    return &ask->json;
}

uint8_t *nsc_context_bytes(struct nsc_engine_context *ask, size_t more)
{
    struct nsc_engine_reply *reply = ask->reply;
    size_t room = reply->room < 4096 ? 4096 : reply->room;
    uint8_t *at;

    reply->type = "application/octet-stream";
    while (room - reply->count < more && room <= SIZE_MAX / 2)
        room *= 2;
    if (room - reply->count < more) {
        nsc_context_no_memory(ask);
        return NULL;
    }
    if (room > reply->room) {
        uint8_t *bytes = realloc(reply->bytes, room);

        if (bytes == NULL) {
            nsc_context_no_memory(ask);
            return NULL;
        }
        reply->bytes = bytes;
        reply->room = room;
    }
    at = reply->bytes + reply->count;
    reply->count += more;
    return at;
}

void nsc_engine_reply_free(struct nsc_engine_reply *reply)
{
    free(reply->bytes);
    *reply = (struct nsc_engine_reply){0};
}

/* ---- Helpers --------------------------------------------------------------------------------- */

bool nsc_context_is_gone(const struct nsc_engine_context *ask)
{
    return ask->options->is_gone != NULL && ask->options->is_gone(ask->options->context);
}

void nsc_context_put_id(struct nsc_json *j, const char *key, uint32_t id)
{
    nsc_json_u64_or_null(j, key, id != NSC_NO_ID, id);
}

void nsc_context_put_time(struct nsc_engine_context *ask, const char *key, uint64_t ticks)
{
    nsc_json_u64(&ask->json, key, nsc_clock_ns(nsc_trace_clock(ask->trace), ticks));
}
