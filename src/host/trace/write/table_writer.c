/*
 * table_writer.c - the tables of a trace that is being written: add and change entries, write them
 * as blocks. Functions of writer.h and writer_state.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "trace/write/writer_state.h"
#include "util/array.h"
#include "util/hash.h"

#define TABLE_BLOCK_BYTES ((size_t)256 << 10) /* tables are cut into blocks of about this size */

/* How a table is written: the kind of its blocks, and the size and encoder of its entries. */
struct table_kind {
    enum nsc_format_kind kind;
    size_t item_bytes;
    void (*put)(struct nsc_buffer *b, const void *item);
};

static void put_meta(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_meta(b, item);
}

static void put_clock(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_clock(b, item);
}

static void put_process(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_process(b, item);
}

/* Times that the caller left 0, or that exclude events, are taken from the events. */
static void put_thread(struct nsc_buffer *b, const void *item)
{
    const struct nsc_writer_thread *thread = item;
    struct nsc_thread t = thread->t;

    if (t.recorded > 0 && (t.start_ticks == 0 || t.start_ticks > thread->first_ticks))
        t.start_ticks = thread->first_ticks;
    if (t.end_ticks < thread->last_ticks)
        t.end_ticks = thread->last_ticks;
    nsc_entry_put_thread(b, &t);
}

static void put_module(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_module(b, item);
}

static void put_mapping(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_mapping(b, item);
}

static void put_file(struct nsc_buffer *b, const void *item)
{
    nsc_buffer_text(b, *(const char *const *)item);
}

static void put_function(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_function(b, item);
}

static void put_left_out(struct nsc_buffer *b, const void *item)
{
    nsc_entry_put_left_out(b, item);
}

static const struct table_kind table_kinds[NSC_WRITER_TABLES] = {
    [NSC_WRITER_META] = {NSC_FORMAT_META, sizeof(struct nsc_meta), put_meta},
    [NSC_WRITER_CLOCK] = {NSC_FORMAT_CLOCK, sizeof(struct nsc_clock_point), put_clock},
    [NSC_WRITER_PROCESSES] = {NSC_FORMAT_PROCESSES, sizeof(struct nsc_process), put_process},
    [NSC_WRITER_THREADS] = {NSC_FORMAT_THREADS, sizeof(struct nsc_writer_thread), put_thread},
    [NSC_WRITER_MODULES] = {NSC_FORMAT_MODULES, sizeof(struct nsc_module), put_module},
    [NSC_WRITER_MAPPINGS] = {NSC_FORMAT_MAPPINGS, sizeof(struct nsc_mapping), put_mapping},
    [NSC_WRITER_FILES] = {NSC_FORMAT_FILES, sizeof(const char *), put_file},
    [NSC_WRITER_FUNCTIONS] = {NSC_FORMAT_FUNCTIONS, sizeof(struct nsc_entry_function),
                              put_function},
    [NSC_WRITER_LEFT_OUT] = {NSC_FORMAT_LEFT_OUT, sizeof(struct nsc_left_out), put_left_out},
};

/* ---- Entries --------------------------------------------------------------------------------- */

/* Add a zeroed entry. Returns it, or NULL with the error latched. */
static void *table_add(struct nsc_writer *w, enum nsc_writer_table_id id)
{
    struct nsc_writer_table *table = &w->tables[id];
    size_t bytes = table_kinds[id].item_bytes;
    void *items = nsc_array_grow(table->items, &table->room, table->count, bytes);

    if (items == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return NULL;
    }
    table->items = items;
    return memset((char *)items + bytes * table->count++, 0, bytes);
}

/* Entry @id, marked as changed, or NULL. */
static void *table_change(struct nsc_writer *w, enum nsc_writer_table_id table, uint32_t id)
{
    if (id >= w->tables[table].count)
        return NULL;
    w->tables[table].changed = true;
    return (char *)w->tables[table].items + table_kinds[table].item_bytes * id;
}

/* Copy @text into the arena; reuse @old if it is equal. NULL counts as empty. */
static const char *keep_text(struct nsc_writer *w, const char *text, const char *old)
{
    const char *kept;

    if (text == NULL)
        return "";
    if (old != NULL && strcmp(old, text) == 0)
        return old;
    kept = nsc_arena_text(&w->arena, text, strlen(text));
    if (kept != NULL)
        return kept;
    nsc_writer_fail(w, -ENOMEM);
    return "";
}

static int added(struct nsc_writer *w, enum nsc_writer_table_id table, uint32_t *id)
{
    int error = nsc_writer_error(w);

    if (error == 0 && id != NULL)
        *id = w->tables[table].count - 1;
    return error;
}

