/*
 * handle_trace.c - properties of a trace that need none of its calls: /api/trace and
 * /api/functions.
 *
 * Facts that require reading (names of counters) are collected once and kept with the source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/left_out.h"
#include "viewer/engine/handlers.h"

#define FUNCTIONS_MAX     20000u
#define COUNTER_NAMES_MAX 1000u /* maximum that is listed */

struct counter_name {
    uint32_t owner;
    bool of_process;
    char *name;
};

struct nsc_trace_facts {
    struct counter_name *counters;
    uint32_t counter_count;
};

void nsc_engine_forget_facts(struct nsc_engine_source *source)
{
    struct nsc_trace_facts *facts = source->facts;

    if (facts == NULL)
        return;
    for (uint32_t i = 0; i < facts->counter_count; i++)
        free(facts->counters[i].name);
    free(facts->counters);
    free(facts);
    source->facts = NULL;
}

/* ---- Names of counters ----------------------------------------------------------------------- */

/* Whether this owner's counter is in the list; the names of an owner are the last entries. */
static bool is_known(const struct nsc_trace_facts *facts, const struct nsc_note *note)
{
    for (uint32_t i = facts->counter_count; i-- > 0;) {
        const struct counter_name *c = &facts->counters[i];

        if (c->owner != note->owner || c->of_process != note->of_process)
            return false;
        if (strcmp(c->name, note->counter.name) == 0)
            return true;
    }
    return false;
}

static int gather_owner(struct nsc_engine_context *ask, struct nsc_trace_facts *facts,
                        uint32_t owner, bool of_process)
{
    struct nsc_note_cursor *cursor;
    struct nsc_note note;
    int result = nsc_note_cursor_open(ask->trace, NSC_NOTE_COUNTER, owner, of_process, 0, &cursor,
                                      &ask->diag);

    if (result < 0)
        return result;
    while (facts->counter_count < COUNTER_NAMES_MAX &&
           (result = nsc_note_cursor_next(cursor, &note, &ask->diag)) > 0) {
        char *name;

        if (is_known(facts, &note))
            continue;
        name = strdup(note.counter.name);
        if (name == NULL) {
            result = nsc_context_no_memory(ask);
            break;
        }
        facts->counters[facts->counter_count++] =
            (struct counter_name){.owner = owner, .of_process = of_process, .name = name};
    }
    nsc_note_cursor_close(cursor);
    /* A damaged block hides only the rest of this owner's notes. */
    return result == -ENOMEM ? result : 0;
}

static int gather_facts(struct nsc_engine_context *ask)
{
    const struct nsc_trace_info *info = nsc_trace_info(ask->trace);
    struct nsc_trace_facts *facts = calloc(1, sizeof(*facts));
    int error = 0;

    if (facts == NULL)
        return nsc_context_no_memory(ask);
    ask->source->facts = facts;
    if (info->notes[NSC_NOTE_COUNTER] == 0)
        return 0;
    facts->counters = calloc(COUNTER_NAMES_MAX, sizeof(*facts->counters));
    if (facts->counters == NULL) {
        nsc_context_no_memory(ask);
        error = -ENOMEM;
    }
    for (uint32_t i = 0; i < info->process_count && error == 0; i++)
        error = gather_owner(ask, facts, i, true);
    for (uint32_t i = 0; i < info->thread_count && error == 0; i++)
        if (nsc_trace_note_count(ask->trace, NSC_NOTE_COUNTER, i, false) > 0)
            error = gather_owner(ask, facts, i, false);
    if (error != 0)
        nsc_engine_forget_facts(ask->source);
    return error;
}

static void put_counters(struct nsc_engine_context *ask)
{
    const struct nsc_trace_facts *facts = ask->source->facts;
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, "counters");
    for (uint32_t i = 0; i < facts->counter_count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, facts->counters[i].of_process ? "process" : "thread",
                     facts->counters[i].owner);
        nsc_json_text(j, "name", facts->counters[i].name);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

/* ---- /api/trace ------------------------------------------------------------------------------ */

/* A function with several addresses has several ids, but counts once. */
static uint32_t count_distinct(const struct nsc_trace *t)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < nsc_trace_info(t)->function_count; i++)
        count += nsc_trace_canonical(t, i) == i;
    return count;
}

