/*
 * Fuzzes the viewer's engine with traces that say anything: it must answer every request, if only
 * with an error, and what it paints must hold together.
 *
 * Build and run: make fuzz
 */
#include "fuzz/rigs/engine_check.h"
#include "fuzz/rigs/trace_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define EVENTS_MAX (1u << 20) /* a compressed chunk can be long: no use in reading all of it */

static const char *const requests[] = {
    "/api/trace",
    "/api/functions?limit=100",
    "/api/overview?width=64",
    "/api/search?q=a",
    "/api/report?limit=10",
    "/api/tree?limit=100&invert=1",
    "/api/sandwich?function=0",
    "/api/histogram?function=0",
    "/api/step?function=0&go=next&at=0",
    "/api/step?function=0&go=previous&at=4611686018427387904",
    "/api/step?function=0&go=longest",
    "/api/states?thread=0",
    "/api/samples?thread=0",
    "/api/marks",
    "/api/left-out",
};

/* Pictures and calls all over a thread. */
static void look(struct nsc_engine *engine, const struct nsc_trace *t, uint32_t thread)
{
    uint64_t end = nsc_clock_ns(nsc_trace_clock(t), nsc_trace_info(t)->end_ticks);
    char request[160];

    for (uint32_t zoom = 0; zoom <= 62; zoom += 6) {
        uint64_t first = zoom >= 62 ? 0 : end >> zoom;

        first = first > 0 && (first >> (62 - zoom)) != 0 ? 0 : first;
        snprintf(request, sizeof request,
                 "/api/tiles?zoom=%u&first=%llu&count=1&threads=%u&depth=%u&rows=%u", zoom,
                 (unsigned long long)(zoom % 4 == 0 ? first : 0), thread, zoom % 12 == 0 ? 500 : 0,
                 zoom % 12 == 0 ? 64 : 8);
        ask_and_check(engine, request, strlen(request));
    }
    for (uint32_t depth = 0; depth < 4; depth++) {
        snprintf(request, sizeof request, "/api/call?thread=%u&at=%llu&depth=%u", thread,
                 (unsigned long long)(end / 4 * depth), depth);
        ask_and_check(engine, request, strlen(request));
    }
}

static void answer(const char *path, unsigned flags)
{
    struct nsc_engine *engine;
    struct nsc_trace *t;

    if (nsc_trace_open(path, flags, &t, NULL) != 0)
        return;
    if (nsc_trace_info(t)->events < EVENTS_MAX && nsc_engine_open(&t, 1, NULL, &engine) == 0) {
        for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
            ask_and_check(engine, requests[i], strlen(requests[i]));
        for (uint32_t i = 0; i < nsc_trace_info(t)->thread_count && i < 3; i++)
            look(engine, t, i);
        nsc_engine_close(engine);
    }
    nsc_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = fuzz_trace_file(data, bytes);

    if (path != NULL) {
        answer(path, 0);
        answer(path, NSC_NST_RECOVER);
    }
    return 0;
}
