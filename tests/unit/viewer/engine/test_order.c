/*
 * test_order.c - an answer depends on the trace and the request only: whatever was asked
 * before, in whatever order, and however little the engine may keep, it is the same to the byte.
 */
#include <fcntl.h>

#include "base/crc32c.h"
#include "base/span.h"
#include "tap.h"
#include "trace/read/reader_state.h"
#include "unit/rigs/engine_rig.h"

#define REQUESTS (T_SANITIZED ? 40u : 120u)
#define ORDERS   (T_SANITIZED ? 1u : 2u)

struct asked {
    char request[160];
    unsigned status;
    uint8_t *bytes;
    size_t count;
};

struct order_rig {
    struct rig rig;
    const struct rig_options *options;
    uint64_t end_ns; /* of the trace */
    uint32_t flags;  /* for opening it */
    struct asked asked[REQUESTS];
};

/* ---- Requests -------------------------------------------------------------------------------- */

/* Mostly near each other in time and zoom, as a user's are, so that they share what is kept. */
static void make_tiles(const struct order_rig *o, struct model_random *r, char *out, size_t room)
{
    uint32_t zoom = model_random(r) % 4 == 0 ? model_random(r) % 44 : 8 + model_random(r) % 16;
    uint64_t tiles = (o->end_ns >> zoom) + 1;
    uint64_t first = model_random(r) % 3 == 0 ? tiles / 2 : model_random(r) % tiles;
    uint32_t rows = model_random(r) % 4 == 0 ? 512 : 1 + model_random(r) % 20;

    snprintf(out, room, "/api/tiles?zoom=%u&first=%llu&count=%u&threads=%s&depth=%u&rows=%u", zoom,
             (unsigned long long)first, 1 + model_random(r) % 3,
             o->options->threads > 1 && model_random(r) % 2 == 0 ? "1,0" : "0",
             model_random(r) % 3 == 0 ? model_random(r) % 9 : 0, rows);
}

static void make_other(const struct order_rig *o, struct model_random *r, char *out, size_t room)
{
    unsigned long long at = model_random(r) % (o->end_ns + 1);
    unsigned long long to = at + model_random(r) % (o->end_ns + 1);
    uint32_t function = model_random(r) % o->options->functions;

    switch (model_random(r) % 12) {
    case 0:
        snprintf(out, room, "/api/report?limit=50&from=%llu&to=%llu", at, to);
        break;
    case 1:
        snprintf(out, room, "/api/tree?limit=100&from=%llu&to=%llu", at, to);
        break;
    case 2:
        snprintf(out, room, "/api/step?function=%u&at=%llu&go=next", function, at);
        break;
    case 3:
        snprintf(out, room, "/api/step?function=%u&go=longest&nth=2", function);
        break;
    case 4:
        snprintf(out, room, "/api/sandwich?function=%u", function);
        break;
    case 5:
        snprintf(out, room, "/api/histogram?function=%u&limit=3&to=%llu", function, to);
        break;
    case 6:
        snprintf(out, room, "/api/search?q=%u", function);
        break;
    case 7:
        snprintf(out, room, "/api/call?thread=0&at=%llu&depth=%u", at, model_random(r) % 4);
        break;
    case 8:
        snprintf(out, room, "/api/trace");
        break;
    case 9:
        snprintf(out, room, "/api/shares?from=%llu", at);
        break;
    default:
        snprintf(out, room, "/api/overview?width=%u", 1 + model_random(r) % 1500);
        break;
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* An engine that was never asked, over the file opened anew. */
static bool open_engine(struct order_rig *o, size_t cache_bytes)
{
    struct nsc_engine_options options = {.size = sizeof options, .cache_bytes = cache_bytes};
    struct nsc_diag diag = {0};

    nsc_engine_close(o->rig.engine);
    nsc_trace_close(o->rig.trace);
    o->rig.engine = NULL;
    o->rig.trace = NULL;
    if (nsc_trace_open(rig_path, o->flags, &o->rig.trace, &diag) == 0 &&
        nsc_engine_open(&o->rig.trace, 1, &options, &o->rig.engine) == 0)
        return true;
    printf("# %s\n", diag.message);
    return false;
}

/* What each request is answered by an engine that was asked nothing else. */
static bool ask_alone(struct order_rig *o)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        struct asked *a = &o->asked[i];

        if (!open_engine(o, 0))
            return false;
        a->status = rig_ask(&o->rig, "%s", a->request);
        a->count = o->rig.reply.count;
        a->bytes = malloc(a->count + 1);
        if (a->bytes == NULL)
            abort();
        memcpy(a->bytes, o->rig.reply.bytes, a->count + 1);
    }
    return true;
}