static void put_head(struct nsc_engine_context *ask)
{
    const struct nsc_trace_info *info = nsc_trace_info(ask->trace);
    const char *name = nsc_trace_name(ask->trace), *slash = strrchr(name, '/');
    struct nsc_json *j = &ask->json;

    nsc_json_text(j, "name", slash != NULL && slash[1] != '\0' ? slash + 1 : name);
    nsc_json_u64(j, "traces", ask->source_count);
    nsc_json_text(j, "engine", "nanoscope " NSC_VERSION);
    nsc_context_put_time(ask, "start", info->start_ticks);
    nsc_context_put_time(ask, "end", info->end_ticks);
    nsc_json_u64(j, "calls", info->calls);
    nsc_json_u64(j, "events", info->events);
    nsc_json_u64(j, "lost", info->lost);
    nsc_json_u64(j, "chunks", info->chunks);
    nsc_json_bool(j, "complete", info->complete);
    nsc_json_bool(j, "growing", ask->source->growing);
    nsc_json_bool(j, "exits_bound", info->exits_bound);
    /* While a file grows, a missing end is not damage. */
    nsc_json_text(j, "warning",
                  info->warning[0] != '\0' && !ask->source->growing ? info->warning : NULL);
    nsc_json_u64(j, "functions", info->function_count);
    nsc_json_u64(j, "distinct", count_distinct(ask->trace));
    nsc_json_open_array(j, "categories");
    for (uint32_t i = 0; i < ask->source->categories.count; i++)
        nsc_json_text(j, NULL, ask->source->categories.names[i]);
    nsc_json_close_array(j);
}

/* The exit status as shells report it: the exit code, or 128 plus the signal. */
static void put_exit(struct nsc_json *j, int32_t status)
{
    if (status < 0)
        nsc_json_null(j, "exit");
    else if ((status & 0x7f) == 0)
        nsc_json_i64(j, "exit", status >> 8 & 0xff);
    else
        nsc_json_i64(j, "exit", 128 + (status & 0x7f));
}

/* A process that is still running at the end of the recording has no end. */
static void put_life(struct nsc_engine_context *ask, uint64_t start_ticks, uint64_t end_ticks)
{
    nsc_context_put_time(ask, "start", start_ticks);
    if (end_ticks != 0)
        nsc_context_put_time(ask, "end", end_ticks);
    else
        nsc_json_null(&ask->json, "end");
}

static void put_processes(struct nsc_engine_context *ask)
{
    struct nsc_json *j = &ask->json;

    nsc_json_open_array(j, "processes");
    for (uint32_t i = 0; i < nsc_trace_info(ask->trace)->process_count; i++) {
        const struct nsc_process *p = nsc_trace_process(ask->trace, i);

        nsc_json_open_object(j, NULL);
        nsc_json_u64(j, "pid", p->pid);
        nsc_json_text(j, "name", p->name);
        put_life(ask, p->start_ticks, p->end_ticks);
        put_exit(j, p->exit_status);
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
}

static void put_thread(struct nsc_engine_context *ask, uint32_t id)
{
    static const char *const kinds[NSC_NOTE_KINDS] = {"samples", "states", "marks", "counters"};
    const struct nsc_thread *t = nsc_trace_thread(ask->trace, id);
    const struct nsc_chunk *chunks;
    struct nsc_json *j = &ask->json;
    uint64_t calls = 0;
    uint32_t count, max_depth = 0;

    chunks = nsc_trace_chunks(ask->trace, id, &count);
    for (uint32_t i = 0; i < count; i++) {
        calls += chunks[i].calls;
        max_depth = chunks[i].max_depth > max_depth ? chunks[i].max_depth : max_depth;
    }
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "process", t->process);
    nsc_json_u64(j, "tid", t->tid);
    nsc_json_u64(j, "stack", t->stack);
    nsc_json_text(j, "name", t->name);
    put_life(ask, t->start_ticks, t->end_ticks);
    nsc_json_u64(j, "calls", calls);
    nsc_json_u64(j, "lost", t->lost);
    nsc_json_u64(j, "max_depth", max_depth);
    for (uint32_t kind = 0; kind < NSC_NOTE_KINDS; kind++)
        nsc_json_u64(j, kinds[kind],
                     nsc_trace_note_count(ask->trace, (enum nsc_note_kind)kind, id, false));
    nsc_json_close_object(j);
}

