/* table_entry.c - see table_entry.h. Each encoder is next to its decoder. Source: docs/format.md
 * section 6, which is normative. */
#include "trace/format/table_entry.h"

#include <errno.h>

#include "trace/format/format.h"

/* An id that may be NSC_NO_ID is stored as id + 1, and NSC_NO_ID as 0. */
static void put_id(struct nsc_buffer *b, uint32_t id)
{
    nsc_buffer_leb(b, id == NSC_NO_ID ? 0 : (uint64_t)id + 1);
}

static uint32_t get_id(struct nsc_span *s)
{
    uint64_t v = nsc_span_leb(s);

    if (v > UINT32_MAX)
        s->bad = true;
    return s->bad || v == 0 ? NSC_NO_ID : (uint32_t)(v - 1);
}

int nsc_entry_get_text(struct nsc_span *s, struct nsc_arena *arena, const char **text)
{
    uint64_t bytes = nsc_span_leb(s);
    const uint8_t *at = nsc_span_take(s, bytes);

    if (at == NULL && bytes > 0)
        return -EBADMSG;
    if (bytes > 0 && memchr(at, 0, bytes) != NULL) {
        s->bad = true;
        return -EBADMSG;
    }
    *text = nsc_arena_text(arena, at, bytes);
    return *text == NULL ? -ENOMEM : 0;
}

static int done(const struct nsc_span *s, int error)
{
    if (error != 0)
        return error;
    return s->bad ? -EBADMSG : 0;
}

void nsc_entry_put_process(struct nsc_buffer *b, const struct nsc_process *p)
{
    nsc_buffer_leb(b, p->pid);
    put_id(b, p->parent);
    nsc_buffer_leb(b, p->start_ticks);
    nsc_buffer_leb(b, p->end_ticks);
    nsc_buffer_text(b, p->name);
    put_id(b, (uint32_t)p->exit_status);
    nsc_buffer_leb(b, p->problems);
}

int nsc_entry_get_process(struct nsc_span *s, struct nsc_arena *arena, struct nsc_process *p)
{
    int error;

    p->pid = nsc_span_leb32(s);
    p->parent = get_id(s);
    p->start_ticks = nsc_span_leb(s);
    p->end_ticks = nsc_span_leb(s);
    error = nsc_entry_get_text(s, arena, &p->name);
    p->exit_status = (int32_t)get_id(s);
    p->problems = nsc_span_leb32(s);
    return done(s, error);
}

void nsc_entry_put_thread(struct nsc_buffer *b, const struct nsc_thread *t)
{
    nsc_buffer_leb(b, t->process);
    nsc_buffer_leb(b, t->tid);
    nsc_buffer_leb(b, t->stack);
    nsc_buffer_leb(b, t->start_ticks);
    nsc_buffer_leb(b, t->end_ticks);
    nsc_buffer_leb(b, t->recorded);
    nsc_buffer_leb(b, t->lost);
    nsc_buffer_text(b, t->name);
}

int nsc_entry_get_thread(struct nsc_span *s, struct nsc_arena *arena, struct nsc_thread *t)
{
    t->process = nsc_span_leb32(s);
    t->tid = nsc_span_leb32(s);
    t->stack = nsc_span_leb32(s);
    t->start_ticks = nsc_span_leb(s);
    t->end_ticks = nsc_span_leb(s);
    t->recorded = nsc_span_leb(s);
    t->lost = nsc_span_leb(s);
    return done(s, nsc_entry_get_text(s, arena, &t->name));
}

void nsc_entry_put_module(struct nsc_buffer *b, const struct nsc_module *m)
{
    nsc_buffer_text(b, m->path);
    nsc_buffer_leb(b, m->build_id_bytes);
    nsc_buffer_bytes(b, m->build_id, m->build_id_bytes);
}

int nsc_entry_get_module(struct nsc_span *s, struct nsc_arena *arena, struct nsc_module *m)
{
    int error = nsc_entry_get_text(s, arena, &m->path);
    uint64_t bytes = nsc_span_leb(s);
    const uint8_t *id = nsc_span_take(s, bytes);

    if (bytes > sizeof m->build_id)
        s->bad = true;
    memset(m->build_id, 0, sizeof m->build_id);
    m->build_id_bytes = s->bad ? 0 : (uint32_t)bytes;
    if (!s->bad && bytes > 0)
        memcpy(m->build_id, id, bytes);
    return done(s, error);
}

