/*
 * tsdl.c - parse TSDL, the language of CTF 1.8 metadata, into the model of ctf_model.h. This file
 * parses the top-level blocks; tsdl_types.c parses types, and ctf_resolve.c resolves references
 * afterwards. Called by ctf_import.c.
 * Source: "The Common Trace Format", version 1.8.3 (diamon.org/ctf), section 7.
 */
#include <errno.h>
#include <string.h>

#include "formats/ctf/tsdl_types.h"

struct block {
    struct ctf_stream_class *stream;
    struct ctf_event *event;
    struct ctf_clock *clock;
    bool is_trace, is_env;
};

static void set_type(struct ctf_parser *p, struct block *b, const char *key, struct ctf_type *type)
{
    struct ctf_type **to = NULL;

    if (b->is_trace && strcmp(key, "packet.header") == 0)
        to = &p->w.trace->packet_header;
    if (b->stream != NULL && strcmp(key, "packet.context") == 0)
        to = &b->stream->packet_context;
    if (b->stream != NULL && strcmp(key, "event.header") == 0)
        to = &b->stream->event_header;
    if (b->stream != NULL && strcmp(key, "event.context") == 0)
        to = &b->stream->event_context;
    if (b->event != NULL && strcmp(key, "context") == 0)
        to = &b->event->context;
    if (b->event != NULL && strcmp(key, "fields") == 0)
        to = &b->event->fields;
    if (to != NULL && type->kind != CTF_STRUCT)
        nsc_ctf_fail(&p->w, EBADMSG, "something else than a structure");
    else if (to != NULL)
        *to = type;
}

static void set_clock(struct ctf_parser *p, struct ctf_clock *clock, const char *key,
                      const struct ctf_value *v)
{
    if (strcmp(key, "name") == 0)
        clock->name = v->text;
    else if (strcmp(key, "freq") == 0)
        clock->frequency = v->number;
    else if (strcmp(key, "offset_s") == 0)
        clock->offset_s = (int64_t)v->number;
    else if (strcmp(key, "offset") == 0)
        clock->offset = (int64_t)v->number;
    if (clock->frequency == 0)
        nsc_ctf_fail(&p->w, EBADMSG, "a clock that stands still");
}

static void set_value(struct ctf_parser *p, struct block *b, const char *key,
                      const struct ctf_value *v)
{
    if (b->clock != NULL) {
        set_clock(p, b->clock, key, v);
    } else if (b->stream != NULL) {
        if (strcmp(key, "id") == 0)
            b->stream->id = v->number;
    } else if (b->event != NULL) {
        if (strcmp(key, "id") == 0)
            b->event->id = v->number;
        if (strcmp(key, "name") == 0)
            b->event->name = v->text;
        if (strlen(b->event->name) >= CTF_WORD_BYTES) /* each mark may store it */
            nsc_ctf_fail(&p->w, ENOTSUP, "an event with a name of more than 4095 bytes");
        if (strcmp(key, "stream_id") == 0) {
            b->event->stream_id = v->number;
            b->event->has_stream = true;
        }
    } else if (b->is_trace) {
        if (strcmp(key, "byte_order") == 0)
            p->w.trace->order = nsc_ctf_order_of(p, v);
        if (strcmp(key, "major") == 0 && v->number != 1)
            nsc_ctf_fail(&p->w, ENOTSUP, "a version of CTF that is not read; 1.8 is");
    } else if (b->is_env && v->token == CTF_WORD_TEXT) {
        if (strcmp(key, "tracer_name") == 0)
            p->w.trace->tracer = v->text;
        if (strcmp(key, "domain") == 0)
            p->w.trace->domain = v->text;
        if (strcmp(key, "hostname") == 0)
            p->w.trace->host = v->text;
    }
}

