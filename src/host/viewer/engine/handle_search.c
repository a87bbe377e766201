/*
 * handle_search.c - /api/search: functions by name.
 *
 * The number of calls of each function is summed up once, from chunk heads and index nodes, and
 * kept with the source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/levels.h"
#include "util/sort.h"
#include "viewer/engine/handlers.h"

#define ROWS           100u
#define ROWS_MAX       10000u
#define TEXT_MAX       1000u
/* Chunks whose heads have no sums are read, up to this many events in total. */
#define EVENTS_TO_READ ((uint64_t)4 << 20)

/* ---- Number of calls of each function -------------------------------------------------------- */

/* Add the calls that ended in a chunk, from its events; @late_only: only those without an entry. */
static int count_events(struct nsc_engine_context *ask, const struct nsc_chunk *chunk,
                        bool late_only, uint64_t *calls)
{
    const struct nsc_event *events;
    struct nsc_cursor *cursor;
    size_t n;
    int result = nsc_cursor_open_chunk(ask->trace, chunk, &cursor, &ask->diag);

    if (result != 0)
        return result;
    while ((result = nsc_cursor_next(cursor, &events, &n, &ask->diag)) > 0) {
        if (nsc_cursor_chunk(cursor) != chunk)
            continue;
        for (size_t i = 0; i < n; i++)
            if (events[i].kind == NSC_EVENT_LATE_EXIT ||
                (!late_only &&
                 (events[i].kind == NSC_EVENT_EXIT || events[i].kind == NSC_EVENT_UNWIND)))
                calls[events[i].function]++;
        if (nsc_cursor_at_chunk_end(cursor))
            break;
    }
    nsc_cursor_close(cursor);
    return result < 0 ? result : 0;
}

/* Add the calls that ended in a piece of a thread. @to_read: number of events that may still be
 * read. Returns 0, -EOPNOTSUPP if that is not enough, or another -errno. */
static int count_piece(struct nsc_engine_context *ask, const struct nsc_chunk *chunks,
                       uint32_t count, const struct nsc_levels_piece *piece, uint64_t *to_read,
                       uint64_t *calls)
{
    uint32_t end = piece->first_chunk + piece->chunk_count;
    uint64_t open = end < count ? chunks[end].depth : 0, known = 0, events = 0;
    struct nsc_chunk_head head = {
        .has_totals = piece->known, .totals = piece->totals, .total_count = piece->total_count};
    int error = 0;

    /* A head may have totals without durations; a piece then counts as unknown. */
    if (!piece->known && piece->chunk_count == 1)
        error = nsc_trace_chunk_head(ask->trace, &chunks[piece->first_chunk], &head, &ask->diag);
    if (error != 0)
        return error;
    for (uint32_t i = 0; head.has_totals && i < head.total_count; i++) {
        calls[nsc_trace_canonical(ask->trace, head.totals[i].function)] += head.totals[i].calls;
        known += head.totals[i].calls;
    }
    for (uint32_t i = piece->first_chunk; i < end; i++) {
        open += i == piece->first_chunk ? (uint64_t)0 - chunks[i].depth : 0;
        known -= chunks[i].calls;
        events += chunks[i].events;
    }
    /* Without late exits: calls ended + open at the end - open at the start = entries. If it is
     * more, the rest are LATE_EXITs. */
    if (head.has_totals && known + open == 0)
        return 0;
    if (events > *to_read)
        return -EOPNOTSUPP;
    *to_read -= events;
    for (uint32_t i = piece->first_chunk; i < end && error == 0; i++)
        error = count_events(ask, &chunks[i], head.has_totals, calls);
    return error;
}

static int count_thread(struct nsc_engine_context *ask, uint32_t thread, uint64_t *to_read,
                        uint64_t *calls)
{
    struct nsc_levels_piece piece;
    struct nsc_levels *walk;
    uint32_t count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(ask->trace, thread, &count);
    int more = nsc_levels_open(ask->trace, thread, 0, count, NSC_LEVELS_SUMS, 0, &walk, &ask->diag);

    if (more != 0)
        return more;
    while ((more = nsc_levels_next(walk, &piece, &ask->diag)) > 0) {
        more = count_piece(ask, chunks, count, &piece, to_read, calls);
        if (more < 0)
            break;
    }
    nsc_levels_close(walk);
    return more;
}

