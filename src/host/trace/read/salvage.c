/*
 * salvage.c - recover the intact blocks of a file that is incomplete, still growing, or damaged.
 *
 * Scans the file block by block. After a damaged header it searches for the next block marker with
 * a valid header. It checks every payload, so all data that it keeps is intact. Source:
 * docs/format.md section 10.
 */
#include <errno.h>
#include <stdio.h>

#include "trace/read/reader_state.h"
#include "util/array.h"

#define MADE_UP_MAX (1u << 16) /* limit of placeholder entries for damaged tables */

struct scan {
    struct nsc_trace *trace;
    uint64_t offset;
    bool have_directory;
    bool have_head; /* the previous block was an intact chunk head */
    struct nsc_chunk head;
    uint64_t damaged_bytes, damaged_blocks;
    uint64_t first_damage; /* offset, or UINT64_MAX */
    uint64_t lost_chunks, lost_events;
};

static void damage(struct scan *s, uint64_t bytes)
{
    if (s->first_damage == UINT64_MAX)
        s->first_damage = s->offset;
    s->damaged_bytes += bytes;
    s->damaged_blocks++;
}

/* Mark a chunk as missing: its head was not followed by events. */
static int miss_chunk(struct scan *s)
{
    struct nsc_chunk *c;

    if (!s->have_head)
        return 0;
    s->have_head = false;
    c = nsc_trace_add_chunk(s->trace);
    if (c == NULL)
        return -ENOMEM;
    *c = s->head;
    c->missing = true;
    s->lost_chunks++;
    s->lost_events += c->events;
    return 0;
}

static int keep_chunk(struct scan *s)
{
    struct nsc_chunk *c;

    if (!s->have_head)
        return 0; /* events without head: the head's damage is already noted */
    c = nsc_trace_add_chunk(s->trace);
    if (c == NULL)
        return -ENOMEM;
    *c = s->head;
    s->have_head = false;
    return 0;
}

/* Take the losses without thread from the directory; no other block has them. */
static int take_directory(struct nsc_trace *t)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    uint64_t lost;

    for (uint64_t i = nsc_span_leb(&s); i > 0 && !s.bad; i--) {
        (void)nsc_span_leb(&s);
        (void)nsc_span_leb(&s);
    }
    (void)nsc_span_leb(&s);
    (void)nsc_span_leb(&s);
    lost = nsc_span_leb(&s);
    if (s.bad)
        return -EBADMSG;
    t->info.lost_unattributed = lost;
    return 0;
}

/* Load a block with a valid header. Returns 0, -ENOMEM, or -EBADMSG for damaged content. */
static int take_block(struct scan *s, const struct nsc_block *block)
{
    struct nsc_trace *t = s->trace;
    struct nsc_head_fields fields;
    int error = 0;

    if (block->kind != NSC_FORMAT_EVENTS)
        error = miss_chunk(s);
    if (error == 0)
        error = nsc_block_payload_read(t->fd, block, &t->plain, &t->packed, NULL);
    if (error != 0)
        return error;
    switch (block->kind) {
    case NSC_FORMAT_HEAD:
        error = nsc_head_parse(block, &t->plain, &fields, NULL);
        s->have_head = error == 0;
        if (error == 0)
            s->head = fields.chunk;
        return error;
    case NSC_FORMAT_EVENTS:
        return keep_chunk(s);
    case NSC_FORMAT_INDEX:
    case NSC_FORMAT_NOTE_INDEX:
    case NSC_FORMAT_LEVEL_INDEX:
        return 0;
    case NSC_FORMAT_LEVEL:
        return nsc_trace_scan_level(t, block);
    case NSC_FORMAT_SAMPLES:
    case NSC_FORMAT_STATES:
    case NSC_FORMAT_MARKS:
    case NSC_FORMAT_COUNTERS:
        return nsc_trace_scan_notes(t, block);
    case NSC_FORMAT_DIRECTORY:
        s->have_directory = true;
        return take_directory(t);
    default:
        return nsc_trace_load_table(t, block, NULL);
    }
}

