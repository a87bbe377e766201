/*
 * load_tables.c - load tables and index of a trace into memory. See reader_state.h. Source:
 * docs/format.md sections 6-8.
 *
 * A table block begins with the id of its first entry. Blocks may repeat entries (an incomplete
 * file holds older states first): the last one is valid. A complete file has no holes; holes of a
 * damaged one are filled with empty entries.
 */
#include <errno.h>

#include "trace/read/reader_state.h"
#include "util/array.h"

#define HOLE_MAX (1u << 16) /* limit of empty entries in place of a lost block */

struct table_kind {
    struct nsc_trace_table *table;
    size_t item_bytes;
    int (*get)(struct nsc_span *s, struct nsc_arena *arena, void *item);
    const void *empty; /* replaces a lost entry */
};

static int get_meta(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_meta(s, arena, item);
}

static int get_clock(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_clock(s, arena, item);
}

static int get_process(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_process(s, arena, item);
}

static int get_thread(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_thread(s, arena, item);
}

static int get_module(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_module(s, arena, item);
}

static int get_mapping(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_mapping(s, arena, item);
}

static int get_file(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_text(s, arena, item);
}

static int get_function(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_function(s, arena, item);
}

static int get_left_out(struct nsc_span *s, struct nsc_arena *arena, void *item)
{
    return nsc_entry_get_left_out(s, arena, item);
}

/* Returns false for kinds that are not tables. */
static bool kind_of(struct nsc_trace *t, uint32_t kind, struct table_kind *k)
{
    static const struct nsc_process process = {
        .parent = NSC_NO_ID, .name = "(lost)", .exit_status = -1};
    static const struct nsc_thread thread = {.name = "(lost)"};
    static const struct nsc_module module = {.path = "(lost)"};
    static const struct nsc_mapping mapping;
    static const struct nsc_entry_function function = {
        .f = {.name = "(lost)", .symbol = "(lost)", .file = "", .module = NSC_NO_ID},
        .canonical = NSC_NO_ID};
    static const char *const file = "";
    static const struct nsc_clock_point point;
    static const struct nsc_meta meta = {"", ""};
    static const struct nsc_left_out left_out = {.function = NSC_NO_ID, .process = NSC_NO_ID};

    switch (kind) {
    case NSC_FORMAT_META:
        *k = (struct table_kind){&t->metas, sizeof meta, get_meta, &meta};
        return true;
    case NSC_FORMAT_CLOCK:
        *k = (struct table_kind){&t->clocks, sizeof point, get_clock, &point};
        return true;
    case NSC_FORMAT_PROCESSES:
        *k = (struct table_kind){&t->processes, sizeof process, get_process, &process};
        return true;
    case NSC_FORMAT_THREADS:
        *k = (struct table_kind){&t->threads, sizeof thread, get_thread, &thread};
        return true;
    case NSC_FORMAT_MODULES:
        *k = (struct table_kind){&t->modules, sizeof module, get_module, &module};
        return true;
    case NSC_FORMAT_MAPPINGS:
        *k = (struct table_kind){&t->mappings, sizeof mapping, get_mapping, &mapping};
        return true;
    case NSC_FORMAT_FILES:
        *k = (struct table_kind){&t->files, sizeof file, get_file, &file};
        return true;
    case NSC_FORMAT_FUNCTIONS:
        *k = (struct table_kind){&t->functions, sizeof function, get_function, &function};
        return true;
    case NSC_FORMAT_LEFT_OUT:
        *k = (struct table_kind){&t->left_out, sizeof left_out, get_left_out, &left_out};
        return true;
    default:
        return false;
    }
}

static void *item_at(const struct table_kind *k, uint32_t index)
{
    return (char *)k->table->items + k->item_bytes * index;
}

static int add_empty(const struct table_kind *k)
{
    struct nsc_trace_table *table = k->table;
    void *items = nsc_array_grow(table->items, &table->room, table->count, k->item_bytes);

    if (items == NULL)
        return -ENOMEM;
    table->items = items;
    table->count++;
    memcpy(item_at(k, table->count - 1), k->empty, k->item_bytes);
    return 0;
}

static int load_entry(struct nsc_trace *t, const struct table_kind *k, uint32_t id,
                      struct nsc_span *s)
{
    struct nsc_span entry = nsc_span_part(s, nsc_span_leb(s));

    if (entry.bad)
        return -EBADMSG;
    if (id == k->table->count) {
        int error = add_empty(k);

        if (error != 0)
            return error;
    }
    return k->get(&entry, &t->arena, item_at(k, id));
}

int nsc_trace_count_bytes(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag)
{
    t->table_bytes += block->plain_bytes;
    if (t->table_bytes < NSC_FORMAT_TABLES_BASE ||
        (t->table_bytes - NSC_FORMAT_TABLES_BASE) / NSC_FORMAT_TABLES_RATIO <= t->info.file_bytes)
        return 0;
    return nsc_diag_set(diag, block->offset, EBADMSG, "tables too large for a file of %llu bytes",
                        (unsigned long long)t->info.file_bytes);
}

