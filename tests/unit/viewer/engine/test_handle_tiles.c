/*
 * test_handle_tiles.c - tiles against the calls of random threads, at many zooms: every column that
 * has a call shows one, the longest; no wide call is missing; nothing overlaps, nothing is
 * invented.
 */
#include "base/span.h"
#include "tap.h"
#include "unit/rigs/engine_rig.h"

#define COLUMNS 1024u
#define UNITS   65536u

struct span {
    uint32_t x0, x1, row, flags, function;
};

struct tile {
    uint32_t thread, number, flags, depth, span_count, gap_count;
    const uint8_t *spans, *gaps;
    uint64_t from, to;
    uint32_t zoom;
};

static struct span span_at(const struct tile *t, uint32_t i)
{
    const uint8_t *at = t->spans + 12 * (size_t)i;

    return (struct span){.x0 = nsc_span_get32(at) & 0xffff,
                         .x1 = nsc_span_get32(at) >> 16,
                         .row = nsc_span_get32(at + 4) & 0xffff,
                         .flags = nsc_span_get32(at + 4) >> 16,
                         .function = nsc_span_get32(at + 8)};
}

static const uint8_t *parse(struct tile *t, const uint8_t *at, uint64_t first, uint32_t zoom)
{
    t->thread = nsc_span_get32(at);
    t->number = nsc_span_get32(at + 4);
    t->flags = nsc_span_get32(at + 8);
    t->depth = nsc_span_get32(at + 12);
    t->span_count = nsc_span_get32(at + 16);
    t->gap_count = nsc_span_get32(at + 20);
    t->spans = at + 24;
    t->gaps = t->spans + 12 * (size_t)t->span_count;
    t->zoom = zoom;
    t->from = (first + t->number) << zoom;
    t->to = (first + t->number + 1) << zoom;
    return t->gaps + 12 * (size_t)t->gap_count;
}

/* An instant in 1/65,536ths of the tile, exactly; it may lie outside. */
static double x_of(const struct tile *t, uint64_t ns)
{
    return ((double)ns - (double)t->from) / (double)(t->to - t->from) * UNITS;
}

static bool is_seen(const struct tile *t, const struct rig_call *c)
{
    return c->start < t->to && (c->end > t->from || c->start >= t->from);
}

static bool is_wide(const struct tile *t, const struct rig_call *c)
{
    return (double)(c->end - c->start) >= (double)(t->to - t->from) / COLUMNS && c->end > c->start;
}

/* The column in which a call begins, counted from the trace's start. */
static uint64_t column_of(const struct tile *t, uint64_t ns)
{
    return t->zoom > 10 ? ns >> (t->zoom - 10) : ns;
}

static bool complain(const struct tile *t, const char *what, const struct span *s)
{
    printf("# zoom %u tile [%llu, %llu) thread %u flags %u: %s", t->zoom,
           (unsigned long long)t->from, (unsigned long long)t->to, t->thread, t->flags, what);
    if (s != NULL)
        printf(": row %u x %u..%u flags %u function %u", s->row, s->x0, s->x1, s->flags,
               s->function);
    printf("\n");
    return false;
}

/* Ordered, within the rows, and apart from each other. */
static bool is_ordered(const struct tile *t, uint32_t rows)
{
    struct span before = {.row = UINT32_MAX};

    for (uint32_t i = 0; i < t->span_count; i++) {
        struct span s = span_at(t, i);

        if (s.x0 > s.x1 || s.row >= rows)
            return complain(t, "out of bounds", &s);
        if (before.row != UINT32_MAX &&
            (s.row < before.row || (s.row == before.row && s.x0 <= before.x1)))
            return complain(t, "out of order", &s);
        before = s;
    }
    return true;
}

/* Columns that have a call of @depth, and those that show one. */
struct coverage {
    bool has[COLUMNS], shows[COLUMNS];
};

static void cover(bool *columns, double x0, double x1)
{
    long from = (long)(x0 / (UNITS / COLUMNS)), to = (long)(x1 / (UNITS / COLUMNS));

    from = x0 < 0 ? 0 : from;
    for (long i = from; i <= to && i < (long)COLUMNS; i++)
        columns[i] = true;
}