static void put_meta(struct nsc_engine_context *ask)
{
    const char *key, *value;

    nsc_json_open_object(&ask->json, "meta");
    for (uint32_t i = 0; nsc_trace_meta_at(ask->trace, i, &key, &value) == 0; i++)
        if (nsc_trace_meta(ask->trace, key) == value) /* of equal keys the last one applies */
            nsc_json_text(&ask->json, key, value);
    nsc_json_close_object(&ask->json);
}

static void put_left_out(struct nsc_engine_context *ask, const struct nsc_left_out_list *list)
{
    bool all = false;

    for (uint32_t i = 0; i < NSC_LEFT_OUT_REASONS; i++)
        all = all || list->nothing_ns[i] > 0;
    nsc_json_open_object(&ask->json, "left_out");
    nsc_json_u64(&ask->json, "functions", list->all_functions);
    nsc_json_bool(&ask->json, "all", all);
    nsc_json_close_object(&ask->json);
}

/* List the capabilities: requests that not every engine answers. */
static void put_abilities(struct nsc_engine_context *ask)
{
    nsc_json_open_array(&ask->json, "can");
    for (size_t i = 0; i < ask->handler_count; i++)
        if (ask->handlers[i]->can != NULL)
            nsc_json_text(&ask->json, NULL, ask->handlers[i]->can);
    nsc_json_close_array(&ask->json);
}

int nsc_engine_trace(struct nsc_engine_context *ask)
{
    struct nsc_left_out_list left_out;
    struct nsc_selection everything;
    struct nsc_json *j;
    int error = nsc_context_check(ask);

    if (error == 0 && ask->source->facts == NULL)
        error = gather_facts(ask);
    if (error == 0 && nsc_context_categories(ask) == NULL)
        error = -ENOMEM;
    nsc_selection_init(&everything);
    if (error == 0)
        error = nsc_left_out_find(ask->trace, &everything, &left_out, &ask->diag);
    if (error != 0)
        return error;
    j = nsc_context_json(ask);
    if (j == NULL) {
        nsc_left_out_free(&left_out);
        return -ENOMEM;
    }
    nsc_json_open_object(j, NULL);
    put_head(ask);
    put_processes(ask);
    nsc_json_open_array(j, "threads");
    for (uint32_t i = 0; i < nsc_trace_info(ask->trace)->thread_count; i++)
        put_thread(ask, i);
    nsc_json_close_array(j);
    put_counters(ask);
    put_meta(ask);
    put_left_out(ask, &left_out);
    put_abilities(ask);
    nsc_json_close_object(j);
    nsc_left_out_free(&left_out);
    return 0;
}

/* ---- /api/functions -------------------------------------------------------------------------- */

static void put_function(struct nsc_engine_context *ask, uint32_t id)
{
    const struct nsc_function *f = nsc_trace_function(ask->trace, id);
    struct nsc_json *j = &ask->json;

    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "id", id);
    nsc_json_text(j, "name", f->name);
    nsc_json_text(j, "module",
                  f->module != NSC_NO_ID ? nsc_trace_module(ask->trace, f->module)->path : NULL);
    nsc_json_text(j, "file", f->file[0] != '\0' ? f->file : NULL);
    nsc_json_u64_or_null(j, "line", f->line != 0, f->line);
    nsc_json_u64(j, "category", ask->source->categories.of_function[id]);
    nsc_json_close_object(j);
}

int nsc_engine_functions(struct nsc_engine_context *ask)
{
    uint32_t all = nsc_trace_info(ask->trace)->function_count, count;
    uint32_t *ids = nsc_context_ids(ask, "ids", all, FUNCTIONS_MAX, &count);
    uint64_t first = nsc_context_number(ask, "first", 0, UINT32_MAX);
    uint64_t limit = nsc_context_number(ask, "limit", FUNCTIONS_MAX, FUNCTIONS_MAX);
    bool ready = nsc_context_check(ask) == 0 && nsc_context_categories(ask) != NULL;
    struct nsc_json *j = ready ? nsc_context_json(ask) : NULL;

    if (j == NULL) {
        free(ids);
        return ask->refused ? -EINVAL : -ENOMEM;
    }
    if (ids == NULL)
        count = first >= all ? 0 : (uint32_t)(all - first < limit ? all - first : limit);
    nsc_json_open_object(j, NULL);
    nsc_json_open_array(j, "functions");
    for (uint32_t i = 0; i < count; i++)
        put_function(ask, ids != NULL ? ids[i] : (uint32_t)first + i);
    nsc_json_close_array(j);
    nsc_json_close_object(j);
    free(ids);
    return 0;
}
