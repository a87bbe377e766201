/*
 * writer.c - see writer.h: tables, memory bound, index, and the end of the file. Events are
 * lane.c's.
 */
#include "trace/writer.h"

#include <errno.h>
#include <stdio.h>

#include "trace/writer_state.h"
#include "util/array.h"

#define MEMORY_DEFAULT    ((size_t)80 << 20)
#define TABLE_BLOCK_BYTES ((size_t)256 << 10) /* tables are cut into blocks of about this size */

/* A table as the file has it: the kind of its blocks and the size and coding of its entries. */
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

/* Times that the caller left open come from the events. */
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

void nsc_writer_fail(struct nsc_writer *w, int error)
{
    if (w->error == 0)
        w->error = error;
}

int nsc_writer_error(const struct nsc_writer *w)
{
    return w->error != 0 ? w->error : w->sink.error;
}

uint64_t nsc_writer_dropped(const struct nsc_writer *w)
{
    return w->dropped;
}

uint64_t nsc_writer_bytes(const struct nsc_writer *w)
{
    return w->sink.offset;
}

uint64_t nsc_writer_calls(const struct nsc_writer *w)
{
    uint64_t calls = w->calls;

    for (const struct nsc_lane *lane = w->lanes; lane != NULL; lane = lane->next)
        calls += nsc_lane_pending_calls(lane);
    return calls;
}

const char *nsc_writer_partial_path(const struct nsc_writer *w)
{
    return w->sink.partial;
}

static void release(struct nsc_writer *w)
{
    while (w->lanes != NULL)
        nsc_lane_free(w->lanes);
    nsc_writer_free_notes(w);
    nsc_writer_free_levels(w);
    for (int i = 0; i < NSC_WRITER_TABLES; i++)
        free(w->tables[i].items);
    nsc_arena_free(&w->arena);
    nsc_buffer_free(&w->head);
    nsc_buffer_free(&w->section);
    nsc_buffer_free(&w->entry);
    free(w->file_slots);
    free(w->sums);
    free(w->rows);
    free(w->directory);
    nsc_sink_release(&w->sink);
    free(w);
}

/* A writer without a file. NULL when out of memory. */
static struct nsc_writer *new_writer(const struct nsc_writer_options *options)
{
    struct nsc_writer *w = calloc(1, sizeof *w);

    if (w == NULL)
        return NULL;
    w->sink.fd = w->sink.folder_fd = -1;
    if (options != NULL)
        memcpy(&w->options, options,
               options->size < sizeof w->options ? options->size : sizeof w->options);
    if (w->options.memory_bytes == 0)
        w->options.memory_bytes = MEMORY_DEFAULT;
    w->first_ticks = UINT64_MAX;
    nsc_lane_shorts_fill(w->shorts);
    w->rows = calloc(NSC_WRITER_ROWS_MAX, sizeof *w->rows);
    if (w->rows == NULL) {
        release(w);
        return NULL;
    }
    return w;
}

int nsc_writer_create(const char *path, const struct nsc_writer_options *options,
                      struct nsc_writer **out, struct nsc_diag *diag)
{
    struct nsc_writer *w = new_writer(options);
    int error;

    if (w == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_sink_create(&w->sink, path, w->options.overwrite, w->options.compress, diag);
    if (error != 0) {
        release(w);
        return error;
    }
    w->sink.keep = w->options.keep_partial;
    *out = w;
    return 0;
}

int nsc_writer_create_fd(int fd, const char *name, const struct nsc_writer_options *options,
                         struct nsc_writer **out, struct nsc_diag *diag)
{
    struct nsc_writer *w = new_writer(options);
    int error;