static bool is_same(struct order_rig *o, const struct asked *a)
{
    unsigned status = rig_ask(&o->rig, "%s", a->request);
    size_t i = 0;

    if (status == a->status && o->rig.reply.count == a->count &&
        memcmp(o->rig.reply.bytes, a->bytes, a->count) == 0)
        return true;
    while (i < a->count && i < o->rig.reply.count && o->rig.reply.bytes[i] == a->bytes[i])
        i++;
    printf("# %s: status %u, %zu bytes; alone: status %u, %zu bytes; they differ from byte %zu\n",
           a->request, status, o->rig.reply.count, a->status, a->count, i);
    return false;
}

/* All of them in a random order, some repeatedly. */
static bool ask_mixed(struct order_rig *o, struct model_random *r, size_t cache_bytes)
{
    uint32_t order[REQUESTS];

    if (!open_engine(o, cache_bytes))
        return false;
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint32_t k = model_random(r) % (i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (uint32_t i = 0; i < REQUESTS; i++) {
        if (!is_same(o, &o->asked[order[i]]) ||
            (i % 5 == 0 && !is_same(o, &o->asked[order[model_random(r) % (i + 1)]])))
            return false;
    }
    return true;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

/* Make a part of the file unreadable, or cut it off there. */
static bool damage(bool cut)
{
    static const char zeros[2000];
    FILE *file = fopen(rig_path, "r+");
    bool done = file != NULL && fseek(file, 0, SEEK_END) == 0;
    long bytes = done ? ftell(file) : 0;

    done = done && bytes > 20000;
    if (done && cut)
        done = ftruncate(fileno(file), bytes * 2 / 3) == 0;
    else if (done)
        done = fseek(file, bytes / 2, SEEK_SET) == 0 &&
               fwrite(zeros, 1, sizeof zeros, file) == sizeof zeros;
    return file != NULL && fclose(file) == 0 && done;
}

/* Have the chunk's opening stack say that its innermost call began so early that others of its
 * depth were still open. */
static bool backdate(const struct nsc_chunk *chunk, int fd)
{
    struct nsc_buffer plain = {0}, packed = {0};
    struct nsc_head_fields fields;
    struct nsc_block block;
    uint8_t header[NSC_FORMAT_BLOCK_BYTES];
    bool done = nsc_block_header_read(fd, UINT64_MAX, chunk->offset, &block, NULL) == 0 &&
                nsc_block_payload_read(fd, &block, &plain, &packed, NULL) == 0 &&
                nsc_head_parse(&block, &plain, &fields, NULL) == 0;

    if (done) {
        /* The first number of the rest: it keeps its length. */
        uint8_t *at = plain.data + (plain.used - nsc_span_left(&fields.rest));

        while (*at >= 0x80)
            *at++ = 0xff;
        *at = 0x7f;
        block.payload_crc = nsc_base_crc32c(0, plain.data, plain.used);
        nsc_block_pack(header, &block);
        done = pwrite(fd, header, sizeof header, (off_t)block.offset) == sizeof header &&
               pwrite(fd, plain.data, plain.used, (off_t)(block.offset + sizeof header)) ==
                   (ssize_t)plain.used;
    }
    nsc_buffer_free(&plain);
    nsc_buffer_free(&packed);
    return done;
}

static bool backdate_chunks(struct nsc_trace *t)
{
    int fd = open(rig_path, O_RDWR | O_CLOEXEC);
    uint32_t changed = 0, count;
    const struct nsc_chunk *chunks = nsc_trace_chunks(t, 0, &count);

    for (uint32_t i = 1; fd >= 0 && i < count; i++)
        if (chunks[i].depth > chunks[i].common && backdate(&chunks[i], fd))
            changed++;
    return fd >= 0 && close(fd) == 0 && changed > 0;
}

enum harm { WHOLE, CUT, HOLED, LYING };

static bool do_harm(struct nsc_trace *t, enum harm harm)
{
    if (harm == LYING)
        return backdate_chunks(t);
    return harm == WHOLE || damage(harm == CUT);
}

static bool is_independent(const struct rig_options *options, uint64_t seed, enum harm harm)
{
    static const size_t cache_bytes[] = {1, 100000, 1 << 20, 0};
    struct order_rig o = {.options = options,
                          .flags = harm == CUT || harm == HOLED ? NSC_NST_RECOVER : 0};
    struct model_random r = {seed};
    bool fits = rig_make(&o.rig, options, seed) && do_harm(o.rig.trace, harm) && open_engine(&o, 0);

    if (fits)
        o.end_ns =
            nsc_clock_ns(nsc_trace_clock(o.rig.trace), nsc_trace_info(o.rig.trace)->end_ticks);
    for (uint32_t i = 0; i < REQUESTS; i++)
        (i % 4 == 3 ? make_other : make_tiles)(&o, &r, o.asked[i].request,
                                               sizeof o.asked[i].request);
    fits = fits && ask_alone(&o);
    for (uint32_t i = 0; fits && i < ORDERS * (sizeof cache_bytes / sizeof cache_bytes[0]); i++)
        fits = ask_mixed(&o, &r, cache_bytes[i / ORDERS]);
    for (uint32_t i = 0; i < REQUESTS; i++)
        free(o.asked[i].bytes);
    rig_free(&o.rig);
    unlink(rig_path);
    return fits;
}

static void test_kind(const char *what, struct rig_options options, uint32_t seeds, enum harm harm)
{
    bool fits = true;

    options.keep_file = true;
    for (uint32_t seed = 1; seed <= seeds && fits; seed++) {
        fits = is_independent(&options, seed, harm);
        if (!fits)
            printf("# %s, seed %u\n", what, seed);
    }
    t_report(fits, __FILE__, __LINE__, what);
}

int main(void)
{
    const uint32_t less = T_SANITIZED ? 4 : 1;
    struct rig_options small = {
        .threads = 2, .functions = 9, .max_depth = 6, .events = 1000, .step = 50};
    struct rig_options chunks = {.threads = 2,
                                 .functions = 9,
                                 .max_depth = 12,
                                 .events = 8000,
                                 .memory_bytes = 1 << 14,
                                 .step = 80};
    struct rig_options gaps = chunks, fast = chunks, slow = chunks, wide = chunks, deep = chunks;

    gaps.gaps = true;
    fast.frequency = 2900000000;
    slow.frequency = 24000000;
    slow.step = 9;
    wide.events = 80000 / less;
    wide.step = 300;
    wide.memory_bytes = 0;
    deep.events = 60000 / less;
    deep.max_depth = 1000;
    deep.memory_bytes = 1 << 18;
    test_kind("small traces", small, 12 / less, WHOLE);
    test_kind("many chunks", chunks, 8 / less, WHOLE);
    test_kind("gaps", gaps, 8 / less, WHOLE);
    test_kind("a fast clock", fast, 4 / less, WHOLE);
    test_kind("a slow clock", slow, 4 / less, WHOLE);
    test_kind("summaries", wide, 1, WHOLE);
    test_kind("deep calls", deep, 1, WHOLE);
    test_kind("files that were cut off", gaps, 8 / less, CUT);
    test_kind("files with a hole", gaps, 8 / less, HOLED);
    test_kind("stacks that contradict the calls before", chunks, 8 / less, LYING);
    return t_done();
}
