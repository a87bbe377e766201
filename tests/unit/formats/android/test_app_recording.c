/*
 * test_app_recording.c - recordings of apps, made here word by word: what they say becomes a trace,
 * what they cannot say is told, and none of it takes more than its size.
 */
#include <errno.h>

#include "abi/app_recording.h"
#include "tap.h"
#include "unit/rigs/formats_fixture.h"

static struct nsc_import_result result;
static struct nsc_diag diag;
static uint8_t data[1u << 16];
static size_t bytes;
static uint64_t words;
static uint32_t threads;

#define EXIT_OF(id)        ((uint64_t)(id) << 32 | NSC_APP_EXIT_BIT)
#define ENTER_OF(id)       ((uint64_t)(id) << 32)
#define ESCAPE(code, what) ((uint64_t)(code) << 32 | (what))

static void put(const void *what, size_t size)
{
    memcpy(data + bytes, what, size); /* on a little-endian machine */
    bytes += size;
}

static void begin(uint64_t realtime_ns)
{
    struct nsc_app_header h = {
        .magic = NSC_APP_MAGIC,
        .version = NSC_APP_VERSION,
        .header_bytes = sizeof h,
        .event_bytes = 8,
        .timer = NSC_APP_TIMER_NS,
        .pid = 7,
        .frequency_hz = 1000000000,
        .start = {1000, 1000, 1000, realtime_ns},
        .process = "com.example",
    };

    bytes = 0;
    words = threads = 0;
    put(&h, sizeof h);
}

static void put_block(uint32_t kind, uint32_t number, uint32_t high, const void *what, size_t size)
{
    struct nsc_app_block b = {kind, (uint32_t)size, number, high};

    put(&b, sizeof b);
    put(what, size);
}

static void put_thread(uint32_t tid, uint64_t lost)
{
    struct nsc_app_thread t = {.start_ticks = 1000,
                               .end_ticks = 2000,
                               .lost = lost,
                               .tid = tid,
                               .ended = 1,
                               .name = "a name that fills its field: 32."};

    put_block(NSC_APP_BLOCK_THREAD, threads++, 0, &t, sizeof t);
}

static void put_events(uint32_t high, const uint64_t *events, size_t count)
{
    put_block(NSC_APP_BLOCK_EVENTS, threads - 1, high, events, count * sizeof *events);
    words += count;
}

static void put_end(void)
{
    struct nsc_app_end e = {.end = {9000, 9000, 9000, 0}, .words = words, .threads = threads};

    put_block(NSC_APP_BLOCK_END, 0, 0, &e, sizeof e);
}

static int import(size_t size)
{
    struct nsc_import_options options = {.size = sizeof options, .overwrite = true};

    diag = (struct nsc_diag){0};
    result = (struct nsc_import_result){0};
    return nsc_formats_import(fx_write("in.nsapp", (const char *)data, size), fx_path("out.nst"),
                              &options, &result, &diag);
}

static bool told(const char *part)
{
    for (uint32_t i = 0; i < result.notes.count; i++)
        if (strstr(result.notes.line[i], part) != NULL)
            return true;
    return false;
}

/* The events of all threads, "1( 1)" for a call of method 1, with what else is there. */
static const char *calls(void)
{
    static const char sign[] = "()!<?";
    static char text[4096];
    struct nsc_trace *t = NULL;
    const struct nsc_event *e;
    struct nsc_cursor *c;
    size_t n = 0, used = 0;

    text[0] = '\0';
    if (nsc_trace_open(fx_path("out.nst"), 0, &t, &diag) != 0)
        return diag.message;
    for (uint32_t i = 0; i < nsc_trace_info(t)->thread_count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u:", i > 0 ? " " : "",
                                 nsc_trace_thread(t, i)->tid);
        CHECK(nsc_cursor_open(t, i, 0, &c, &diag) == 0);
        while (nsc_cursor_next(c, &e, &n, &diag) == 1)
            for (size_t k = 0; k < n && used < sizeof text - 64; k++) {
                const char *name = e[k].kind == NSC_EVENT_LOST
                                       ? ""
                                       : nsc_trace_function(t, e[k].function)->name + 7;

                used += (size_t)snprintf(
                    text + used, sizeof text - used, " %s%c%llu", name, sign[e[k].kind],
                    e[k].kind == NSC_EVENT_LOST ? (unsigned long long)e[k].value
                                                : (unsigned long long)e[k].ticks);
            }
        nsc_cursor_close(c);
    }
    nsc_trace_close(t);
    return text;
}

