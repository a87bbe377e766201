/*
 * chrome_import.c - read Chrome's trace event JSON: an array of events, or an object with one.
 * Called through importers.c.
 *
 * An event's members come in any order, so the relevant ones are kept until the event ends.
 * Source: "Trace Event Format" (the Chromium project's document).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/chrome/json_reader.h"
#include "formats/import/event_intake.h"
#include "util/text/name_text.h"
#include "util/text/units.h"

#define ARGS_MAX        64u
#define PROGRESS_EVENTS 65536u

/* A part of chrome_import.text. */
struct piece {
    size_t at, bytes;
    uint8_t token; /* enum nsc_json_token; 0 = missing */
};

struct arg {
    struct piece key, value;
};

/* The relevant members of an event. */
struct event {
    struct piece phase, name, ts, dur, pid, tid, id;
    struct arg args[ARGS_MAX];
    uint32_t arg_count;
    bool has_args;
};

/* Kinds of data that are left out; each is counted. */
enum { ASYNC, FLOW, OBJECT, SAMPLE, DUMP, CLOCK, CONTEXT, NO_PHASE, NO_TIME, VALUES, KINDS };

static const char *const kind_names[KINDS] = {
    [ASYNC] = "async events",
    [FLOW] = "flow events",
    [OBJECT] = "object events",
    [SAMPLE] = "sample events",
    [DUMP] = "memory dumps",
    [CLOCK] = "clock events",
    [CONTEXT] = "context events",
    [NO_PHASE] = "events of unknown phase",
    [NO_TIME] = "events without a time from 0 on",
    [VALUES] = "counter values that are no numbers",
};

struct chrome_import {
    struct nsc_import *job;
    struct nsc_intake *in;
    struct nsc_json_pull json;
    struct event event;
    char *text; /* texts of the event's pieces, NUL-terminated */
    size_t bytes, room;
    struct nsc_names ids;        /* processes whose pid is not a 31-bit number, by its text */
    struct nsc_names thread_ids; /* threads whose tid is no 48-bit number, by process, text */
    uint32_t pids;               /* number of synthetic pids assigned to such processes */
    uint64_t left_out[KINDS];
    uint64_t arguments; /* events with arguments that are left out */
    uint64_t events;
    bool own;   /* written by nanoscope: times already count from the start of the trace */
    bool found; /* the input has an event with a phase, or an empty array of events */
};

/* ---- Pieces ------------------------------------------------------------------------------- */