int nsc_writer_meta(struct nsc_writer *w, const char *key, const char *value)
{
    struct nsc_writer_table *table = &w->tables[NSC_WRITER_META];
    struct nsc_meta *metas = table->items, *m;

    for (uint32_t i = 0; i < table->count; i++) {
        if (strcmp(metas[i].key, key) != 0)
            continue;
        metas[i].value = keep_text(w, value, metas[i].value);
        table->changed = true;
        return nsc_writer_error(w);
    }
    m = table_add(w, NSC_WRITER_META);
    if (m != NULL) {
        m->key = keep_text(w, key, NULL);
        m->value = keep_text(w, value, NULL);
    }
    return nsc_writer_error(w);
}

void nsc_writer_put_timed(struct nsc_buffer *list, uint32_t module)
{
    char number[16];

    snprintf(number, sizeof number, "%s%" PRIu32, list->used > 0 ? " " : "", module);
    nsc_buffer_bytes(list, number, strlen(number));
}

int nsc_writer_clock(struct nsc_writer *w, const struct nsc_clock_point *point)
{
    struct nsc_clock_point *p = table_add(w, NSC_WRITER_CLOCK);

    if (p != NULL)
        *p = *point;
    return nsc_writer_error(w);
}

int nsc_writer_clock_frequency(struct nsc_writer *w, uint64_t ticks_per_second)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)ticks_per_second);
    return nsc_writer_meta(w, NSC_META_FREQUENCY, text);
}

static void fill_process(struct nsc_writer *w, struct nsc_process *to, const struct nsc_process *p)
{
    const char *name = keep_text(w, p->name, to->name);

    *to = *p;
    to->name = name;
}

int nsc_writer_add_process(struct nsc_writer *w, const struct nsc_process *p, uint32_t *id)
{
    struct nsc_process *to = table_add(w, NSC_WRITER_PROCESSES);

    if (to != NULL)
        fill_process(w, to, p);
    return added(w, NSC_WRITER_PROCESSES, id);
}

int nsc_writer_set_process(struct nsc_writer *w, uint32_t id, const struct nsc_process *p)
{
    struct nsc_process *to = table_change(w, NSC_WRITER_PROCESSES, id);

    if (to == NULL)
        return -EINVAL;
    fill_process(w, to, p);
    return nsc_writer_error(w);
}

int nsc_writer_add_module(struct nsc_writer *w, const struct nsc_module *m, uint32_t *id)
{
    struct nsc_module *to;

    if (m->build_id_bytes > sizeof m->build_id)
        return -EINVAL;
    to = table_add(w, NSC_WRITER_MODULES);
    if (to != NULL) {
        *to = *m;
        to->path = keep_text(w, m->path, NULL);
    }
    return added(w, NSC_WRITER_MODULES, id);
}

int nsc_writer_add_mapping(struct nsc_writer *w, const struct nsc_mapping *m, uint32_t *id)
{
    struct nsc_mapping *to = table_add(w, NSC_WRITER_MAPPINGS);

    if (to != NULL)
        *to = *m;
    return added(w, NSC_WRITER_MAPPINGS, id);
}

int nsc_writer_set_mapping(struct nsc_writer *w, uint32_t id, const struct nsc_mapping *m)
{
    struct nsc_mapping *to = table_change(w, NSC_WRITER_MAPPINGS, id);

    if (to == NULL)
        return -EINVAL;
    *to = *m;
    return nsc_writer_error(w);
}

static void fill_thread(struct nsc_writer *w, struct nsc_writer_thread *to,
                        const struct nsc_thread *t)
{
    const char *name = keep_text(w, t->name, to->t.name);
    uint64_t recorded = to->t.recorded;

    to->t = *t;
    to->t.name = name;
    to->t.recorded = recorded;
}

int nsc_writer_add_thread(struct nsc_writer *w, const struct nsc_thread *t, uint32_t *id,
                          struct nsc_lane **lane)
{
    struct nsc_writer_thread *to;
    struct nsc_lane *made;

    if (t->process >= w->tables[NSC_WRITER_PROCESSES].count)
        return -EINVAL;
    to = table_add(w, NSC_WRITER_THREADS);
    if (to == NULL)
        return nsc_writer_error(w);
    fill_thread(w, to, t);
    made = nsc_lane_new(w, w->tables[NSC_WRITER_THREADS].count - 1);
    if (made == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return -ENOMEM;
    }
    *lane = made;
    if (id != NULL)
        *id = made->thread;
    return 0; /* a latched write error does not fail this call */
}

struct nsc_writer_thread *nsc_writer_thread_at(struct nsc_writer *w, uint32_t id)
{
    return (struct nsc_writer_thread *)w->tables[NSC_WRITER_THREADS].items + id;
}