static void find_coverage(const struct tile *t, const struct rig_thread *thread, uint32_t depth,
                          uint32_t row, struct coverage *c)
{
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < thread->count; i++) {
        const struct rig_call *call = &thread->calls[i];
        double x1 = x_of(t, call->end);

        if (call->depth != depth || call->late || !is_seen(t, call))
            continue;
        /* Up to its end, which is not its own; an instant has its column. */
        x1 = call->end > call->start ? x1 - (x1 > 1 ? 1e-3 : 0) : x1;
        cover(c->has, x_of(t, call->start), x1);
    }
    for (uint32_t i = 0; i < t->span_count; i++) {
        struct span s = span_at(t, i);

        if (s.row == row)
            cover(c->shows, s.x0, s.x1);
    }
}

static bool near(const bool *columns, uint32_t i, uint32_t slack)
{
    for (uint32_t k = i > slack ? i - slack : 0; k <= i + slack && k < COLUMNS; k++)
        if (columns[k])
            return true;
    return false;
}

static bool is_covered(const struct tile *t, const struct rig_thread *thread, uint32_t depth,
                       uint32_t row, bool gaps)
{
    uint32_t slack = t->flags & 1; /* summaries: to the column beside */
    struct coverage c;

    find_coverage(t, thread, depth, row, &c);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        if (c.has[i] && !near(c.shows, i, slack)) {
            printf("# column %u of depth %u\n", i, depth);
            return complain(t, "a call is not shown", NULL);
        }
        /* Between two calls of one column there may be nothing: spans join them. */
        if (c.shows[i] && !near(c.has, i, 1) && !gaps) {
            printf("# column %u of depth %u\n", i, depth);
            return complain(t, "a call is shown that is none", NULL);
        }
    }
    return true;
}

/* The span of a row that begins nearest to @x, or none. */
static bool find_span(const struct tile *t, uint32_t row, double x, struct span *out)
{
    bool found = false;
    double best = 2;

    for (uint32_t i = 0; i < t->span_count; i++) {
        struct span s = span_at(t, i);
        double off = s.x0 > x ? s.x0 - x : x - s.x0;

        if (s.row == row && off < best) {
            best = off;
            *out = s;
            found = true;
        }
    }
    return found;
}

/* A call as wide as a column is there, from edge to edge. */
static bool has_wide(const struct tile *t, const struct rig_call *c, uint32_t row)
{
    double x0 = x_of(t, c->start), x1 = x_of(t, c->end);
    uint32_t flags = (c->start < t->from ? 1u : 0) | (c->end > t->to ? 2u : 0);
    struct span s;

    x0 = x0 < 0 ? 0 : x0;
    x1 = x1 > UNITS ? UNITS : x1;
    if (x1 - x0 < 2 && (flags & 3) != 0)
        return true; /* the rest of it in this tile is as good as nothing */
    if (!find_span(t, row, x0, &s))
        return complain(t, "a wide call is missing", NULL);
    if (s.x1 + 1 > x1 + 1.001 || s.x1 + 1 < x1 - 1.001 || s.function != c->function ||
        (s.flags & 3) != flags || (s.flags & 16) != 0)
        return complain(t, "a wide call is told wrongly", &s);
    if ((t->flags & 1) == 0 &&
        ((s.flags & 8) != 0) != ((c->bound & NSC_BOUND_END) != 0 && c->end <= t->to))
        return complain(t, "a wide call's bound is told wrongly", &s);
    return true;
}

/* Of an exact tile each span is the longest call of its column. */
static bool is_longest(const struct tile *t, const struct rig_thread *thread, uint32_t depth,
                       const struct span *s)
{
    const struct rig_call *best = NULL, *last = NULL;
    uint64_t column =
        column_of(t, t->from) + (t->zoom >= 10 ? s->x0 >> 6 : s->x0 >> (16 - t->zoom));
    uint32_t several = 0;

    for (size_t i = 0; i < thread->count; i++) {
        const struct rig_call *c = &thread->calls[i];

        if (c->depth != depth || !is_seen(t, c))
            continue;
        if ((s->flags & 1) != 0 ? c->start >= t->from : column_of(t, c->start) != column)
            continue;
        several++;
        if (best == NULL || c->end - c->start > best->end - best->start)
            best = c;
        last = c;
    }
    /* A span that yields one place to that of the left edge may stand in the next column. */
    if (best == NULL)
        return s->x0 <= 1 || complain(t, "a span has no call", s);
    if ((s->flags & 1) != 0 && several != 1)
        return complain(t, "two calls are open at once", s);
    /* One that goes on behind the tile stands for the others, however long these are. */
    best = last->end > t->to ? last : best;
    if (best->function != s->function)
        return complain(t, "a span is not the longest call of its column", s);
    if (((s->flags & 1) != 0) != (best->start < t->from) ||
        ((s->flags & 2) != 0) != (best->end > t->to))
        return complain(t, "a span says wrongly where its call begins or ends", s);
    if ((s->flags & 3) != 0 && (s->flags & 16) != 0)
        return complain(t, "a span that leaves the tile stands for several calls", s);
    if ((s->flags & 3) == 0 && ((s->flags & 16) != 0) != (several > 1 && !is_wide(t, best)))
        return complain(t, "a span says wrongly for how many calls it stands", s);
    return true;
}