void nsc_entry_put_mapping(struct nsc_buffer *b, const struct nsc_mapping *m)
{
    nsc_buffer_leb(b, m->process);
    nsc_buffer_leb(b, m->module);
    nsc_buffer_leb(b, m->bias);
    nsc_buffer_leb(b, m->start);
    nsc_buffer_leb(b, m->end);
    nsc_buffer_leb(b, m->load_ticks);
    nsc_buffer_leb(b, m->unload_ticks);
}

int nsc_entry_get_mapping(struct nsc_span *s, struct nsc_arena *arena, struct nsc_mapping *m)
{
    (void)arena;
    m->process = nsc_span_leb32(s);
    m->module = nsc_span_leb32(s);
    m->bias = nsc_span_leb(s);
    m->start = nsc_span_leb(s);
    m->end = nsc_span_leb(s);
    m->load_ticks = nsc_span_leb(s);
    m->unload_ticks = nsc_span_leb(s);
    return done(s, 0);
}

void nsc_entry_put_function(struct nsc_buffer *b, const struct nsc_entry_function *f)
{
    const char *name = f->f.name == NULL ? "" : f->f.name;
    const char *symbol = f->f.symbol == NULL ? name : f->f.symbol;

    put_id(b, f->f.module);
    nsc_buffer_leb(b, f->f.va);
    put_id(b, f->canonical);
    nsc_buffer_text(b, name);
    nsc_buffer_text(b, strcmp(symbol, name) == 0 ? "" : symbol);
    nsc_buffer_leb(b, f->file);
    nsc_buffer_leb(b, f->f.line);
    nsc_buffer_leb(b, f->calls_known ? f->calls + 1 : 0);
}