/* Parses a block, "{ key = value; key := type; ... };". */
static void take_block(struct ctf_parser *p, struct block *b)
{
    uint32_t names = p->alias_count;

    nsc_ctf_expect(&p->w, '{');
    while (p->w.error == 0 && !nsc_ctf_take_sign(&p->w, '}')) {
        const char *key, *none = NULL;
        struct ctf_type *type;
        struct ctf_value v;

        if (nsc_ctf_take_definition(p))
            continue;
        if (nsc_ctf_is_word(&p->w, "struct") || nsc_ctf_is_word(&p->w, "enum") ||
            nsc_ctf_is_word(&p->w, "variant")) {
            (void)nsc_ctf_take_type(p, false, &none);
            nsc_ctf_expect(&p->w, ';');
            continue;
        }
        key = nsc_ctf_take_path(&p->w);
        if (nsc_ctf_take_sign(&p->w, CTF_SIGN_TYPE)) {
            type = nsc_ctf_take_type(p, false, &none);
            nsc_ctf_expect(&p->w, ';');
            if (p->w.error == 0 && type != NULL)
                set_type(p, b, key, type);
            continue;
        }
        nsc_ctf_expect(&p->w, '=');
        nsc_ctf_take_value(p, &v);
        nsc_ctf_expect(&p->w, ';');
        if (p->w.error == 0)
            set_value(p, b, key, &v);
    }
    nsc_ctf_end_scope(p, names);
    nsc_ctf_expect(&p->w, ';');
}

static void take_stream(struct ctf_parser *p)
{
    struct block b = {.stream = nsc_ctf_need(&p->w, sizeof *b.stream)};

    if (b.stream == NULL)
        return;
    take_block(p, &b);
    b.stream->next = p->w.trace->streams;
    p->w.trace->streams = b.stream;
}

static void take_event(struct ctf_parser *p)
{
    struct block b = {.event = nsc_ctf_need(&p->w, sizeof *b.event)};

    if (b.event == NULL)
        return;
    b.event->name = "";
    b.event->function = UINT32_MAX;
    take_block(p, &b);
    b.event->next = p->w.trace->events;
    p->w.trace->events = b.event;
}

static void take_clock(struct ctf_parser *p)
{
    struct block b = {.clock = nsc_ctf_need(&p->w, sizeof *b.clock)};

    if (b.clock == NULL)
        return;
    b.clock->name = "";
    b.clock->frequency = 1000000000;
    take_block(p, &b);
    b.clock->next = p->w.trace->clocks;
    p->w.trace->clocks = b.clock;
}

static void take_top(struct ctf_parser *p)
{
    const char *none = NULL;
    struct block b = {.is_trace = nsc_ctf_is_word(&p->w, "trace"),
                      .is_env = nsc_ctf_is_word(&p->w, "env")};

    if (nsc_ctf_take_definition(p) || nsc_ctf_take_sign(&p->w, ';'))
        return;
    if (nsc_ctf_is_word(&p->w, "stream")) {
        nsc_ctf_word(&p->w);
        take_stream(p);
    } else if (nsc_ctf_is_word(&p->w, "event")) {
        nsc_ctf_word(&p->w);
        take_event(p);
    } else if (nsc_ctf_is_word(&p->w, "clock")) {
        nsc_ctf_word(&p->w);
        take_clock(p);
    } else if (b.is_trace || b.is_env || nsc_ctf_is_word(&p->w, "callsite")) {
        nsc_ctf_word(&p->w);
        take_block(p, &b);
    } else if (nsc_ctf_is_word(&p->w, "struct") || nsc_ctf_is_word(&p->w, "enum") ||
               nsc_ctf_is_word(&p->w, "variant")) {
        (void)nsc_ctf_take_type(p, false, &none);
        nsc_ctf_expect(&p->w, ';');
    } else {
        nsc_ctf_fail(&p->w, EBADMSG, "neither a type, a clock, a trace, a stream nor an event");
    }
}

int nsc_ctf_parse(const char *text, const char *name, struct ctf_trace *trace,
                  struct nsc_diag *diag)
{
    struct ctf_parser p = {
        .w = {.trace = trace, .name = name, .diag = diag, .at = text, .line = 1}};

    *trace = (struct ctf_trace){.order = CTF_LITTLE};
    nsc_ctf_word(&p.w);
    while (p.w.error == 0 && p.w.token != CTF_WORD_END)
        take_top(&p);
    nsc_ctf_types_free(&p);
    return p.w.error != 0 ? p.w.error : nsc_ctf_resolve(trace, name, diag);
}