static uint32_t depth_of(const struct tile *t, const struct rig_thread *thread)
{
    uint32_t depth = 0;

    for (size_t i = 0; i < thread->count; i++)
        if (is_seen(t, &thread->calls[i]) && thread->calls[i].depth + 1 > depth)
            depth = thread->calls[i].depth + 1;
    return depth;
}

static bool gaps_agree(const struct tile *t, const struct rig *rig, const struct rig_thread *thread)
{
    const struct nsc_clock *clock = nsc_trace_clock(rig->trace);
    uint64_t want = 0, got = 0;
    uint32_t before = 0;

    for (size_t i = 0; i < thread->model.count; i++) {
        const struct model_event *e = &thread->model.events[i];
        uint64_t ns = nsc_clock_ns(clock, e->ticks);

        if (e->kind == NSC_EVENT_LOST && ns >= t->from && ns < t->to)
            want += e->value;
    }
    for (uint32_t i = 0; i < t->gap_count; i++) {
        uint32_t x = nsc_span_get32(t->gaps + 12 * (size_t)i);

        if ((x & 0xffff) > x >> 16 || (i > 0 && (x & 0xffff) <= before))
            return complain(t, "gaps are out of order", NULL);
        before = x >> 16;
        got += nsc_span_get32(t->gaps + 12 * (size_t)i + 4);
    }
    /* From summaries, those of whole chunks. */
    return got == want || ((t->flags & 1) != 0 && got >= want) ||
           complain(t, "events were lost in other numbers", NULL);
}

static bool tile_agrees(const struct rig *rig, const struct tile *t, uint32_t depth, uint32_t rows,
                        bool gaps)
{
    struct rig_thread part = rig->threads[t->thread]; /* the calls that are seen */
    const struct rig_thread *thread = &part;
    bool fits = is_ordered(t, rows) && gaps_agree(t, rig, thread);

    part.calls = calloc(part.count + 1, sizeof *part.calls);
    part.count = 0;
    for (size_t i = 0; i < rig->threads[t->thread].count; i++)
        if (is_seen(t, &rig->threads[t->thread].calls[i]))
            part.calls[part.count++] = rig->threads[t->thread].calls[i];

    if (!gaps && t->depth != depth_of(t, thread)) {
        printf("# depth %u, want %u\n", t->depth, depth_of(t, thread));
        fits = complain(t, "the depth is wrong", NULL);
    }
    for (uint32_t row = 0; fits && row < rows && depth + row < t->depth + 1; row++)
        fits = is_covered(t, thread, depth + row, row, gaps);
    for (size_t i = 0; fits && i < thread->count; i++) {
        const struct rig_call *c = &thread->calls[i];

        if (!c->late && c->depth >= depth && c->depth - depth < rows && is_seen(t, c) &&
            is_wide(t, c))
            fits = has_wide(t, c, c->depth - depth);
    }
    for (uint32_t i = 0; fits && i < t->span_count && (t->flags & 1) == 0 && !gaps; i++) {
        struct span s = span_at(t, i);

        fits = is_longest(t, thread, depth + s.row, &s);
    }
    free(part.calls);
    return fits;
}

