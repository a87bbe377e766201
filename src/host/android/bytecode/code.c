/*
 * code.c - read, check and write a code item. See code.h.
 */
#include "android/bytecode/code.h"

#include "android/bytecode/debug_info.h"
#include "android/bytecode/insn_scan.h"
#include "base/span.h"
#include "util/array.h"
#include "util/search.h"

#define HEADER_BYTES 16
#define TRY_BYTES    8

/* State while a code item is read. */
struct reader {
    struct nsc_dex_code *code;
    const uint8_t *item;
    size_t bytes;
    size_t handlers; /* offset of the encoded handler lists */
    struct nsc_diag *diag;
};

/* Skip one encoded_catch_handler. Returns false if it is truncated. */
static bool skip_handler_list(struct nsc_span *span)
{
    int64_t size = nsc_span_sleb32(span);
    int64_t typed = size < 0 ? -size : size;

    for (int64_t i = 0; i < typed && !span->bad; i++) {
        nsc_span_leb32(span);
        nsc_span_leb32(span);
    }
    if (size <= 0)
        nsc_span_leb32(span);
    return !span->bad;
}

static size_t tries_at(uint32_t size)
{
    return HEADER_BYTES + (size_t)size * 2 + (size & 1 ? 2 : 0);
}

size_t nsc_dex_code_bytes(const uint8_t *item, size_t left)
{
    uint32_t size, tries, lists;
    struct nsc_span span;
    size_t at;

    if (left < HEADER_BYTES)
        return 0;
    tries = nsc_span_get16(item + 6);
    size = nsc_span_get32(item + 12);
    if ((uint64_t)size * 2 > left - HEADER_BYTES)
        return 0;
    if (tries == 0)
        return HEADER_BYTES + (size_t)size * 2;
    at = tries_at(size) + (size_t)tries * TRY_BYTES;
    if (at >= left)
        return 0;
    span = nsc_span_of(item + at, left - at);
    lists = nsc_span_leb32(&span);
    for (uint32_t i = 0; i < lists && !span.bad; i++)
        skip_handler_list(&span);
    return span.bad ? 0 : (size_t)(span.at - item);
}

static int bad_at(const struct reader *r, uint64_t unit, const char *what)
{
    return nsc_diag_set(r->diag, HEADER_BYTES + unit * 2, EBADMSG, "code: %s at unit %llu", what,
                        (unsigned long long)unit);
}

/* Read one list of handlers. */
static int read_list(struct reader *r, struct nsc_span *span, struct nsc_dex_catches *list,
                     uint32_t *room)
{
    struct nsc_dex_code *code = r->code;
    int64_t size = nsc_span_sleb32(span);
    uint64_t typed = (uint64_t)(size < 0 ? -size : size);
    uint64_t all = typed + (size <= 0);

    list->first = code->catch_count;
    for (uint64_t i = 0; i < all && !span->bad; i++) {
        struct nsc_dex_catch *more =
            nsc_array_grow(code->catches, room, code->catch_count, sizeof *more);

        if (more == NULL)
            return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
        code->catches = more;
        more += code->catch_count++;
        more->type = i < typed ? nsc_span_leb32(span) : NSC_DEX_NONE;
        if (i < typed && more->type == NSC_DEX_NONE)
            span->bad = true;
        more->addr = nsc_span_leb32(span);
    }
    list->count = code->catch_count - list->first;
    return 0;
}