/* One thread with these events. */
static const char *calls_of(const uint64_t *events, size_t count, uint64_t lost)
{
    begin(5000);
    put_thread(70, lost);
    put_events(0, events, count);
    put_end();
    CHECK(import(bytes) == 0);
    CHECK_STR(diag.message, "");
    return calls();
}
#define CALLS_OF(lost, ...)                                                                        \
    calls_of((const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8, lost)

static void test_calls(void)
{
    CHECK_STR(
        CALLS_OF(0, ENTER_OF(1) | 1100, ENTER_OF(2) | 1200, EXIT_OF(2) | 1300, EXIT_OF(1) | 1400),
        "70: 1(1100 2(1200 2)1300 1)1400");
    CHECK(told("no table of methods"));
    /* A place that was never filled, with and without its lower half. */
    CHECK_STR(CALLS_OF(0, ENTER_OF(1) | 1100, 0, 77, EXIT_OF(1) | 1400), "70: 1(1100 1)1400");
    /* An exit that passes frames by ends them; one that nobody saw begin ends them all. */
    CHECK_STR(CALLS_OF(0, ENTER_OF(1) | 1100, ENTER_OF(2) | 1200, EXIT_OF(1) | 1400),
              "70: 1(1100 2(1200 2!1400 1)1400");
    CHECK_STR(CALLS_OF(0, ENTER_OF(1) | 1100, EXIT_OF(3) | 1200), "70: 1(1100 1!1200 3<1200");
    /* The largest id, and ids that no event has. */
    CHECK_STR(CALLS_OF(0, ENTER_OF(NSC_APP_ID_MAX) | 1100, EXIT_OF(NSC_APP_ID_MAX) | 1200),
              "70: 2147418111(1100 2147418111)1200");
    CALLS_OF(0, ESCAPE(0x7fffffffu, 5), ENTER_OF(1) | 1100);
    CHECK(told("1 record of an unknown sort"));
    CALLS_OF(0, ENTER_OF(1) | 1100, EXIT_OF(1) | 1050);
    CHECK(told("1 event goes back in time"));
}

static void test_losses(void)
{
    struct nsc_trace *t;

    CHECK_STR(CALLS_OF(9, ENTER_OF(1) | 1100, ESCAPE(NSC_APP_ESC_LOST, 4), EXIT_OF(1) | 1400),
              "70: 1(1100 ?4 1)1400 ?5");
    CHECK(nsc_trace_open(fx_path("out.nst"), 0, &t, &diag) == 0);
    CHECK_U64(nsc_trace_info(t)->lost, 9);
    CHECK_STR(nsc_trace_thread(t, 0)->name, "a name that fills its field: 32.");
    CHECK_STR(nsc_trace_process(t, 0)->name, "com.example");
    nsc_trace_close(t);
}

/* Ticks beyond 32 bits, across a block and within one; a tid that two threads had. */
static void test_time_and_threads(void)
{
    const uint64_t first[] = {ENTER_OF(1) | 0xfffffff0u, ESCAPE(NSC_APP_ESC_CLOCK, 1),
                              ENTER_OF(2) | 5};
    const uint64_t second[] = {EXIT_OF(2) | 7, EXIT_OF(1) | 8};

    begin(5000);
    put_thread(70, 0);
    put_events(0, first, 3);
    put_events(2, second, 2);
    put_thread(70, 0);
    put_events(0, second, 0);
    put_end();
    CHECK(import(bytes) == 0);
    CHECK_STR(calls(), "70: 1(4294967280 2(4294967301 2)8589934599 1)8589934600 70:");
}

/* A phone whose calendar is before 1970 has recorded all the same. */
static void test_calendar(void)
{
    const uint64_t events[] = {ENTER_OF(1) | 1100};

    begin((uint64_t)-86400000000000);
    put_thread(70, 0);
    put_events(0, events, 1);
    put_end();
    CHECK(import(bytes) == 0);
    CHECK_STR(diag.message, "");
    CHECK_U64(result.calls, 1);
}

/* A recording that is cut anywhere, and one with any byte wrong, ends well. */
static void test_damage(void)
{
    const uint64_t events[] = {ENTER_OF(1) | 1100, ENTER_OF(2) | 1200, EXIT_OF(2) | 1300};
    unsigned taken = 0, refused = 0;
    size_t whole;

    begin(5000);
    put_thread(70, 0);
    put_events(0, events, 3);
    put_end();
    whole = bytes;
    for (size_t cut = 0; cut < whole; cut++) {
        int error = import(cut);

        taken += error == 0;
        refused += error != 0 && diag.message[0] != '\0' && strchr(diag.message, '\n') == NULL;
    }
    CHECK_U64(taken + refused, whole);
    CHECK(import(whole - 1) == 0);
    CHECK(told("a block that is cut"));
    CHECK_U64(result.calls, 2);
    CHECK(import(sizeof(struct nsc_app_header) - 1) == -EBADMSG);
    taken = refused = 0;
    for (size_t at = 8; at < whole; at++) {
        data[at] ^= 0xff;
        if (import(whole) == 0)
            taken++;
        else
            refused += diag.message[0] != '\0';
        data[at] ^= 0xff;
    }
    CHECK_U64(taken + refused, whole - 8);
    CHECK(import(whole) == 0);
}

int main(void)
{
    fx_begin();
    test_calls();
    test_losses();
    test_time_and_threads();
    test_calendar();
    test_damage();
    fx_end();
    return t_done();
}