static int scan_blocks(struct scan *s)
{
    struct nsc_trace *t = s->trace;
    uint64_t bytes = t->info.file_bytes;
    struct nsc_block block;
    int error = 0;

    s->offset = NSC_FORMAT_HEADER_BYTES;
    while (error == 0 && s->offset + NSC_FORMAT_BLOCK_BYTES <= bytes) {
        if (nsc_block_header_read(t->fd, bytes, s->offset, &block, NULL) == 0) {
            error = take_block(s, &block);
            if (error == -EBADMSG || error == -EPROTO) {
                damage(s, nsc_block_end(&block) - s->offset);
                error = miss_chunk(s);
            }
            s->offset = nsc_block_end(&block);
        } else {
            uint64_t next;

            error = nsc_block_find(t->fd, bytes, s->offset + 1, &next);
            if (error == 0 && next == bytes)
                break; /* the truncated last block, or the footer */
            if (error == 0)
                damage(s, next - s->offset);
            if (error == 0)
                error = miss_chunk(s);
            s->offset = next;
        }
    }
    if (error == 0)
        error = miss_chunk(s);
    return error;
}

/* ---- Making the tables fit the chunks -------------------------------------------------------- */

static int make_up(struct nsc_trace_table *table, size_t bytes, const void *entry, uint32_t count)
{
    while (table->count < count) {
        void *items = nsc_array_grow(table->items, &table->room, table->count, bytes);

        if (items == NULL)
            return -ENOMEM;
        table->items = items;
        memcpy((char *)items + bytes * table->count++, entry, bytes);
    }
    return 0;
}

/* Drop chunks that cannot be placed: thread ids beyond any table, or out of sequence. */
static void drop_strange_chunks(struct scan *s)
{
    struct nsc_trace *t = s->trace;
    uint32_t limit = t->threads.count + MADE_UP_MAX, kept = 0;

    for (uint32_t i = 0; i < t->chunk_count; i++) {
        if (t->chunks[i].thread < limit)
            t->chunks[kept++] = t->chunks[i];
        else
            s->lost_chunks++;
    }
    t->chunk_count = kept;
}

/* Adjust the threads' losses: an entry may be older than the thread's chunks and lack their losses;
 * damaged events count as lost, too. */
static int fit_losses(struct nsc_trace *t)
{
    struct nsc_thread *threads = t->threads.items;
    uint64_t *told = calloc((size_t)t->threads.count + 1, sizeof *told);

    if (told == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->chunk_count; i++)
        told[t->chunks[i].thread] += t->chunks[i].lost;
    for (uint32_t i = 0; i < t->threads.count; i++)
        if (threads[i].stack == 0 && threads[i].lost < told[i])
            threads[i].lost = told[i];
    for (uint32_t i = 0; i < t->chunk_count; i++)
        if (t->chunks[i].missing)
            threads[t->chunks[i].thread].lost += t->chunks[i].events;
    free(told);
    return 0;
}

static int fit_tables(struct scan *s)
{
    static const struct nsc_process process = {
        .parent = NSC_NO_ID, .name = "(lost)", .exit_status = -1};
    static const struct nsc_thread thread = {.name = "(lost)"};
    static const struct nsc_entry_function function = {
        .f = {.name = "(lost)", .symbol = "(lost)", .file = "", .module = NSC_NO_ID},
        .canonical = NSC_NO_ID};
    struct nsc_trace *t = s->trace;
    struct nsc_thread *threads;
    uint32_t count = t->threads.count;
    int error;

    drop_strange_chunks(s);
    for (uint32_t i = 0; i < t->chunk_count; i++)
        count = t->chunks[i].thread >= count ? t->chunks[i].thread + 1 : count;
    error = make_up(&t->threads, sizeof thread, &thread, count);
    if (error == 0 && count > 0)
        error = make_up(&t->processes, sizeof process, &process, 1);
    /* The last function is a placeholder for all missing ones: see nsc_trace_stand_in(). */
    if (error == 0 && s->first_damage != UINT64_MAX)
        error = make_up(&t->functions, sizeof function, &function, t->functions.count + 1);
    if (error != 0)
        return error;
    threads = t->threads.items;
    for (uint32_t i = 0; i < t->threads.count; i++) {
        if (threads[i].process >= t->processes.count)
            threads[i].process = 0;
        threads[i].recorded = 0;
    }
    for (uint32_t i = 0; i < t->chunk_count; i++) {
        const struct nsc_chunk *c = &t->chunks[i];
        struct nsc_thread *of = &threads[c->thread];

        if (!c->missing)
            of->recorded += c->events;
        if (of->start_ticks == 0 || of->start_ticks > c->first_ticks)
            of->start_ticks = c->first_ticks;
        if (of->end_ticks < c->last_ticks)
            of->end_ticks = c->last_ticks;
    }
    return fit_losses(t);
}

