/*
 * test_ctf_import.c - folders of CTF as a whole: what is lost is told, and what it takes
 * to read one is in proportion to its size, whatever it says.
 */
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "tap.h"
#include "unit/rigs/formats_fixture.h"

static struct nsc_import_result result;
static struct nsc_diag diag;
static bool keep; /* the trace that import() makes */

#define HEAD                                                                                       \
    "/* CTF 1.8 */\ntypealias integer { size = 8; } := u8;\n"                                      \
    "typealias integer { size = 32; align = 8; } := u32;\n"                                        \
    "trace { major = 1; minor = 8; byte_order = le; };\n"
#define EVENTS                                                                                     \
    "event { name = \"func_entry\"; id = 0; fields := struct { u8 function; }; };\n"               \
    "event { name = \"func_exit\"; id = 1; fields := struct { u8 function; }; };\n"
#define ONE_THREAD HEAD "stream { event.header := struct { u8 id; u8 timestamp; }; };\n" EVENTS
#define ALL_THREADS                                                                                \
    HEAD "stream { event.header := struct { u8 id; u32 timestamp; };\n"                            \
         "event.context := struct { u32 vpid; u32 vtid; }; };\n" EVENTS

/* Import a folder of these two files. */
static int import(const char *metadata, const void *stream, size_t bytes)
{
    char folder[PATH_MAX], out[PATH_MAX];
    int error;

    snprintf(folder, sizeof folder, "%s", fx_path("in"));
    snprintf(out, sizeof out, "%s", fx_path("out.nst"));
    mkdir(folder, 0700);
    fx_write("in/metadata", metadata, strlen(metadata));
    fx_write("in/stream", stream, bytes);
    diag = (struct nsc_diag){0};
    result = (struct nsc_import_result){0};
    error = nsc_formats_import(folder, out, NULL, &result, &diag);
    unlink(fx_path("in/metadata"));
    unlink(fx_path("in/stream"));
    rmdir(folder);
    if (!keep)
        unlink(out);
    return error;
}

static bool told(const char *part)
{
    for (uint32_t i = 0; i < result.notes.count; i++)
        if (strstr(result.notes.line[i], part) != NULL)
            return true;
    return false;
}

static void test_told(void)
{
    static const uint8_t whole[] = {0, 10, 1, 0, 11, 2, 1, 12, 2, 1, 13, 1};
    static const uint8_t parts[] = {0, 10, 1, 0, 11, 2, 1, 12, 3, 0, 13, 1, 0, 14, 1};

    CHECK(import(ONE_THREAD, whole, sizeof whole) == 0);
    CHECK_U64(result.calls, 2);
    CHECK_U64(result.notes.count, 1);
    CHECK(told("which program is at the addresses of 2 functions"));
    CHECK(import(ONE_THREAD, parts, sizeof parts) == 0);
    CHECK_U64(result.calls, 5);
    CHECK(told("1 call ends that nobody saw begin"));
    CHECK(told("2 calls have no end"));
}

/* When the trace's only call began, by the calendar (0: not known) and by the trace's ticks. */
static struct nsc_clock_point clock_of(const char *metadata, const void *stream, size_t bytes,
                                       uint64_t *first_ns)
{
    struct nsc_clock_point zero = {0};
    struct nsc_trace *t;

    *first_ns = 0;
    keep = true;
    CHECK(import(metadata, stream, bytes) == 0);
    CHECK_STR(diag.message, "");
    keep = false;
    if (CHECK(nsc_trace_open(fx_path("out.nst"), 0, &t, &diag) == 0)) {
        zero = nsc_trace_zero(t);
        *first_ns = nsc_trace_info(t)->start_ticks;
        nsc_trace_close(t);
    }
    unlink(fx_path("out.nst"));
    return zero;
}

#define CLOCKED                                                                                    \
    "typealias integer { size = 32; map = clock.a.value; } := ta;\n"                               \
    "typealias integer { size = 32; map = clock.b.value; } := tb;\n"                               \
    "trace { packet.header := struct { u32 stream_id; }; };\n"                                     \
    "stream { id = 0; packet.context := struct { ta timestamp_begin; };\n"                         \
    "  event.header := struct { u8 id; ta timestamp; }; };\n"                                      \
    "stream { id = 1; packet.context := struct { tb timestamp_begin; };\n"                         \
    "  event.header := struct { u8 id; tb timestamp; }; };\n"                                      \
    "event { name = f_enter; id = 0; stream_id = 0; };\n"                                          \
    "event { name = f_exit; id = 1; stream_id = 0; };\n"                                           \
    "event { name = g_enter; id = 0; stream_id = 1; };\n"                                          \
    "event { name = g_exit; id = 1; stream_id = 1; };\n"