/* Read all lists. @offsets receives the offset of each one in the handler table. */
static int read_lists(struct reader *r, uint32_t **offsets)
{
    struct nsc_dex_code *code = r->code;
    struct nsc_span span = nsc_span_of(r->item + r->handlers, r->bytes - r->handlers);
    uint32_t count = nsc_span_leb32(&span), room = 0;
    int error;

    /* A list takes at least one byte; tries refer to it by a 16-bit offset. */
    if (span.bad || count == 0 || count > nsc_span_left(&span) || count > 65536)
        return nsc_diag_set(r->diag, r->handlers, EBADMSG, "code: no handlers for its tries");
    code->lists = calloc(count, sizeof *code->lists);
    *offsets = calloc(count, sizeof **offsets);
    if (code->lists == NULL || *offsets == NULL)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
    for (uint32_t i = 0; i < count; i++) {
        size_t at = (size_t)(span.at - r->item);

        (*offsets)[i] = (uint32_t)(at - r->handlers);
        error = read_list(r, &span, &code->lists[i], &room);
        if (error != 0)
            return error;
        if (span.bad)
            return nsc_diag_set(r->diag, at, EBADMSG, "code: a list of handlers is broken");
        code->list_count++;
    }
    return 0;
}

/* The list that begins at @offset, or NSC_DEX_NONE. */
static uint32_t list_at(const uint32_t *offsets, uint32_t count, uint32_t offset)
{
    uint32_t at = NSC_PARTITION_POINT(i, count, offsets[i] < offset);

    return at < count && offsets[at] == offset ? at : NSC_DEX_NONE;
}

static int read_tries(struct reader *r, uint32_t count)
{
    struct nsc_dex_code *code = r->code;
    size_t at = tries_at(code->size);
    uint32_t *offsets = NULL;
    uint64_t before = 0;
    int error;

    r->handlers = at + (size_t)count * TRY_BYTES;
    if (r->handlers >= r->bytes)
        return nsc_diag_set(r->diag, at, EBADMSG, "code: its tries are cut off");
    code->tries = calloc(count, sizeof *code->tries);
    if (code->tries == NULL)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
    error = read_lists(r, &offsets);
    for (uint32_t i = 0; i < count && error == 0; i++, at += TRY_BYTES) {
        struct nsc_dex_try *t = &code->tries[i];

        t->start = nsc_span_get32(r->item + at);
        t->count = nsc_span_get16(r->item + at + 4);
        t->list = list_at(offsets, code->list_count, nsc_span_get16(r->item + at + 6));
        if (t->list == NSC_DEX_NONE || t->count == 0 || t->start < before ||
            (uint64_t)t->start + t->count > code->size)
            error =
                nsc_diag_set(r->diag, at, EBADMSG,
                             "code: try %u is out of order, out of the code or has no handlers", i);
        before = (uint64_t)t->start + t->count;
        code->try_count = i + 1;
    }
    free(offsets);
    return error;
}

/* Check the targets of the switch at @unit with its payload at @payload. */
static int check_switch(const struct reader *r, const struct nsc_dex_scan *scan, uint32_t unit,
                        uint32_t payload)
{
    const uint16_t *insns = r->code->insns;
    uint16_t wanted = (insns[unit] & 0xff) == NSC_OP_PACKED_SWITCH   ? NSC_DEX_PACKED_PAYLOAD
                      : (insns[unit] & 0xff) == NSC_OP_SPARSE_SWITCH ? NSC_DEX_SPARSE_PAYLOAD
                                                                     : NSC_DEX_ARRAY_PAYLOAD;
    uint32_t first, count;

    if (insns[payload] != wanted || payload % 2 != 0)
        return bad_at(r, unit, "an instruction without the data it needs");
    if (wanted == NSC_DEX_ARRAY_PAYLOAD)
        return 0;
    count = nsc_dex_switch_targets(insns + payload, &first);
    for (uint32_t i = 0; i < count; i++) {
        int64_t to = (int64_t)unit + (int32_t)nsc_dex_units32(insns + payload + first + 2 * i);

        if (to < 0 || !nsc_dex_scan_begins(scan, (uint64_t)to) ||
            nsc_dex_is_payload(insns[(uint32_t)to]))
            return bad_at(r, unit, "a switch that goes to no instruction");
    }
    return 0;
}

/* A payload shared by several switches is later copied for each of them. Limit the copies to a size
 * linear in the code. */
static bool too_shared(const struct reader *r, uint64_t targets)
{
    return targets > (uint64_t)r->code->size * 2;
}