    if (w == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    error = nsc_sink_create_fd(&w->sink, fd, name, w->options.compress, diag);
    if (error != 0) {
        release(w);
        return error;
    }
    *out = w;
    return 0;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* A new zeroed entry; returns it or NULL with the error latched. */
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

/* Entry @id to be changed, or NULL. */
static void *table_change(struct nsc_writer *w, enum nsc_writer_table_id table, uint32_t id)
{
    if (id >= w->tables[table].count)
        return NULL;
    w->tables[table].changed = true;
    return (char *)w->tables[table].items + table_kinds[table].item_bytes * id;
}

/* A kept copy of @text; reuses @old when it is the same. NULL counts as empty. */
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
    return 0; /* a latched write error does not keep the caller from going on */
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

/* The slot of @file or the free one where it belongs (linear probing, half full at most). */
static uint32_t *file_slot(const struct nsc_writer *w, const char *file)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (const char *c = file; *c != '\0'; c++)
        hash = (hash ^ (uint8_t)*c) * 1099511628211u;
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

/* Index + 1 of @file in the file table, which gets it when it is new; 0 for none. */
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

/* Room for the sums of one more function. */
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

/* ---- What was left out ----------------------------------------------------------------------- */

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

/* ---- The file -------------------------------------------------------------------------------- */

void nsc_writer_list_block(struct nsc_writer *w, enum nsc_format_kind kind, uint64_t offset)
{
    struct nsc_writer_directory_entry *grown =
        nsc_array_grow(w->directory, &w->directory_room, w->directory_count, sizeof *grown);

    if (grown == NULL) {
        nsc_writer_fail(w, -ENOMEM);
        return;
    }
    w->directory = grown;
    grown[w->directory_count++] = (struct nsc_writer_directory_entry){offset, kind};
}

/* Write entries [first, count) of a table as blocks. @final: the directory lists them. */
static void put_entries(struct nsc_writer *w, enum nsc_writer_table_id id, uint32_t first,
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
        offset = nsc_sink_block(&w->sink, kind->kind, w->entry.data, w->entry.used);
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
            put_entries(w, (enum nsc_writer_table_id)i, w->tables[i].written, false);
}

static void put_index(struct nsc_writer *w)
{
    struct nsc_buffer *b = &w->head;
    uint64_t base = 0;

    if (w->row_count == 0)
        return;
    nsc_buffer_clear(b);
    nsc_buffer_leb(b, w->row_count);
    for (uint32_t i = 0; i < w->row_count; i++) {
        nsc_entry_put_chunk(b, &w->rows[i], base);
        base = w->rows[i].offset;
    }
    w->row_count = 0;
    if (b->failed)
        nsc_writer_fail(w, -ENOMEM);
    else
        nsc_writer_list_block(w, NSC_FORMAT_INDEX,
                              nsc_sink_block(&w->sink, NSC_FORMAT_INDEX, b->data, b->used));
}

void nsc_writer_add_chunk(struct nsc_writer *w, const struct nsc_entry_chunk *chunk)
{
    struct nsc_writer_thread *thread = nsc_writer_thread_at(w, chunk->thread);

    if (thread->t.recorded == 0 && thread->last_ticks == 0)
        thread->first_ticks = chunk->first_ticks;
    thread->last_ticks = chunk->last_ticks;
    thread->t.recorded += chunk->events;
    w->tables[NSC_WRITER_THREADS].changed = true;
    w->events += chunk->events;
    w->calls += chunk->calls;
    if (chunk->first_ticks < w->first_ticks)
        w->first_ticks = chunk->first_ticks;
    if (chunk->last_ticks > w->last_ticks)
        w->last_ticks = chunk->last_ticks;
    w->rows[w->row_count++] = *chunk;
    if (w->row_count == NSC_WRITER_ROWS_MAX)
        put_index(w);
}

static int by_last_ticks(const void *a, const void *b)
{
    const struct nsc_lane *const *left = a, *const *right = b;

    return ((*left)->last_ticks > (*right)->last_ticks) -
           ((*left)->last_ticks < (*right)->last_ticks);
}

void nsc_writer_relieve(struct nsc_writer *w, const struct nsc_lane *keep)
{
    size_t goal = w->options.memory_bytes / 4 * 3, count = 0, at = 0;
    struct nsc_lane **warm;

    for (struct nsc_lane *lane = w->warm; lane != NULL; lane = lane->warm_next)
        count += lane != keep && lane->held_bytes > 0;
    warm = malloc((count + 1) * sizeof *warm);
    if (warm == NULL)
        return; /* over the bound for a while: better than losing events */
    for (struct nsc_lane *lane = w->warm; lane != NULL; lane = lane->warm_next)
        if (lane != keep && lane->held_bytes > 0)
            warm[at++] = lane;
    qsort(warm, count, sizeof *warm, by_last_ticks);
    for (at = 0; at < count && w->held_bytes > goal; at++)
        nsc_lane_cool(warm[at]);
    free(warm);
}

int nsc_writer_flush(struct nsc_writer *w)
{
    for (struct nsc_lane *lane = w->lanes; lane != NULL; lane = lane->next)
        nsc_lane_flush(lane);
    nsc_writer_flush_notes(w);
    for (int i = 0; i < NSC_WRITER_TABLES; i++) {
        struct nsc_writer_table *table = &w->tables[i];

        put_entries(w, (enum nsc_writer_table_id)i, table->changed ? 0 : table->written, false);
        table->changed = false;
    }
    nsc_sink_push(&w->sink);
    return nsc_writer_error(w);
}

int nsc_writer_sync(struct nsc_writer *w)
{
    nsc_writer_flush(w);
    nsc_sink_flush(&w->sink);
    return nsc_writer_error(w);
}

int nsc_writer_branch(struct nsc_writer *w, const char *path, struct nsc_diag *diag)
{
    return nsc_sink_branch(&w->sink, path, diag);
}

static void put_directory(struct nsc_writer *w)
{
    struct nsc_buffer *b = &w->head;

    nsc_buffer_clear(b);
    nsc_buffer_leb(b, w->directory_count);
    for (uint32_t i = 0; i < w->directory_count; i++) {
        nsc_buffer_leb(b, w->directory[i].kind);
        nsc_buffer_leb(b, w->directory[i].offset);
    }
    nsc_buffer_leb(b, w->events);
    nsc_buffer_leb(b, w->calls);
    nsc_buffer_leb(b, w->lost_unattributed);
    if (b->failed)
        nsc_writer_fail(w, -ENOMEM);
    else
        nsc_sink_footer(&w->sink, nsc_sink_block(&w->sink, NSC_FORMAT_DIRECTORY, b->data, b->used));
}

int nsc_writer_finish(struct nsc_writer *w, struct nsc_diag *diag)
{
    int error;

    while (w->lanes != NULL)
        nsc_lane_close(w->lanes, w->lanes->last_ticks);
    nsc_writer_finish_notes(w);
    for (uint32_t i = 0; i < w->tables[NSC_WRITER_FUNCTIONS].count; i++)
        nsc_writer_function_at(w, i)->calls_known = true;
    for (int i = 0; i < NSC_WRITER_TABLES; i++)
        put_entries(w, (enum nsc_writer_table_id)i, 0, true);
    put_index(w);
    nsc_writer_put_level_index(w);
    put_directory(w);
    nsc_sink_flush(&w->sink);
    error = nsc_writer_error(w);
    if (error != 0 && w->sink.partial == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", w->sink.path,
                             strerror(-error));
    else if (error != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                             "cannot write %s: %s; what was kept is in %s (nanoscope recover)",
                             w->sink.path, strerror(-error), w->sink.partial);
    else
        error = nsc_sink_publish(&w->sink, diag);
    release(w);
    return error;
}

void nsc_writer_abandon(struct nsc_writer *w)
{
    nsc_sink_discard(&w->sink);
    release(w);
}