int nsc_trace_load_table(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    bool recovering = (t->flags & NSC_NST_RECOVER) != 0;
    const char *name = nsc_block_kind_name(block->kind);
    struct table_kind k;
    uint32_t first, count;
    int error = 0;

    if (!kind_of(t, block->kind, &k))
        return 0;
    error = nsc_trace_count_bytes(t, block, diag);
    if (error != 0)
        return error;
    first = (uint32_t)nsc_span_leb_max(&s, NSC_NO_ID - 1);
    count = nsc_span_leb32(&s);
    if (s.bad || count > NSC_NO_ID - 1 - first)
        return nsc_diag_set(diag, block->offset, EBADMSG, "%s is malformed", name);
    if (first > k.table->count && (!recovering || first - k.table->count > HOLE_MAX))
        return nsc_diag_set(diag, block->offset, EBADMSG, "%s begins at entry %u, expected %u",
                            name, first, k.table->count);
    while (error == 0 && k.table->count < first)
        error = add_empty(&k);
    for (uint32_t i = 0; error == 0 && i < count; i++) {
        error = load_entry(t, &k, first + i, &s);
        if (error == -EBADMSG)
            return nsc_diag_set(diag, block->offset, EBADMSG, "%s: entry %u is malformed", name,
                                first + i);
    }
    return error == 0 ? 0 : nsc_diag_set(diag, block->offset, error, "out of memory");
}

struct nsc_chunk *nsc_trace_add_chunk(struct nsc_trace *t)
{
    struct nsc_chunk *grown =
        nsc_array_grow(t->chunks, &t->chunk_room, t->chunk_count, sizeof *grown);

    if (grown == NULL)
        return NULL;
    t->chunks = grown;
    memset(&grown[t->chunk_count], 0, sizeof *grown);
    return &grown[t->chunk_count++];
}

int nsc_trace_load_index(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag)
{
    struct nsc_span s = nsc_span_of(t->plain.data, t->plain.used);
    uint64_t count = nsc_span_leb(&s), base = 0;
    int error = nsc_trace_count_bytes(t, block, diag);

    if (error != 0)
        return error;

    for (uint64_t i = 0; i < count; i++) {
        struct nsc_entry_chunk row;
        struct nsc_chunk *c;

        if (nsc_entry_get_chunk(&s, base, &row) != 0 || row.offset >= t->info.file_bytes ||
            (i > 0 && row.offset == base))
            return nsc_diag_set(diag, block->offset, EBADMSG, "index: row %llu is malformed",
                                (unsigned long long)i);
        base = row.offset;
        c = nsc_trace_add_chunk(t);
        if (c == NULL)
            return nsc_diag_set(diag, block->offset, ENOMEM, "out of memory");
        *c = nsc_reader_chunk_of(&row);
    }
    return s.bad ? nsc_diag_set(diag, block->offset, EBADMSG, "index is malformed") : 0;
}

/* ---- After loading --------------------------------------------------------------------------- */

static int link_functions(struct nsc_trace *t)
{
    struct nsc_entry_function *functions = t->functions.items;
    const char *const *files = t->files.items;
    bool recovering = (t->flags & NSC_NST_RECOVER) != 0;
    uint32_t count = t->functions.count;

    t->canonical = reallocarray(NULL, (size_t)count + 1, sizeof *t->canonical);
    if (t->canonical == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct nsc_entry_function *f = &functions[i];
        uint32_t canonical = f->canonical == NSC_NO_ID ? i : f->canonical;
        bool good = canonical < count &&
                    (canonical == i || functions[canonical].canonical == NSC_NO_ID) &&
                    (f->f.module == NSC_NO_ID || f->f.module < t->modules.count) &&
                    f->file <= t->files.count;

        if (!good && !recovering)
            return -EBADMSG;
        if (!good) {
            canonical = i;
            f->canonical = f->f.module = NSC_NO_ID;
            f->file = 0;
        }
        t->canonical[i] = canonical;
        f->f.file = f->file == 0 ? "" : files[f->file - 1];
    }
    return 0;
}

static bool is_linked(const struct nsc_trace *t, const struct nsc_left_out *l)
{
    return (l->function == NSC_NO_ID || l->function < t->functions.count) &&
           (l->process == NSC_NO_ID || l->process < t->processes.count);
}

static int link_left_out(struct nsc_trace *t)
{
    struct nsc_left_out *items = t->left_out.items;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->left_out.count; i++) {
        if (!is_linked(t, &items[i]) && !t->info.recovered)
            return -EBADMSG;
        if (!is_linked(t, &items[i]))
            continue;
        items[kept] = items[i];
        if (items[kept].function != NSC_NO_ID)
            items[kept].function = t->canonical[items[kept].function];
        kept++;
    }
    t->left_out.count = kept;
    return 0;
}