int nsc_writer_set_thread(struct nsc_writer *w, uint32_t id, const struct nsc_thread *t)
{
    struct nsc_writer_thread *to = table_change(w, NSC_WRITER_THREADS, id);

    if (to == NULL)
        return -EINVAL;
    fill_thread(w, to, t);
    return nsc_writer_error(w);
}

void nsc_writer_set_lost_unattributed(struct nsc_writer *w, uint64_t events)
{
    w->lost_unattributed = events;
}

/* ---- Functions ------------------------------------------------------------------------------- */

static const char *file_at(const struct nsc_writer *w, uint32_t index)
{
    return ((const char *const *)w->tables[NSC_WRITER_FILES].items)[index];
}

/* The slot of @file, or the free slot for it (linear probing, at most half full). */
static uint32_t *file_slot(const struct nsc_writer *w, const char *file)
{
    uint64_t hash = nsc_hash_bytes(nsc_hash_seed(), file, strlen(file));

    for (uint32_t i = (uint32_t)hash;; i++) {
        uint32_t *slot = &w->file_slots[i & (w->file_slot_count - 1)];

        if (*slot == 0 || strcmp(file_at(w, *slot - 1), file) == 0)
            return slot;
    }
}

static bool grow_file_slots(struct nsc_writer *w)
{
    uint32_t files = w->tables[NSC_WRITER_FILES].count;
    uint32_t count = w->file_slot_count == 0 ? 64 : w->file_slot_count * 2;
    uint32_t *slots;

    if (files < w->file_slot_count / 2)
        return true;
    slots = calloc(count, sizeof *slots);
    if (slots == NULL)
        return false;
    free(w->file_slots);
    w->file_slots = slots;
    w->file_slot_count = count;
    for (uint32_t i = 0; i < files; i++)
        *file_slot(w, file_at(w, i)) = i + 1;
    return true;
}

/* Index + 1 of @file in the file table, added when new; 0 for no file. */
static uint32_t keep_file(struct nsc_writer *w, const char *file)
{
    const char **entry;
    uint32_t *slot;

    if (file == NULL || *file == '\0')
        return 0;
    if (!grow_file_slots(w)) {
        nsc_writer_fail(w, -ENOMEM);
        return 0;
    }
    slot = file_slot(w, file);
    if (*slot == 0) {
        entry = table_add(w, NSC_WRITER_FILES);
        if (entry == NULL)
            return 0;
        *entry = keep_text(w, file, NULL);
        *slot = w->tables[NSC_WRITER_FILES].count;
    }
    return *slot;
}

static void fill_function(struct nsc_writer *w, struct nsc_entry_function *to,
                          const struct nsc_function *f)
{
    const char *name = keep_text(w, f->name, to->f.name);
    const char *symbol = f->symbol == f->name ? name : keep_text(w, f->symbol, to->f.symbol);

    to->file = keep_file(w, f->file);
    to->f = *f;
    to->f.name = name;
    to->f.symbol = symbol;
    to->f.file = to->file == 0 ? "" : file_at(w, to->file - 1);
}

struct nsc_entry_function *nsc_writer_function_at(struct nsc_writer *w, uint32_t id)
{
    return (struct nsc_entry_function *)w->tables[NSC_WRITER_FUNCTIONS].items + id;
}

/* Make room for the sums of a new function. */
static void grow_sums(struct nsc_writer *w)
{
    uint32_t count = w->tables[NSC_WRITER_FUNCTIONS].count, before = w->sum_room;
    struct nsc_writer_sum *grown = nsc_array_grow(w->sums, &w->sum_room, count, sizeof *grown);

    if (grown == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return;
    }
    memset(grown + before, 0, (w->sum_room - before) * sizeof *grown);
    w->sums = grown;
}

void nsc_writer_sums(const struct nsc_writer *w, struct nsc_writer_sum *out, uint32_t count)
{
    uint32_t known = count < w->sum_room ? count : w->sum_room;

    memset(out, 0, count * sizeof *out);
    if (known > 0)
        memcpy(out, w->sums, known * sizeof *out);
    for (const struct nsc_lane *lane = w->lanes; lane != NULL; lane = lane->next)
        nsc_lane_add_sums(lane, out, count);
}

int nsc_writer_add_function(struct nsc_writer *w, const struct nsc_function *f, uint32_t *id)
{
    struct nsc_entry_function *to = table_add(w, NSC_WRITER_FUNCTIONS);

    if (to != NULL && w->options.sums)
        grow_sums(w);
    if (to != NULL) {
        to->canonical = NSC_NO_ID;
        fill_function(w, to, f);
    }
    return added(w, NSC_WRITER_FUNCTIONS, id);
}

