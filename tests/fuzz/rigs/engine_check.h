/*
 * engine_check.h - does an answer of the viewer's engine hold together? Aborts if not; shared by
 * its fuzzers.
 */
#ifndef NSC_TESTS_FUZZ_RIGS_ENGINE_CHECK_H
#define NSC_TESTS_FUZZ_RIGS_ENGINE_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "unit/rigs/json_check.h"
#include "viewer/engine/engine.h"

#define TILE_ROWS_MAX 512u

/* Spans are in order and do not overlap. Returns the byte behind the tile. */
static inline const uint8_t *check_tile(const uint8_t *at, const uint8_t *end)
{
    uint32_t spans, gaps, row = 0, next = 0;

    if (end - at < 24)
        abort();
    spans = nsc_span_get32(at + 16);
    gaps = nsc_span_get32(at + 20);
    if ((uint64_t)(end - at - 24) < 12 * ((uint64_t)spans + gaps))
        abort();
    for (at += 24; spans > 0; spans--, at += 12) {
        uint32_t x0 = nsc_span_get32(at) & 0xffff, x1 = nsc_span_get32(at) >> 16;
        uint32_t this_row = nsc_span_get32(at + 4) & 0xffff;

        if (this_row < row || this_row >= TILE_ROWS_MAX || x1 < x0 ||
            (this_row == row && x0 < next))
            abort();
        row = this_row;
        next = x1 + 1;
    }
    return at + 12 * (size_t)gaps;
}

/* Ask, check what comes; returns the status. */
static inline int ask_and_check(struct nsc_engine *engine, const char *request, size_t bytes)
{
    static struct nsc_engine_reply reply;
    const uint8_t *at;
    char *text;

    nsc_engine_answer(engine, request, bytes, &reply);
    if (strcmp(reply.type, "application/octet-stream") == 0) {
        for (at = reply.bytes; at < reply.bytes + reply.count;)
            at = check_tile(at, reply.bytes + reply.count);
        if (at != reply.bytes + reply.count)
            abort();
        return reply.status;
    }
    text = strndup((const char *)reply.bytes, reply.count);
    if (text == NULL || strlen(text) != reply.count || !json_is_valid(text))
        abort();
    free(text);
    return reply.status;
}

#endif