static int link_tables(struct nsc_trace *t)
{
    const struct nsc_mapping *mappings = t->mappings.items;
    const struct nsc_process *processes = t->processes.items;
    const struct nsc_thread *threads = t->threads.items;

    for (uint32_t i = 0; i < t->threads.count; i++)
        if (threads[i].process >= t->processes.count)
            return -EBADMSG;
    for (uint32_t i = 0; i < t->processes.count; i++)
        if (processes[i].parent != NSC_NO_ID && processes[i].parent >= t->processes.count)
            return -EBADMSG;
    for (uint32_t i = 0; i < t->mappings.count; i++)
        if (mappings[i].process >= t->processes.count || mappings[i].module >= t->modules.count)
            return -EBADMSG;
    return link_left_out(t);
}

/* Stable counting sort of the chunks by thread: the file's order within a thread is its sequence.
 */
static int sort_chunks(struct nsc_trace *t)
{
    struct nsc_chunk *sorted = calloc((size_t)t->chunk_count + 1, sizeof *sorted);
    uint32_t *starts = calloc((size_t)t->threads.count + 2, sizeof *starts);

    if (sorted == NULL || starts == NULL) {
        free(sorted);
        free(starts);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < t->chunk_count; i++)
        starts[t->chunks[i].thread + 2]++;
    for (uint32_t i = 2; i < t->threads.count + 2; i++)
        starts[i] += starts[i - 1];
    /* starts[thread + 1] now runs from the thread's first chunk to the next thread's. */
    for (uint32_t i = 0; i < t->chunk_count; i++)
        sorted[starts[t->chunks[i].thread + 1]++] = t->chunks[i];
    free(t->chunks);
    t->chunks = sorted;
    t->chunk_room = t->chunk_count + 1;
    t->thread_chunks = starts;
    return 0;
}

/* Check that the chunks of a thread are in time order. Sequence numbers are assigned in a complete
 * file; in a recovered one they must ascend. */
static int link_chunks(struct nsc_trace *t, struct nsc_diag *diag)
{
    bool recovering = (t->flags & NSC_NST_RECOVER) != 0;
    int error;

    for (uint32_t i = 0; i < t->chunk_count; i++)
        if (t->chunks[i].thread >= t->threads.count)
            return nsc_diag_set(diag, t->chunks[i].offset, EBADMSG,
                                "chunk of thread %u, which is not in the thread table",
                                t->chunks[i].thread);
    error = sort_chunks(t);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "out of memory");
    for (uint32_t i = 0; i < t->chunk_count; i++) {
        struct nsc_chunk *c = &t->chunks[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.ArraySubscript): checked above */
        const struct nsc_chunk *before = i > t->thread_chunks[c->thread] ? c - 1 : NULL;

        if (!t->info.recovered)
            c->sequence = before == NULL ? 0 : before->sequence + 1;
        if (before == NULL)
            continue;
        if (c->first_ticks < before->last_ticks || c->sequence <= before->sequence)
            return nsc_diag_set(diag, c->offset, EBADMSG, "chunks of thread %u are out of order",
                                c->thread);
        if (!recovering && c->depth > before->max_depth)
            return nsc_diag_set(diag, c->offset, EBADMSG,
                                "chunk's depth contradicts the one before");
    }
    return 0;
}

static void sum_up(struct nsc_trace *t)
{
    struct nsc_trace_info *info = &t->info;
    const struct nsc_thread *threads = t->threads.items;

    info->start_ticks = t->chunk_count == 0 ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < t->chunk_count; i++) {
        const struct nsc_chunk *c = &t->chunks[i];

        if (c->first_ticks < info->start_ticks)
            info->start_ticks = c->first_ticks;
        if (c->last_ticks > info->end_ticks)
            info->end_ticks = c->last_ticks;
        if (c->missing)
            continue;
        info->events += c->events;
        info->calls += c->calls;
    }
    info->lost = info->lost_unattributed;
    for (uint32_t i = 0; i < t->threads.count; i++) {
        info->lost += threads[i].lost;
        info->system_threads += threads[i].stack == 0;
    }
    info->chunks = t->chunk_count;
    info->process_count = t->processes.count;
    info->thread_count = t->threads.count;
    info->module_count = t->modules.count;
    info->mapping_count = t->mappings.count;
    info->function_count = t->functions.count;
    info->meta_count = t->metas.count;
    info->clock_count = t->clocks.count;
    info->left_out_count = t->left_out.count;
}

int nsc_trace_link(struct nsc_trace *t, struct nsc_diag *diag)
{
    const char *text;
    int error = link_functions(t);

    if (error == 0)
        error = link_tables(t);
    if (error == -EBADMSG)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "%s: a table refers to an entry that does not exist", t->name);
    if (error == 0)
        error = link_chunks(t, diag);
    if (error == 0)
        error = nsc_trace_link_levels(t, diag);
    if (error == 0)
        error = nsc_trace_link_notes(t, diag);
    if (error != 0)
        return error;
    sum_up(t);
    if (nsc_trace_link_timing(t) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    text = nsc_trace_meta(t, NSC_META_FREQUENCY);
    return nsc_clock_build(&t->clock, t->clocks.items, t->clocks.count,
                           text == NULL ? 0 : strtoull(text, NULL, 10),
                           t->chunk_count == 0 ? UINT64_MAX : t->info.start_ticks);
}