/* Count the calls. Afterwards the source has the counts, or knows that they are unavailable. */
static int count_calls(struct nsc_engine_context *ask)
{
    const struct nsc_trace_info *info = nsc_trace_info(ask->trace);
    uint64_t to_read = EVENTS_TO_READ;
    uint64_t *calls = calloc(info->function_count + 1u, sizeof(*calls));
    int error = calls != NULL ? 0 : nsc_context_no_memory(ask);

    /* In a recovered file the remaining chunks do not close all calls. */
    if (error == 0 && info->recovered)
        error = -EOPNOTSUPP;
    for (uint32_t i = 0; i < info->thread_count && error == 0; i++)
        error = count_thread(ask, i, &to_read, calls);
    if (error != 0) {
        free(calls);
        calls = NULL;
    }
    if (error == 0 || error == -EOPNOTSUPP) {
        ask->source->calls = calls;
        ask->source->counted = true;
        error = 0;
    }
    return error;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* The condition on a function's name. */
struct wanted {
    const char *text;
    /* NULL: the name contains the text, ignoring case */
    struct nsc_pattern *pattern;
};

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static bool contains(const char *name, const char *text)
{
    for (; *name != '\0'; name++) {
        size_t i = 0;

        while (text[i] != '\0' && lower(name[i]) == lower(text[i]))
            i++;
        if (text[i] == '\0')
            return true;
    }
    return *text == '\0';
}

static bool fits(const struct wanted *w, const char *name)
{
    return w->pattern != NULL ? nsc_pattern_test(w->pattern, name) : contains(name, w->text);
}

/* Compile a pattern; other text is searched as it is. */
static struct wanted ask_wanted(struct nsc_engine_context *ask)
{
    struct wanted w = {.text = nsc_context_text(ask, "q")};
    size_t length = w.text != NULL ? strlen(w.text) : 0;
    bool is_regex = length > 1 && w.text[0] == '/' && w.text[length - 1] == '/';
    struct nsc_diag diag;

    if (w.text == NULL)
        nsc_context_refuse(ask, "`q` is missing");
    else if (length > TEXT_MAX)
        nsc_context_refuse(ask, "`q` must not be longer than %u bytes", TEXT_MAX);
    else if ((is_regex || strpbrk(w.text, "*?") != NULL) &&
             nsc_pattern_compile(w.text, &w.pattern, &diag) != 0)
        nsc_context_refuse(ask, "`q`: %.200s", diag.message);
    return w;
}

struct order {
    const struct nsc_trace *trace;
    const uint64_t *calls; /* may be NULL */
};

/* Most calls first, then by name. */
static int compare_functions(const void *a, const void *b, void *context)
{
    const struct order *o = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int names;

    if (o->calls != NULL && o->calls[x] != o->calls[y])
        return o->calls[x] > o->calls[y] ? -1 : 1;
    names = strcmp(nsc_trace_function(o->trace, x)->name, nsc_trace_function(o->trace, y)->name);
    return names != 0 ? names : (x > y) - (x < y);
}

static int put_found(struct nsc_engine_context *ask, const uint32_t *found, uint32_t count,
                     uint32_t limit)
{
    const uint64_t *calls = ask->source->calls;
    uint32_t shown = count < limit ? count : limit;
    struct nsc_json *j = nsc_context_json(ask);

    if (j == NULL)
        return -ENOMEM;
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "rows");
    for (uint32_t i = 0; i < shown; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "function", found[i]);
        if (calls != NULL)
            nsc_json_u64(j, "calls", calls[found[i]]);
        else
            nsc_json_null(j, "calls");
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_u64(j, "more", count - shown);
    nsc_json_close_object(j);
    return 0;
}

static int search(struct nsc_engine_context *ask, const struct wanted *w, uint32_t limit)
{
    uint32_t functions = nsc_trace_info(ask->trace)->function_count, count = 0;
    uint32_t *found = calloc(functions + 1u, sizeof(*found));
    struct order order = {ask->trace, NULL};
    int error = 0;

    if (found == NULL)
        return nsc_context_no_memory(ask);
    for (uint32_t i = 0; i < functions; i++)
        if (nsc_trace_canonical(ask->trace, i) == i &&
            fits(w, nsc_trace_function(ask->trace, i)->name))
            found[count++] = i;
    if (!ask->source->counted)
        error = count_calls(ask);
    if (error == 0) {
        order.calls = ask->source->calls;
        nsc_sort(found, count, sizeof(*found), compare_functions, &order);
        error = put_found(ask, found, count, limit);
    }
    free(found);
    return error;
}

int nsc_engine_search(struct nsc_engine_context *ask)
{
    struct wanted w = ask_wanted(ask);
    uint32_t limit = (uint32_t)nsc_context_number(ask, "limit", ROWS, ROWS_MAX);
    int error = nsc_context_check(ask);

    if (error == 0)
        error = search(ask, &w, limit);
    nsc_pattern_free(w.pattern);
    return error;
}
