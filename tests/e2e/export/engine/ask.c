/*
 * ask - answers requests of the viewer (docs/viewer-protocol.md) about one trace or two, without a
 * server. For end-to-end tests and for looking.
 *
 * usage: ask [-n TIMES | -b] TRACE [TRACE] REQUEST
 *
 * The answer goes to stdout; tiles are told in text, a span a line; with -b, as the bytes that they
 * are, and there is no SQL. Exit status: 0 if the answer's status is 200, 1 if it is another (which
 * stderr tells), 2 if the trace cannot be read. With -n the request is asked so often, and stderr
 * tells the CPU time that each took.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/span.h"
#include "viewer/engine/engine.h"
#include "viewer/server/handle_query.h"

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const uint8_t *print_tile(const uint8_t *at)
{
    uint32_t spans = nsc_span_get32(at + 16), gaps = nsc_span_get32(at + 20);

    printf("tile thread=%u number=%u flags=%u depth=%u spans=%u gaps=%u\n", nsc_span_get32(at),
           nsc_span_get32(at + 4), nsc_span_get32(at + 8), nsc_span_get32(at + 12), spans, gaps);
    for (at += 24; spans > 0; spans--, at += 12)
        printf("span row=%u x0=%u x1=%u flags=%u function=%u\n", nsc_span_get32(at + 4) & 0xffff,
               nsc_span_get32(at) & 0xffff, nsc_span_get32(at) >> 16, nsc_span_get32(at + 4) >> 16,
               nsc_span_get32(at + 8));
    for (; gaps > 0; gaps--, at += 12)
        printf("gap x0=%u x1=%u lost=%u\n", nsc_span_get32(at) & 0xffff, nsc_span_get32(at) >> 16,
               nsc_span_get32(at + 4));
    return at;
}

static int print(const struct nsc_engine_reply *reply, bool as_bytes)
{
    const uint8_t *at = reply->bytes, *end = reply->bytes + reply->count;

    if (!as_bytes && reply->status == 200 && strcmp(reply->type, "application/octet-stream") == 0)
        while (at < end)
            at = print_tile(at);
    else
        fwrite(reply->bytes, 1, reply->count, stdout);
    if (reply->status != 200)
        fprintf(stderr, "status %d\n", reply->status);
    return reply->status == 200 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct nsc_trace *traces[NSC_ENGINE_TRACES_MAX] = {NULL};
    struct nsc_engine_reply reply = {0};
    struct nsc_engine *engine;
    const char *request = argc > 1 ? argv[argc - 1] : "";
    int times = 1, first = 1, status;
    bool as_bytes = argc > 3 && strcmp(argv[1], "-b") == 0;
    size_t count = 0;

    if (argc > 3 && strcmp(argv[1], "-n") == 0) {
        times = atoi(argv[2]);
        first = 3;
    } else if (as_bytes) {
        first = 2;
    }
    for (int i = first; i < argc - 1 && count < NSC_ENGINE_TRACES_MAX; i++) {
        struct nsc_diag diag = {0};

        if (nsc_trace_open(argv[i], NSC_NST_RECOVER, &traces[count++], &diag) != 0) {
            fprintf(stderr, "%s\n", diag.message);
            return 2;
        }
    }
    if (nsc_engine_open(traces, count, NULL, &engine) != 0)
        return 2;
    if (!as_bytes && nsc_query_handler() != NULL &&
        nsc_engine_add(engine, nsc_query_handler(), 1) != 0)
        return 2;
    for (int i = 0; i < times; i++) {
        double from = now_ms();

        nsc_engine_answer(engine, request, strlen(request), &reply);
        if (times > 1)
            fprintf(stderr, "%.3f ms CPU, %zu bytes\n", now_ms() - from, reply.count);
    }
    status = print(&reply, as_bytes);
    nsc_engine_reply_free(&reply);
    nsc_engine_close(engine);
    for (size_t i = 0; i < count; i++)
        nsc_trace_close(traces[i]);
    return status;
}