/* Name a function without a symbol after its address. */
static int name_by_address(struct nsc_arena *arena, struct nsc_function *f)
{
    char text[19] = "0x";
    size_t n = 2;
    int shift = 60;

    while (shift > 0 && (f->va >> shift & 15) == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        text[n++] = "0123456789abcdef"[f->va >> shift & 15];
    f->name = nsc_arena_text(arena, text, n);
    return f->name == NULL ? -ENOMEM : 0;
}

int nsc_entry_get_function(struct nsc_span *s, struct nsc_arena *arena,
                           struct nsc_entry_function *f)
{
    int error;

    f->f.module = get_id(s);
    f->f.va = nsc_span_leb(s);
    f->canonical = get_id(s);
    error = nsc_entry_get_text(s, arena, &f->f.name);
    if (error == 0)
        error = nsc_entry_get_text(s, arena, &f->f.symbol);
    f->file = nsc_span_leb32(s);
    f->f.line = nsc_span_leb32(s);
    f->calls = nsc_span_left(s) > 0 ? nsc_span_leb(s) : 0;
    f->calls_known = f->calls > 0;
    f->calls -= f->calls_known;
    f->f.file = "";
    if (error == 0 && *f->f.name == '\0')
        error = name_by_address(arena, &f->f);
    if (error == 0 && *f->f.symbol == '\0')
        f->f.symbol = f->f.name;
    return done(s, error);
}

void nsc_entry_put_clock(struct nsc_buffer *b, const struct nsc_clock_point *p)
{
    nsc_buffer_leb(b, p->ticks);
    nsc_buffer_leb(b, p->monotonic_ns);
    nsc_buffer_leb(b, p->boottime_ns);
    nsc_buffer_leb(b, p->realtime_ns);
}

int nsc_entry_get_clock(struct nsc_span *s, struct nsc_arena *arena, struct nsc_clock_point *p)
{
    (void)arena;
    p->ticks = nsc_span_leb(s);
    p->monotonic_ns = nsc_span_leb(s);
    p->boottime_ns = nsc_span_leb(s);
    p->realtime_ns = nsc_span_leb(s);
    return done(s, 0);
}

void nsc_entry_put_meta(struct nsc_buffer *b, const struct nsc_meta *m)
{
    nsc_buffer_text(b, m->key);
    nsc_buffer_text(b, m->value);
}

int nsc_entry_get_meta(struct nsc_span *s, struct nsc_arena *arena, struct nsc_meta *m)
{
    int error = nsc_entry_get_text(s, arena, &m->key);

    if (error == 0)
        error = nsc_entry_get_text(s, arena, &m->value);
    return done(s, error);
}

void nsc_entry_put_extent(struct nsc_buffer *b, const struct nsc_entry_chunk *c)
{
    nsc_buffer_leb(b, c->first_ticks);
    nsc_buffer_leb(b, c->last_ticks - c->first_ticks);
    nsc_buffer_leb(b, c->events);
    nsc_buffer_leb(b, c->calls);
    nsc_buffer_leb(b, c->lost);
    nsc_buffer_leb(b, c->min_depth);
    nsc_buffer_leb(b, c->max_depth);
    nsc_buffer_leb(b, c->depth);
    nsc_buffer_leb(b, c->common);
}

int nsc_entry_get_extent(struct nsc_span *s, struct nsc_entry_chunk *c)
{
    c->first_ticks = nsc_span_leb(s);
    c->last_ticks = c->first_ticks + nsc_span_leb(s);
    c->events = nsc_span_leb(s);
    c->calls = nsc_span_leb(s);
    c->lost = nsc_span_leb(s);
    c->min_depth = nsc_span_leb32(s);
    c->max_depth = nsc_span_leb32(s);
    c->depth = nsc_span_leb32(s);
    c->common = nsc_span_leb32(s);
    if (c->last_ticks < c->first_ticks || c->common > c->depth || c->min_depth > c->depth ||
        c->max_depth < c->depth)
        s->bad = true;
    return s->bad ? -EBADMSG : 0;
}

void nsc_entry_put_chunk(struct nsc_buffer *b, const struct nsc_entry_chunk *c, uint64_t base)
{
    nsc_buffer_leb(b, c->offset - base);
    nsc_buffer_leb(b, c->thread);
    nsc_entry_put_extent(b, c);
}

int nsc_entry_get_chunk(struct nsc_span *s, uint64_t base, struct nsc_entry_chunk *c)
{
    c->offset = base + nsc_span_leb(s);
    c->thread = nsc_span_leb32(s);
    if (c->offset < base)
        s->bad = true;
    return nsc_entry_get_extent(s, c);
}

static void put_estimate(struct nsc_buffer *b, const struct nsc_estimate *e)
{
    nsc_buffer_leb(b, e->value);
    nsc_buffer_leb(b, e->error);
}

static void get_estimate(struct nsc_span *s, struct nsc_estimate *e)
{
    e->value = nsc_span_leb(s);
    e->error = nsc_span_leb(s);
}

void nsc_entry_put_left_out(struct nsc_buffer *b, const struct nsc_left_out *l)
{
    put_id(b, l->function);
    put_id(b, l->process);
    nsc_buffer_leb(b, l->reason);
    nsc_buffer_leb(b, l->known);
    nsc_buffer_leb(b, l->from_ticks);
    nsc_buffer_leb(b, l->to_ticks);
    nsc_buffer_leb(b, l->windows);
    nsc_buffer_leb(b, l->window_ticks);
    put_estimate(b, &l->calls);
    put_estimate(b, &l->total_ticks);
    put_estimate(b, &l->self_ticks);
}

int nsc_entry_get_left_out(struct nsc_span *s, struct nsc_arena *arena, struct nsc_left_out *l)
{
    (void)arena;
    l->function = get_id(s);
    l->process = get_id(s);
    l->reason = nsc_span_leb32(s);
    l->known = nsc_span_leb32(s);
    l->from_ticks = nsc_span_leb(s);
    l->to_ticks = nsc_span_leb(s);
    l->windows = nsc_span_leb(s);
    l->window_ticks = nsc_span_leb(s);
    get_estimate(s, &l->calls);
    get_estimate(s, &l->total_ticks);
    get_estimate(s, &l->self_ticks);
    if (l->to_ticks != 0 && l->to_ticks < l->from_ticks)
        s->bad = true;
    return done(s, 0);
}

/* Fields that the head and the index row of a block of notes share. */
#define NOTES_RANGE_MAX (4 * NSC_LEB_MAX)

static size_t put_notes_range(uint8_t out[NOTES_RANGE_MAX], const struct nsc_entry_notes *n)
{
    uint8_t *at = nsc_leb_put(out, n->owner);

    at = nsc_leb_put(at, n->first_ticks);
    at = nsc_leb_put(at, n->last_ticks - n->first_ticks);
    at = nsc_leb_put(at, n->count);
    return (size_t)(at - out);
}

static int get_notes_range(struct nsc_span *s, struct nsc_entry_notes *n)
{
    n->owner = nsc_span_leb_max(s, (uint64_t)NSC_NO_ID * 2 - 1);
    n->first_ticks = nsc_span_leb(s);
    n->last_ticks = n->first_ticks + nsc_span_leb(s);
    n->count = nsc_span_leb(s);
    if (n->last_ticks < n->first_ticks || n->count == 0 || n->count > NSC_FORMAT_PLAIN_MAX)
        s->bad = true; /* a note takes at least one byte */
    return done(s, 0);
}

void nsc_entry_put_notes_head(struct nsc_buffer *b, const struct nsc_entry_notes *n)
{
    uint8_t range[NOTES_RANGE_MAX];
    size_t bytes = put_notes_range(range, n);

    nsc_buffer_leb(b, bytes);
    nsc_buffer_bytes(b, range, bytes);
}

int nsc_entry_get_notes_head(struct nsc_span *s, struct nsc_entry_notes *n)
{
    struct nsc_span head = nsc_span_part(s, nsc_span_leb(s));

    return get_notes_range(&head, n);
}

void nsc_entry_put_notes(struct nsc_buffer *b, const struct nsc_entry_notes *n, uint64_t base)
{
    uint8_t range[NOTES_RANGE_MAX];
    size_t bytes = put_notes_range(range, n);

    nsc_buffer_leb(b, n->offset - base);
    nsc_buffer_leb(b, NSC_FORMAT_SAMPLES + n->kind);
    nsc_buffer_bytes(b, range, bytes);
}

int nsc_entry_get_notes(struct nsc_span *s, uint64_t base, struct nsc_entry_notes *n)
{
    uint64_t kind;

    n->offset = base + nsc_span_leb(s);
    kind = nsc_span_leb_max(s, UINT16_MAX);
    if (n->offset < base || kind < NSC_FORMAT_SAMPLES)
        s->bad = true;
    n->kind = (uint32_t)(kind - NSC_FORMAT_SAMPLES);
    return get_notes_range(s, n);
}

void nsc_entry_put_level_head(struct nsc_buffer *b, const struct nsc_entry_level *n)
{
    uint8_t head[13 * NSC_LEB_MAX], *at = nsc_leb_put(head, n->thread);

    at = nsc_leb_put(at, n->level);
    at = nsc_leb_put(at, n->first_chunk);
    at = nsc_leb_put(at, n->chunks);
    at = nsc_leb_put(at, n->sections);
    at = nsc_leb_put(at, n->first_ticks);
    at = nsc_leb_put(at, n->last_ticks - n->first_ticks);
    at = nsc_leb_put(at, n->events);
    at = nsc_leb_put(at, n->calls);
    at = nsc_leb_put(at, n->lost);
    at = nsc_leb_put(at, n->min_depth);
    at = nsc_leb_put(at, n->max_depth);
    nsc_buffer_leb(b, (size_t)(at - head));
    nsc_buffer_bytes(b, head, (size_t)(at - head));
}

/* Fields that the head and the index row of a node share. */
static void get_level(struct nsc_span *s, struct nsc_entry_level *n)
{
    n->thread = nsc_span_leb32(s);
    n->level = (uint32_t)nsc_span_leb_max(s, NSC_FORMAT_LEVELS_MAX);
    n->first_chunk = nsc_span_leb(s);
    n->chunks = nsc_span_leb(s);
    n->sections = nsc_span_leb32(s);
    if (n->level == 0 || n->chunks == 0 || n->first_chunk + n->chunks < n->chunks)
        s->bad = true;
}

int nsc_entry_get_level_head(struct nsc_span *s, struct nsc_entry_level *n)
{
    struct nsc_span head = nsc_span_part(s, nsc_span_leb(s));

    get_level(&head, n);
    n->first_ticks = nsc_span_leb(&head);
    n->last_ticks = n->first_ticks + nsc_span_leb(&head);
    n->events = nsc_span_leb(&head);
    n->calls = nsc_span_leb(&head);
    n->lost = nsc_span_leb(&head);
    n->min_depth = nsc_span_leb32(&head);
    n->max_depth = nsc_span_leb32(&head);
    if (n->last_ticks < n->first_ticks || n->max_depth < n->min_depth)
        head.bad = true;
    return done(&head, 0);
}

void nsc_entry_put_level(struct nsc_buffer *b, const struct nsc_entry_level *n, uint64_t base)
{
    nsc_buffer_leb(b, n->offset - base);
    nsc_buffer_leb(b, n->thread);
    nsc_buffer_leb(b, n->level);
    nsc_buffer_leb(b, n->first_chunk);
    nsc_buffer_leb(b, n->chunks);
    nsc_buffer_leb(b, n->sections);
    nsc_buffer_leb(b, n->shift);
}

int nsc_entry_get_level(struct nsc_span *s, uint64_t base, struct nsc_entry_level *n)
{
    n->offset = base + nsc_span_leb(s);
    if (n->offset < base)
        s->bad = true;
    get_level(s, n);
    n->shift = (uint32_t)nsc_span_leb_max(s, 63);
    return done(s, 0);
}