static int check_insns(const struct reader *r, const struct nsc_dex_scan *scan)
{
    const uint16_t *insns = r->code->insns;
    uint64_t targets = 0;
    int error = 0;

    for (uint32_t i = 0; i < scan->count && error == 0; i++) {
        uint32_t unit = scan->at[i];
        const struct nsc_dex_opcode *op = nsc_dex_opcode(insns[unit]);
        int64_t to;

        if (nsc_dex_is_payload(insns[unit]) ||
            ((op->flags & NSC_DEX_BRANCHES) == 0 && op->format != NSC_DEX_31T))
            continue;
        to = (int64_t)unit + nsc_dex_insn_offset(insns + unit, op->format);
        if (to < 0 || !nsc_dex_scan_begins(scan, (uint64_t)to))
            return bad_at(r, unit, "a branch that goes to no instruction");
        if (op->format != NSC_DEX_31T) {
            if (nsc_dex_is_payload(insns[to]))
                error = bad_at(r, unit, "a branch into data");
            continue;
        }
        if ((op->flags & NSC_DEX_SWITCHES) != 0 && nsc_dex_is_payload(insns[to]))
            targets += insns[to + 1];
        error = too_shared(r, targets) ? bad_at(r, unit, "too many switches share a table")
                                       : check_switch(r, scan, unit, (uint32_t)to);
    }
    return error;
}

static int check(const struct reader *r)
{
    const struct nsc_dex_code *code = r->code;
    struct nsc_dex_scan scan;
    uint32_t bad = 0;
    int error = nsc_dex_scan(&scan, code->insns, code->size, &bad);

    if (error == -EBADMSG)
        return bad_at(r, bad, "no known instruction");
    if (error != 0)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
    error = check_insns(r, &scan);
    for (uint32_t i = 0; i < code->try_count && error == 0; i++)
        if (!nsc_dex_scan_begins(&scan, code->tries[i].start))
            error = bad_at(r, code->tries[i].start, "a try begins inside an instruction");
    for (uint32_t i = 0; i < code->catch_count && error == 0; i++)
        if (!nsc_dex_scan_begins(&scan, code->catches[i].addr) ||
            nsc_dex_is_payload(code->insns[code->catches[i].addr]))
            error = bad_at(r, code->catches[i].addr, "a handler that is no instruction");
    nsc_dex_scan_free(&scan);
    return error;
}

static int read_insns(struct reader *r)
{
    struct nsc_dex_code *code = r->code;

    if (code->size == 0)
        return nsc_diag_set(r->diag, 12, EBADMSG, "code: no instructions");
    code->insns = malloc((size_t)code->size * sizeof *code->insns);
    if (code->insns == NULL)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
    for (uint32_t i = 0; i < code->size; i++)
        code->insns[i] = nsc_span_get16(r->item + HEADER_BYTES + 2 * (size_t)i);
    return 0;
}

static int read_debug(struct reader *r, const uint8_t *debug, size_t bytes)
{
    struct nsc_dex_code *code = r->code;

    if (debug == NULL)
        return 0;
    code->debug_bytes = nsc_dex_debug_bytes(debug, bytes);
    if (code->debug_bytes == 0)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, EBADMSG,
                            "code: its debug information is broken");
    code->debug = malloc(code->debug_bytes);
    if (code->debug == NULL)
        return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "code: no memory");
    memcpy(code->debug, debug, code->debug_bytes);
    return 0;
}