static int keep(struct chrome_import *c, struct piece *piece, int token, struct nsc_diag *diag)
{
    if (c->bytes + c->json.bytes + 1 > c->room) {
        size_t room = (c->bytes + c->json.bytes + 1) * 2;
        char *bigger = realloc(c->text, room);

        if (bigger == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        c->text = bigger;
        c->room = room;
    }
    *piece = (struct piece){c->bytes, 0, (uint8_t)token};
    if (token == NSC_JSON_KEY || token == NSC_JSON_STRING || token == NSC_JSON_NUMBER) {
        memcpy(c->text + c->bytes, c->json.text, c->json.bytes);
        piece->bytes = c->json.bytes;
    }
    c->text[c->bytes + piece->bytes] = '\0';
    c->bytes += piece->bytes + 1;
    return 0;
}

static const char *text_of(const struct chrome_import *c, const struct piece *piece)
{
    return c->text + piece->at;
}

static bool is(const struct chrome_import *c, const struct piece *piece, const char *word)
{
    return piece->token != 0 && strcmp(text_of(c, piece), word) == 0;
}

static const struct piece *arg(const struct chrome_import *c, const char *key)
{
    for (uint32_t i = 0; i < c->event.arg_count; i++)
        if (is(c, &c->event.args[i].key, key))
            return &c->event.args[i].value;
    return NULL;
}

static bool is_string(const struct piece *piece)
{
    return piece != NULL && piece->token == NSC_JSON_STRING;
}

/* Parses a number of digits only. Returns false for other text, or above UINT64_MAX. */
static bool whole_number(const char *text, uint64_t *value)
{
    uint64_t v = 0;

    if (*text == '\0')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
            return false;
    *value = v;
    return *text == '\0';
}

/* A time with picosecond resolution. A call's start and end are each rounded once, from the exact
 * sum, so that nested calls stay nested. */
struct moment {
    uint64_t ns;
    uint32_t ps; /* below 1000 */
};

static uint64_t nearest_ns(const struct moment *m)
{
    return m->ns + (m->ps >= 500);
}

/* Parses a number with an exponent, in us; exact only as far as a double is. */
static bool parse_real_us(const char *text, struct moment *m)
{
    double us = strtod(text, NULL);

    if (!(us >= 0))
        return false;
    m->ps = 0;
    m->ns = us < (double)NSC_INTAKE_TIME_LIMIT / 1000 ? (uint64_t)llround(us * 1000)
                                                      : NSC_INTAKE_TIME_LIMIT;
    return true;
}

/* Parses a number of microseconds. Too large values become NSC_INTAKE_TIME_LIMIT. Returns false if
 * it is negative or not a number. */
static bool parse_us(const char *text, struct moment *m)
{
    uint64_t value = 0;
    uint32_t ps = 0;
    int places = -1; /* number of decimals read; -1 = before the decimal point */
    const char *at = text;

    for (; (*at >= '0' && *at <= '9') || (*at == '.' && places < 0); at++) {
        if (*at == '.') {
            places = 0;
        } else if (places < 3) {
            if (__builtin_mul_overflow(value, 10u, &value) ||
                __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
                value = NSC_INTAKE_TIME_LIMIT;
            places += places >= 0;
        } else if (places < 6) {
            ps = ps * 10 + (uint32_t)(*at - '0');
            places++;
        }
    }
    if (at == text)
        return false;
    if (*at != '\0')
        return parse_real_us(text, m);
    for (places = places < 0 ? 0 : places; places < 3; places++)
        if (__builtin_mul_overflow(value, 10u, &value))
            value = NSC_INTAKE_TIME_LIMIT;
    for (; places < 6; places++)
        ps *= 10;
    m->ns = value < NSC_INTAKE_TIME_LIMIT ? value : NSC_INTAKE_TIME_LIMIT;
    m->ps = value < NSC_INTAKE_TIME_LIMIT ? ps : 0;
    return true;
}

static bool time_of(const struct chrome_import *c, const struct piece *piece, struct moment *m)
{
    return (piece->token == NSC_JSON_NUMBER || piece->token == NSC_JSON_STRING) &&
           parse_us(text_of(c, piece), m);
}

/* ---- Processes and threads ---------------------------------------------------------------- */

static uint32_t process_of(struct chrome_import *c)
{
    const struct piece *pid = &c->event.pid;
    struct nsc_names_entry *e;
    uint64_t number = 0;

    if (pid->bytes == 0)
        return nsc_intake_process(c->in, 0);
    if (whole_number(text_of(c, pid), &number) && number < NSC_INTAKE_NO_TID)
        return nsc_intake_process(c->in, (uint32_t)number);
    if (nsc_names_find(&c->ids, text_of(c, pid), pid->bytes, &e) != 0)
        return 0; /* out of memory: the intake fails, too, and reports it */
    if (e->id == UINT32_MAX) {
        e->id = nsc_intake_process(c->in, NSC_INTAKE_NO_TID + c->pids++);
        nsc_intake_name_process(c->in, e->id, text_of(c, pid), pid->bytes);
    }
    return e->id;
}

/* Returns the track of a thread whose tid is text, or a number that no thread can have. */
static uint32_t named_track(struct chrome_import *c, uint32_t process)
{
    const struct piece *tid = &c->event.tid;
    struct nsc_names_entry *e;
    size_t bytes = sizeof process + tid->bytes;
    char *key = malloc(bytes);
    int error = -ENOMEM;

    if (key != NULL) {
        memcpy(key, &process, sizeof process);
        memcpy(key + sizeof process, text_of(c, tid), tid->bytes);
        error = nsc_names_find(&c->thread_ids, key, bytes, &e);
    }
    free(key);
    if (error != 0)
        return 0; /* as above */
    if (e->id == UINT32_MAX) {
        e->id = nsc_intake_free_track(c->in, process);
        nsc_intake_name_track(c->in, e->id, text_of(c, tid), tid->bytes);
    }
    return e->id;
}

/* Returns the track of the event. In a tid of more than 32 bits, bits 32 to 47 are the number of a
 * further stack, as chrome_export.c writes it. */
static uint32_t track_of(struct chrome_import *c)
{
    uint32_t process = process_of(c);
    uint64_t number = 0;

    if (c->event.tid.bytes == 0)
        return nsc_intake_track(c->in, process, 0, 0);
    if (!whole_number(text_of(c, &c->event.tid), &number) || number >> 48 != 0)
        return named_track(c, process);
    return nsc_intake_track(c->in, process, (uint32_t)number, (uint32_t)(number >> 32));
}

/* ---- Events ------------------------------------------------------------------------------- */

static uint32_t function_of(struct chrome_import *c)
{
    const struct piece *name = &c->event.name;

    if (name->bytes == 0)
        return nsc_intake_function_name(c->in, "(no name)", 9);
    return nsc_intake_function_name(c->in, text_of(c, name), name->bytes);
}

/* Returns whether argument @key ("bound" or "clipped", as written by chrome_export.c) names @side
 * or both sides. */
static bool has_side(const struct chrome_import *c, const char *key, const char *side)
{
    const struct piece *value = arg(c, key);

    return is_string(value) && (is(c, value, side) || is(c, value, "both"));
}

static void take_call(struct chrome_import *c, int phase, uint32_t track,
                      const struct moment *start)
{
    bool clipped = has_side(c, "clipped", "start"), late = has_side(c, "bound", "start");
    bool at_end = has_side(c, "clipped", "end") || has_side(c, "bound", "end");
    uint64_t ns = nearest_ns(start), duration_ns = NSC_NESTING_OPEN;
    struct moment length;

    c->arguments += c->event.has_args && !at_end && !late && !clipped;
    if (phase == 'B') {
        nsc_intake_begin(c->in, track, ns, function_of(c),
                         clipped ? NSC_NESTING_CLIPPED
                         : late  ? NSC_NESTING_LATE
                                 : NSC_NESTING_SEEN);
    } else if (phase == 'E') {
        nsc_intake_end(c->in, track, ns, c->event.name.bytes > 0 ? function_of(c) : NSC_NO_ID,
                       at_end);
    } else {
        if (time_of(c, &c->event.dur, &length))
            duration_ns = start->ns + length.ns + (start->ps + length.ps + 500) / 1000 - ns;
        nsc_intake_slice(c->in, track, ns, duration_ns, function_of(c));
    }
}

static void take_instant(struct chrome_import *c, uint32_t track, uint64_t ns)
{
    const struct piece *metadata = arg(c, "metadata"), *cut = arg(c, "cut");
    const struct piece *from = arg(c, "from"), *to = arg(c, "to"), *count = arg(c, "count");
    uint64_t lost;
    uint32_t old_state, new_state;

    if (is(c, &c->event.name, "events lost") && count != NULL &&
        whole_number(text_of(c, count), &lost)) {
        nsc_intake_lost(c->in, track, ns, lost);
    } else if (is(c, &c->event.name, "state") && is_string(from) && is_string(to) &&
               nsc_model_state_find(text_of(c, from), &old_state) &&
               nsc_model_state_find(text_of(c, to), &new_state)) {
        nsc_intake_state(c->in, track, ns, old_state, new_state);
    } else {
        bool is_cut = cut != NULL && cut->token == NSC_JSON_TRUE;
        bool known = is_string(metadata);

        c->arguments += c->event.has_args && !known && !is_cut;
        nsc_intake_mark(c->in, track, ns, text_of(c, &c->event.name), c->event.name.bytes,
                        known ? text_of(c, metadata) : "", known ? metadata->bytes : 0, is_cut);
    }
}

/* Makes a counter name of the event's name, its id and the name of the series. A single series
 * "value" is not mentioned. Returns NULL when out of memory. */
static char *counter_name(const struct chrome_import *c, const struct arg *series, bool alone)
{
    const char *name = text_of(c, &c->event.name), *key = text_of(c, &series->key);
    const char *id = c->event.id.token != 0 ? text_of(c, &c->event.id) : "";
    char *text;

    if (alone && strcmp(key, "value") == 0)
        key = "";
    if (asprintf(&text, "%s%s%s%s%s%s", name, id[0] != '\0' ? " [" : "", id,
                 id[0] != '\0' ? "]" : "", key[0] != '\0' ? "." : "", key) < 0)
        return NULL;
    return text;
}

static void take_value(struct chrome_import *c, uint32_t track, uint64_t ns, const char *name,
                       const struct piece *value)
{
    const char *text = text_of(c, value);
    char *end;
    long long integer;

    errno = 0;
    integer = strtoll(text, &end, 10);
    if (*end == '\0' && errno == 0)
        nsc_intake_count(c->in, track, ns, name, strlen(name), integer);
    else
        nsc_intake_count_real(c->in, track, ns, name, strlen(name), strtod(text, NULL));
}

/* Adds a sample value, if the event is one as written by chrome_export.c. Returns whether it is. */
static bool take_sample(struct chrome_import *c, uint32_t track, uint64_t ns)
{
    const struct piece *value = arg(c, "value");
    enum nsc_sample_field field;
    uint64_t number;

    if (value == NULL || !whole_number(text_of(c, value), &number))
        return false;
    if (!nsc_model_sample_field_find(text_of(c, &c->event.name), &field))
        return false;
    nsc_intake_sample(c->in, track, ns, field, number);
    return true;
}

/* Adds counter values. Counters belong to the process, or to a thread if the event's id is the tid
 * of one. */
static void take_counter(struct chrome_import *c, uint64_t ns)
{
    uint32_t process = process_of(c), track = 0;
    uint64_t tid = 0;

    if (c->event.id.token == NSC_JSON_STRING && whole_number(text_of(c, &c->event.id), &tid) &&
        tid <= UINT32_MAX && nsc_intake_has_thread(c->in, process, (uint32_t)tid, &track)) {
        if (take_sample(c, track, ns))
            return;
        c->event.id.token = 0;
    } else {
        track = nsc_intake_process_track(c->in, process);
    }
    for (uint32_t i = 0; i < c->event.arg_count; i++) {
        const struct arg *a = &c->event.args[i];
        char *name;

        if (a->value.token != NSC_JSON_NUMBER) {
            c->left_out[VALUES]++;
            continue;
        }
        name = counter_name(c, a, c->event.arg_count == 1);
        if (name != NULL)
            take_value(c, track, ns, name, &a->value);
        free(name);
    }
}

static void take_metadata(struct chrome_import *c)
{
    const struct piece *name = arg(c, "name");

    if (!is_string(name))
        return;
    if (is(c, &c->event.name, "process_name"))
        nsc_intake_name_process(c->in, process_of(c), text_of(c, name), name->bytes);
    else if (is(c, &c->event.name, "thread_name"))
        nsc_intake_name_track(c->in, track_of(c), text_of(c, name), name->bytes);
}

static uint32_t kind_of(int phase)
{
    static const struct {
        const char *phases;
        uint32_t kind;
    } kinds[] = {{"bneSTpF", ASYNC}, {"stf", FLOW}, {"NOD", OBJECT}, {"P", SAMPLE},
                 {"vV", DUMP},       {"c", CLOCK},  {"()", CONTEXT}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (phase != 0 && strchr(kinds[i].phases, phase) != NULL)
            return kinds[i].kind;
    return NO_PHASE;
}

static void take_event(struct chrome_import *c)
{
    int phase = c->event.phase.bytes == 1 ? (unsigned char)*text_of(c, &c->event.phase) : 0;
    struct moment start = {0};

    c->found = c->found || phase != 0;
    if (phase == 'M') {
        take_metadata(c);
        return;
    }
    if (phase == 0 || strchr("BEXiIRC", phase) == NULL) {
        c->left_out[kind_of(phase)]++;
        return;
    }
    if (!time_of(c, &c->event.ts, &start)) {
        c->left_out[NO_TIME]++;
        return;
    }
    if (phase == 'C')
        take_counter(c, nearest_ns(&start));
    else if (phase == 'B' || phase == 'E' || phase == 'X')
        take_call(c, phase, track_of(c), &start);
    else
        take_instant(c, track_of(c), nearest_ns(&start));
}

/* ---- The file ----------------------------------------------------------------------------- */

/* Reads the members of "args", after its opening bracket. Returns the last token. */
static int read_args(struct chrome_import *c, struct nsc_diag *diag)
{
    int token;

    while ((token = nsc_json_pull_next(&c->json, diag)) == NSC_JSON_KEY) {
        struct arg a = {0};
        bool room = c->event.arg_count < ARGS_MAX;
        int error = room ? keep(c, &a.key, token, diag) : 0;

        c->event.has_args = true;
        token = nsc_json_pull_next(&c->json, diag);
        if (error == 0 && token > 0 && room)
            error = keep(c, &a.value, token, diag);
        if (error != 0)
            return error;
        token = nsc_json_pull_skip(&c->json, token, diag);
        if (token <= 0)
            return token;
        if (room)
            c->event.args[c->event.arg_count++] = a;
    }
    return token;
}

static struct piece *member(struct chrome_import *c)
{
    static const struct {
        const char *key;
        size_t offset;
    } members[] = {
        {"ph", offsetof(struct event, phase)}, {"name", offsetof(struct event, name)},
        {"ts", offsetof(struct event, ts)},    {"dur", offsetof(struct event, dur)},
        {"pid", offsetof(struct event, pid)},  {"tid", offsetof(struct event, tid)},
        {"id", offsetof(struct event, id)},
    };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (strcmp(c->json.text, members[i].key) == 0)
            return (struct piece *)(void *)((char *)&c->event + members[i].offset);
    return NULL;
}

/* Reads an event, after its opening bracket. Returns the last token: 0 at the end of the input, or
 * -errno. */
static int read_event(struct chrome_import *c, struct nsc_diag *diag)
{
    int token;

    memset(&c->event, 0, offsetof(struct event, args));
    c->event.arg_count = 0;
    c->event.has_args = false;
    c->bytes = 0;
    if (keep(c, &c->event.name, NSC_JSON_NULL, diag) != 0) /* at = 0 then is an empty text */
        return -ENOMEM;
    while ((token = nsc_json_pull_next(&c->json, diag)) == NSC_JSON_KEY) {
        struct piece *piece = member(c);
        bool args = strcmp(c->json.text, "args") == 0;
        int error;

        token = nsc_json_pull_next(&c->json, diag);
        if (args && token == NSC_JSON_OBJECT) {
            token = read_args(c, diag);
        } else {
            if (token > 0 && piece != NULL && (error = keep(c, piece, token, diag)) != 0)
                return error;
            token = nsc_json_pull_skip(&c->json, token, diag);
        }
        if (token <= 0)
            return token;
    }
    if (token == NSC_JSON_OBJECT_END)
        take_event(c);
    return token;
}

/* Reads the elements of the array of events. Returns the last token. */
static int read_events(struct chrome_import *c, struct nsc_diag *diag)
{
    int token;

    while ((token = nsc_json_pull_next(&c->json, diag)) > 0 && token != NSC_JSON_ARRAY_END) {
        int error;

        if (token == NSC_JSON_OBJECT)
            token = read_event(c, diag);
        else
            token = nsc_json_pull_skip(&c->json, token, diag);
        if (token <= 0)
            return token;
        if (++c->events % PROGRESS_EVENTS != 0)
            continue;
        nsc_import_progress(c->job, c->job->in);
        error = nsc_intake_error(c->in, diag);
        if (error != 0)
            return error;
    }
    c->found = c->found || c->events == 0;
    return token;
}

/* Reads "otherData", after its opening bracket. Returns the last token. */
static int read_other_data(struct chrome_import *c, struct nsc_diag *diag)
{
    int token;

    while ((token = nsc_json_pull_next(&c->json, diag)) == NSC_JSON_KEY) {
        bool writer = strcmp(c->json.text, "writer") == 0;

        token = nsc_json_pull_next(&c->json, diag);
        if (writer && token == NSC_JSON_STRING)
            c->own = strncmp(c->json.text, "nanoscope ", 10) == 0;
        token = nsc_json_pull_skip(&c->json, token, diag);
        if (token <= 0)
            return token;
    }
    return token;
}

/* Reads the input. Returns the last token: 0 if the input was cut, or -errno. */
static int read_file(struct chrome_import *c, struct nsc_diag *diag)
{
    int token = nsc_json_pull_next(&c->json, diag);

    if (token == NSC_JSON_ARRAY) {
        token = read_events(c, diag);
        return token == 0 ? NSC_JSON_ARRAY_END : token; /* the closing bracket may be missing */
    }
    if (token != NSC_JSON_OBJECT)
        return token;
    while ((token = nsc_json_pull_next(&c->json, diag)) == NSC_JSON_KEY) {
        bool events = strcmp(c->json.text, "traceEvents") == 0;
        bool other = strcmp(c->json.text, "otherData") == 0;

        token = nsc_json_pull_next(&c->json, diag);
        if (events && token == NSC_JSON_ARRAY)
            token = read_events(c, diag);
        else if (other && token == NSC_JSON_OBJECT)
            token = read_other_data(c, diag);
        else
            token = nsc_json_pull_skip(&c->json, token, diag);
        if (token <= 0)
            return token;
    }
    return token;
}

static void note_left_out(struct chrome_import *c)
{
    char text[240] = "";

    for (int i = 0; i < KINDS; i++) {
        size_t used = strlen(text);

        if (c->left_out[i] > 0)
            snprintf(text + used, sizeof text - used, "%s%s (%" PRIu64 ")", used > 0 ? ", " : "",
                     kind_names[i], c->left_out[i]);
    }
    if (text[0] != '\0')
        nsc_job_notes_add(c->job->notes, "left out: %s", text);
    if (c->arguments > 0)
        nsc_job_notes_add(c->job->notes, "arguments of %" PRIu64 " event%s are left out",
                          c->arguments, nsc_units_plural(c->arguments));
}

/* Decides on the result of reading: damage after at least one event becomes a note for the user. */
static int judge(struct chrome_import *c, int token, struct nsc_diag *fault)
{
    if (token == 0)
        token = nsc_diag_set(fault, NSC_DIAG_NO_OFFSET, EBADMSG, "%s: the input ends early",
                             nsc_input_name(c->job->in));
    if (token < 0)
        return nsc_import_judge(c->job, token, nsc_intake_events(c->in), "event", fault);
    if (token > 0 && !c->found)
        return nsc_diag_set(fault, NSC_DIAG_NO_OFFSET, EPROTO,
                            "%s is JSON, but no trace of Chrome's: it has no events",
                            nsc_input_name(c->job->in));
    return 0;
}

static int import_chrome(struct nsc_import *job, struct nsc_diag *diag)
{
    struct nsc_diag fault = {.offset = NSC_DIAG_NO_OFFSET};
    struct chrome_import *c = calloc(1, sizeof *c);
    int error;

    if (c == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    c->job = job;
    error = nsc_intake_open(job, &c->in, diag);
    if (error == 0) {
        nsc_json_pull_begin(&c->json, job->in);
        error = judge(c, read_file(c, &fault), &fault);
        nsc_json_pull_end(&c->json);
        if (error != 0 && diag != NULL)
            *diag = fault;
        if (error == 0)
            error = nsc_intake_finish(c->in, diag);
        if (error == 0 && !c->own)
            error = nsc_import_clock(job, NULL, nsc_intake_first_ns(c->in), diag);
        if (error == 0)
            note_left_out(c);
    }
    nsc_intake_close(c->in);
    nsc_names_free(&c->ids);
    nsc_names_free(&c->thread_ids);
    free(c->text);
    free(c);
    return error;
}

/* Accepts an object, or an array of objects. Other JSON of this form is rejected after reading,
 * when it has no events. */
static bool sniff_chrome(const uint8_t *bytes, size_t count)
{
    const uint8_t *at = bytes, *end = bytes + count;
    bool array = false;

    if (count >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    for (; at < end; at++) {
        if (*at == '{' || (*at == ']' && array))
            return true;
        if (*at == '[' && !array)
            array = true;
        else if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t')
            return false;
    }
    return false;
}

const struct nsc_importer nsc_chrome_importer = {
    .name = "chrome",
    .what = "Chrome's JSON",
    .sniff = sniff_chrome,
    .run = import_chrome,
};