static void drop_dangling(struct nsc_trace *t)
{
    struct nsc_mapping *mappings = t->mappings.items;
    struct nsc_process *processes = t->processes.items;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->mappings.count; i++)
        if (mappings[i].process < t->processes.count && mappings[i].module < t->modules.count)
            mappings[kept++] = mappings[i];
    t->mappings.count = kept;
    for (uint32_t i = 0; i < t->processes.count; i++)
        if (processes[i].parent >= t->processes.count)
            processes[i].parent = NSC_NO_ID;
}

/* Whether the file ends with the directory and a valid footer. */
static bool has_end(const struct scan *s)
{
    const struct nsc_trace *t = s->trace;
    uint8_t raw[NSC_FORMAT_FOOTER_BYTES];
    uint64_t directory;

    return s->have_directory && t->info.file_bytes - s->offset == sizeof raw &&
           nsc_block_pread(t->fd, raw, sizeof raw, s->offset) == (int64_t)sizeof raw &&
           nsc_format_footer_unpack(raw, &directory) == 0;
}

static void warn(struct scan *s)
{
    struct nsc_trace_info *info = &s->trace->info;
    uint64_t tail = info->file_bytes > s->offset ? info->file_bytes - s->offset : 0;
    uint64_t left_out = s->damaged_bytes + tail;
    char last[64] = "", lost[64] = "";

    info->complete = s->first_damage == UINT64_MAX && has_end(s);
    if (info->complete)
        return;
    if (tail > 0)
        snprintf(last, sizeof last, "; left out: the last %llu bytes", (unsigned long long)tail);
    if (s->lost_events > 0)
        snprintf(lost, sizeof lost, "; known to be lost: %llu events",
                 (unsigned long long)s->lost_events);
    if (s->first_damage == UINT64_MAX)
        snprintf(info->warning, sizeof info->warning,
                 "the file breaks off at offset %llu: everything before is whole, how much came "
                 "after is not known%s%s",
                 (unsigned long long)s->offset, last, lost);
    else
        snprintf(
            info->warning, sizeof info->warning,
            "damaged from offset %llu on; left out: %llu bytes (places: %llu), chunks known to "
            "be lost: %llu, their events: %llu",
            (unsigned long long)s->first_damage, (unsigned long long)left_out,
            (unsigned long long)s->damaged_blocks, (unsigned long long)s->lost_chunks,
            (unsigned long long)s->lost_events);
}

int nsc_trace_scan(struct nsc_trace *t, struct nsc_diag *diag)
{
    struct scan s = {.trace = t, .first_damage = UINT64_MAX};
    uint64_t bytes = t->info.file_bytes;
    int error;

    memset(&t->info, 0, sizeof t->info);
    t->info.file_bytes = bytes;
    t->info.recovered = true;
    t->info.compressed = t->compressed;
    error = scan_blocks(&s);
    if (error == 0)
        error = fit_tables(&s);
    if (error != 0)
        return nsc_diag_set(diag, s.offset, error, "cannot read the trace: %s", strerror(-error));
    drop_dangling(t);
    warn(&s);
    return nsc_trace_link(t, diag);
}