int nsc_dex_code_read(struct nsc_dex_code *code, const uint8_t *item, size_t bytes,
                      const uint8_t *debug, size_t debug_bytes, struct nsc_diag *diag)
{
    struct nsc_dex_code read = {0};
    struct reader r = {.code = &read, .item = item, .bytes = bytes, .diag = diag};
    uint32_t tries;
    int error;

    if (bytes < HEADER_BYTES || (uint64_t)nsc_span_get32(item + 12) * 2 > bytes - HEADER_BYTES)
        return nsc_diag_set(diag, 0, EBADMSG, "code: cut off");
    read.registers = nsc_span_get16(item);
    read.ins = nsc_span_get16(item + 2);
    read.outs = nsc_span_get16(item + 4);
    tries = nsc_span_get16(item + 6);
    read.size = nsc_span_get32(item + 12);
    if (read.ins > read.registers)
        return nsc_diag_set(diag, 2, EBADMSG, "code: %u registers come in, but it has only %u",
                            read.ins, read.registers);
    error = read_insns(&r);
    if (error == 0 && tries > 0)
        error = read_tries(&r, tries);
    if (error == 0)
        error = check(&r);
    if (error == 0)
        error = read_debug(&r, debug, debug_bytes);
    if (error != 0) {
        nsc_dex_code_free(&read);
        return error;
    }
    *code = read;
    return 0;
}

void nsc_dex_code_free(struct nsc_dex_code *code)
{
    free(code->insns);
    free(code->tries);
    free(code->lists);
    free(code->catches);
    free(code->debug);
    memset(code, 0, sizeof *code);
}

/* ---- write ------------------------------------------------------------------------------------
 */

static void put16(struct nsc_buffer *out, uint32_t v)
{
    uint8_t bytes[2] = {(uint8_t)v, (uint8_t)(v >> 8)};

    nsc_buffer_bytes(out, bytes, 2);
}

static void put32(struct nsc_buffer *out, uint32_t v)
{
    put16(out, v & 0xffff);
    put16(out, v >> 16);
}

static void put_list(const struct nsc_dex_code *code, const struct nsc_dex_catches *list,
                     struct nsc_buffer *out)
{
    const struct nsc_dex_catch *catches = code->catches + list->first;
    bool all = list->count > 0 && catches[list->count - 1].type == NSC_DEX_NONE;
    int64_t typed = (int64_t)list->count - all;

    nsc_dex_put_sleb(out, all ? -typed : typed);
    for (uint32_t i = 0; i < list->count; i++) {
        if (catches[i].type != NSC_DEX_NONE)
            nsc_buffer_leb(out, catches[i].type);
        nsc_buffer_leb(out, catches[i].addr);
    }
}

/* Append the handler table. @offsets receives the offset of each list in it. Returns false if out
 * of memory. */
static bool put_lists(const struct nsc_dex_code *code, struct nsc_buffer *out, uint32_t *offsets)
{
    size_t begin = out->used;

    nsc_buffer_leb(out, code->list_count);
    for (uint32_t i = 0; i < code->list_count; i++) {
        offsets[i] = (uint32_t)(out->used - begin);
        put_list(code, &code->lists[i], out);
    }
    return !out->failed;
}

static void put_tries(const struct nsc_dex_code *code, struct nsc_buffer *out)
{
    uint32_t *offsets = calloc((size_t)code->list_count + 1, sizeof *offsets);
    struct nsc_buffer lists = {0};

    if (code->size % 2 != 0)
        put16(out, 0);
    if (offsets == NULL || !put_lists(code, &lists, offsets))
        out->failed = true;
    for (uint32_t i = 0; offsets != NULL && i < code->try_count && !out->failed; i++) {
        put32(out, code->tries[i].start);
        put16(out, code->tries[i].count);
        put16(out, offsets[code->tries[i].list]);
    }
    nsc_buffer_bytes(out, lists.data, lists.used);
    nsc_buffer_free(&lists);
    free(offsets);
}

size_t nsc_dex_code_write(const struct nsc_dex_code *code, struct nsc_buffer *out)
{
    size_t begin;

    while (out->used % 4 != 0 && !out->failed)
        nsc_buffer_bytes(out, "", 1);
    begin = out->used;
    put16(out, code->registers);
    put16(out, code->ins);
    put16(out, code->outs);
    put16(out, code->try_count);
    put32(out, 0);
    put32(out, code->size);
    if (nsc_buffer_reserve(out, (size_t)code->size * 2) != NULL)
        for (uint32_t i = 0; i < code->size; i++)
            put16(out, code->insns[i]);
    if (code->try_count > 0)
        put_tries(code, out);
    return begin;
}