/* Ask for some tiles and check each. Counts those made of summaries. */
static bool ask_tiles(struct rig *rig, uint32_t zoom, uint64_t first, uint32_t count,
                      uint32_t depth, uint32_t rows, bool gaps, uint32_t *coarse)
{
    const uint8_t *at, *end;
    uint32_t tiles = 0;

    if (rig_ask(rig, "/api/tiles?zoom=%u&first=%llu&count=%u&threads=%s&depth=%u&rows=%u", zoom,
                (unsigned long long)first, count, rig->thread_count > 1 ? "1,0" : "0", depth,
                rows) != 200) {
        printf("# %s\n", rig_text(rig));
        return false;
    }
    end = rig->reply.bytes + rig->reply.count;
    for (at = rig->reply.bytes; at < end; tiles++) {
        struct tile t;

        at = parse(&t, at, first, zoom);
        *coarse += t.flags & 1;
        if (t.number != tiles % count || t.thread >= rig->thread_count ||
            !tile_agrees(rig, &t, depth, rows, gaps))
            return false;
    }
    return at == end && tiles == count * (rig->thread_count > 1 ? 2 : 1);
}

/* Tiles all over a trace, at every zoom. */
static bool trace_agrees(struct rig *rig, const struct rig_options *o, uint64_t seed,
                         uint32_t rounds, uint32_t *coarse)
{
    const struct nsc_trace_info *info = nsc_trace_info(rig->trace);
    uint64_t end = nsc_clock_ns(nsc_trace_clock(rig->trace), info->end_ticks);
    struct model_random r = {seed};

    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t zoom = i % 44, depth = model_random(&r) % 3 == 0 ? 2 : 0;
        uint64_t tiles = (end >> zoom) + 1;
        uint64_t first = ((uint64_t)model_random(&r) << 20 ^ model_random(&r)) % tiles;
        uint32_t count = 1 + model_random(&r) % 3;

        if (!ask_tiles(rig, zoom, first, count, depth, depth == 0 ? 60 : 3, o->gaps, coarse))
            return false;
    }
    return true;
}

static void test_random(const char *what, const struct rig_options *o, uint32_t seeds,
                        uint32_t rounds, bool wants_coarse)
{
    uint32_t coarse = 0;
    bool fits = true;

    for (uint32_t seed = 1; seed <= seeds && fits; seed++) {
        struct rig rig;

        fits = rig_make(&rig, o, seed) && trace_agrees(&rig, o, seed, rounds, &coarse);
        if (!fits)
            printf("# %s, seed %u\n", what, seed);
        rig_free(&rig);
    }
    t_report(fits, __FILE__, __LINE__, what);
    if (wants_coarse)
        CHECK(coarse > 0);
}

int main(void)
{
    const uint32_t less = T_SANITIZED ? 4 : 1;

    test_random("small traces",
                &(struct rig_options){
                    .threads = 2, .functions = 9, .max_depth = 6, .events = 400, .step = 50},
                40 / less, 88, false);
    test_random("many chunks",
                &(struct rig_options){.threads = 2,
                                      .functions = 9,
                                      .max_depth = 12,
                                      .events = 4000,
                                      .memory_bytes = 1 << 14,
                                      .step = 80},
                10 / less, 132, false);
    test_random("gaps",
                &(struct rig_options){.threads = 2,
                                      .functions = 9,
                                      .max_depth = 6,
                                      .events = 1000,
                                      .memory_bytes = 1 << 14,
                                      .step = 80,
                                      .gaps = true},
                10 / less, 88, false);
    test_random("a fast clock",
                &(struct rig_options){.threads = 1,
                                      .functions = 9,
                                      .max_depth = 6,
                                      .events = 1000,
                                      .frequency = 2900000000,
                                      .step = 20},
                10 / less, 88, false);
    test_random("a slow clock",
                &(struct rig_options){.threads = 1,
                                      .functions = 9,
                                      .max_depth = 6,
                                      .events = 1000,
                                      .frequency = 24000000,
                                      .step = 9},
                10 / less, 88, false);
    test_random("a clock that changes its rate",
                &(struct rig_options){.threads = 2,
                                      .functions = 9,
                                      .max_depth = 6,
                                      .events = 4000,
                                      .memory_bytes = 1 << 16,
                                      .clocks = 50,
                                      .step = 80},
                10 / less, 88, false);
    test_random(
        "summaries",
        &(struct rig_options){
            .threads = 2, .functions = 50, .max_depth = 8, .events = 400000 / less, .step = 300},
        1, T_SANITIZED ? 44 : 88, true);
    return t_done();
}