/* Offsets of clocks may be negative, and those of two clocks far apart in either order. */
static void test_clocks(void)
{
    /* of stream 0, or 1: begin, entry at 100, exit at 200 */
    static const uint8_t a[] = {0, 0, 0, 0, 100, 0, 0, 0, 0, 100, 0, 0, 0, 1, 200, 0, 0, 0};
    static const uint8_t b[] = {1, 0, 0, 0, 100, 0, 0, 0, 0, 100, 0, 0, 0, 1, 200, 0, 0, 0};
    static const char *const early_late[] = {
        HEAD "clock { name = a; freq = 1000; offset_s = 100; offset = -50; };\n"
             "clock { name = b; freq = 1000; offset_s = 1; offset = 7; };\n" CLOCKED,
        HEAD "clock { name = b; freq = 1000; offset_s = 1; offset = 7; };\n"
             "clock { name = a; freq = 1000; offset_s = 100; offset = -50; };\n" CLOCKED};
    uint64_t first;

    for (int i = 0; i < 2; i++) {
        CHECK_U64(clock_of(early_late[i], b, sizeof b, &first).realtime_ns, 1107000000u);
        CHECK_U64(first, 100000000u);
        CHECK_U64(clock_of(early_late[i], a, sizeof a, &first).realtime_ns, 100050000000u);
        CHECK_U64(first, 99043000000u); /* 100 - 0.05 + 0.1 - 1.007 s */
    }
    CHECK_U64(clock_of(HEAD "clock { name = a; freq = 1000; offset_s = -3; };\n"
                            "clock { name = b; };\n" CLOCKED,
                       a, sizeof a, &first)
                  .realtime_ns,
              0);
    CHECK_U64(first, 100000000u);
    CHECK(import(HEAD "clock { name = a; freq = 1; }; clock { name = b; freq = 1; offset_s = "
                      "9223372036854775807; };\n" CLOCKED,
                 b, sizeof b) == 0);
    CHECK(told("2 events are later than 2^62 ns"));
}

/* ---- Work ------------------------------------------------------------------------------------ */

static uint8_t *put32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value); /* on a little-endian machine */
    return at + sizeof value;
}

/* Seconds of the processor that @count threads take, each of a process of its own or all of one. */
static double time_of_threads(uint32_t count, bool processes)
{
    uint8_t *data = malloc((size_t)count * 28), *at = data;
    clock_t start = clock();

    for (uint32_t i = 0; i < 2 * count; i++) {
        *at++ = i % 2 != 0;
        at = put32(at, i);
        at = put32(at, processes ? i / 2 + 1 : 1);
        at = put32(at, i / 2 + 1);
        *at++ = 7;
    }
    CHECK(import(ALL_THREADS, data, (size_t)(at - data)) == 0);
    free(data);
    CHECK_U64(result.calls, count);
    CHECK_U64(result.threads, count);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Eight times as many take eight times as long, not 64. */
static void test_threads(bool processes)
{
    double few = time_of_threads(12500, processes), many = time_of_threads(100000, processes);

    if (!CHECK(many < few * 24))
        printf("# 12,500: %.2f s, 100,000: %.2f s\n", few, many);
}

/* Enumerations whose ranges lie in one that holds all, and a choice among as many. */
static void test_labels(void)
{
    const uint32_t count = 20000, events = 50000;
    size_t room = (size_t)count * 80 + 4096;
    char *text = malloc(room);
    uint8_t *data = malloc((size_t)events * 6), *at = data;
    size_t used = (size_t)snprintf(text, room,
                                   HEAD "stream { event.header := struct { u8 id; u8 timestamp; };"
                                        "};\nenum e : u32 { all = 0 ... 4000000000");
    clock_t start = clock();

    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used, ", l%u = %u ... %u", i, 4 * i + 1,
                                 4 * i + 2);
    used += (size_t)snprintf(text + used, room - used,
                             " };\nevent { name = func_entry; id = 0; fields := struct { enum e "
                             "function; variant <function> {");
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used, "struct {} l%u;", i);
    snprintf(text + used, room - used, "struct {} all; } v; }; };\n");
    for (uint32_t i = 0; i < events; i++) {
        *at++ = 0;
        *at++ = 0;
        at = put32(at, i % 3 == 0 ? 3999999999u : 4 * count - i % 2);
    }
    CHECK(import(text, data, (size_t)(at - data)) == 0);
    CHECK_STR(diag.message, "");
    CHECK_U64(result.calls, events);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 4);
    free(data);
    free(text);
}

/* Names in pairs: each finds its other half without a look at all. */
static void test_pairs(void)
{
    static const uint8_t data[] = {0, 0, 1, 1};
    const uint32_t count = 20000;
    size_t room = (size_t)count * 160 + 4096;
    char *text = malloc(room);
    size_t used = (size_t)snprintf(text, room,
                                   HEAD "stream { event.header := struct { u8 id; u8 "
                                        "timestamp; }; };\n");
    clock_t start = clock();

    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used,
                                 "event { name = \"f%u_enter\"; id = %u; };\n"
                                 "event { name = \"f%u_exit\"; id = %u; };\n"
                                 "event { name = \"g%u_exit\"; id = %u; };\n",
                                 i, 3 * i, i, 3 * i + 1, i, 3 * i + 2);
    CHECK(import(text, data, sizeof data) == 0);
    CHECK_U64(result.calls, 1);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 4);
    free(text);
}

/* Metadata whose references look at one another's fields, all at all. */
static void test_references(void)
{
    const uint32_t count = 40000;
    size_t room = (size_t)count * 32 + 4096;
    char *text = malloc(room);
    size_t used = (size_t)snprintf(text, room,
                                   HEAD "stream { event.header := struct { u8 id; };"
                                        "};\nevent { id = 0; fields := struct {\n");

    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, room - used, "u8 a%u; u8 b[a%u];\n", i, i);
    snprintf(text + used, room - used, "}; };\n");
    CHECK(import(text, "", 1) == -ENOTSUP);
    CHECK(strstr(diag.message, "too many references") != NULL);
    free(text);
}

int main(void)
{
    fx_begin();
    test_told();
    test_clocks();
    test_threads(false);
    test_threads(true);
    test_labels();
    test_pairs();
    test_references();
    fx_end();
    return t_done();
}