int nsc_writer_set_function(struct nsc_writer *w, uint32_t id, const struct nsc_function *f)
{
    struct nsc_entry_function *to = table_change(w, NSC_WRITER_FUNCTIONS, id);

    if (to == NULL)
        return -EINVAL;
    fill_function(w, to, f);
    return nsc_writer_error(w);
}

int nsc_writer_alias_function(struct nsc_writer *w, uint32_t id, uint32_t canonical)
{
    struct nsc_entry_function *to = table_change(w, NSC_WRITER_FUNCTIONS, id);
    const struct nsc_entry_function *functions = w->tables[NSC_WRITER_FUNCTIONS].items;

    if (to == NULL || canonical >= w->tables[NSC_WRITER_FUNCTIONS].count ||
        functions[canonical].canonical != NSC_NO_ID)
        return -EINVAL;
    to->canonical = canonical == id ? NSC_NO_ID : canonical;
    return nsc_writer_error(w);
}

uint32_t nsc_writer_function_count(const struct nsc_writer *w)
{
    return w->tables[NSC_WRITER_FUNCTIONS].count;
}

int nsc_writer_get_function(const struct nsc_writer *w, uint32_t id, struct nsc_function *out)
{
    const struct nsc_entry_function *functions = w->tables[NSC_WRITER_FUNCTIONS].items;

    if (id >= w->tables[NSC_WRITER_FUNCTIONS].count)
        return -EINVAL;
    *out = functions[id].f;
    return 0;
}

/* ---- Functions that were not recorded ---------------------------------------------------------
 */

static bool is_known_left_out(const struct nsc_writer *w, const struct nsc_left_out *l)
{
    return (l->function == NSC_NO_ID || l->function < w->tables[NSC_WRITER_FUNCTIONS].count) &&
           (l->process == NSC_NO_ID || l->process < w->tables[NSC_WRITER_PROCESSES].count) &&
           (l->to_ticks == 0 || l->to_ticks >= l->from_ticks);
}

int nsc_writer_add_left_out(struct nsc_writer *w, const struct nsc_left_out *l, uint32_t *id)
{
    struct nsc_left_out *to;

    if (!is_known_left_out(w, l))
        return -EINVAL;
    to = table_add(w, NSC_WRITER_LEFT_OUT);
    if (to != NULL)
        *to = *l;
    return added(w, NSC_WRITER_LEFT_OUT, id);
}

int nsc_writer_set_left_out(struct nsc_writer *w, uint32_t id, const struct nsc_left_out *l)
{
    struct nsc_left_out *to =
        is_known_left_out(w, l) ? table_change(w, NSC_WRITER_LEFT_OUT, id) : NULL;

    if (to == NULL)
        return -EINVAL;
    *to = *l;
    return nsc_writer_error(w);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

void nsc_writer_put_entries(struct nsc_writer *w, enum nsc_writer_table_id id, uint32_t first,
                            bool final)
{
    struct nsc_writer_table *table = &w->tables[id];
    const struct table_kind *kind = &table_kinds[id];
    struct nsc_buffer body = {0};

    while (first < table->count && nsc_writer_error(w) == 0) {
        uint32_t at = first;
        uint64_t offset;

        nsc_buffer_clear(&body);
        for (; at < table->count && body.used < TABLE_BLOCK_BYTES; at++) {
            nsc_buffer_clear(&w->entry);
            kind->put(&w->entry, (const char *)table->items + kind->item_bytes * at);
            nsc_buffer_leb(&body, w->entry.used);
            nsc_buffer_bytes(&body, w->entry.data, w->entry.used);
            body.failed |= w->entry.failed;
        }
        nsc_buffer_clear(&w->entry);
        nsc_buffer_leb(&w->entry, first);
        nsc_buffer_leb(&w->entry, at - first);
        nsc_buffer_bytes(&w->entry, body.data, body.used);
        if (body.failed || w->entry.failed) {
            nsc_writer_fail(w, -ENOMEM);
            break;
        }
        offset = nsc_trace_file_block(&w->sink, kind->kind, w->entry.data, w->entry.used);
        if (final)
            nsc_writer_list_block(w, kind->kind, offset);
        first = at;
    }
    nsc_buffer_free(&body);
    table->written = table->count;
}

void nsc_writer_put_new_entries(struct nsc_writer *w)
{
    for (int i = 0; i < NSC_WRITER_TABLES; i++)
        if (w->tables[i].written < w->tables[i].count)
            nsc_writer_put_entries(w, (enum nsc_writer_table_id)i, w->tables[i].written, false);
}
