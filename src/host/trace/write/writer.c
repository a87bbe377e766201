/*
 * writer.c - see writer.h: memory bound, index, and the end of the file. Events are lane.c's,
 * tables table_writer.c's.
 */
#include "trace/write/writer.h"

#include <errno.h>

#include "trace/write/writer_state.h"
#include "util/array.h"

#define MEMORY_DEFAULT ((size_t)80 << 20)

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

int nsc_writer_fd(const struct nsc_writer *w)
{
    return w->sink.fd;
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
    nsc_trace_file_release(&w->sink);
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
    error = nsc_trace_file_create(&w->sink, path, w->options.overwrite, w->options.compress, diag);
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
    error = nsc_trace_file_create_fd(&w->sink, fd, name, w->options.compress, diag);
    if (error != 0) {
        release(w);
        return error;
    }
    *out = w;
    return 0;
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
                              nsc_trace_file_block(&w->sink, NSC_FORMAT_INDEX, b->data, b->used));
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

        nsc_writer_put_entries(w, (enum nsc_writer_table_id)i, table->changed ? 0 : table->written,
                               false);
        table->changed = false;
    }
    nsc_trace_file_push(&w->sink);
    return nsc_writer_error(w);
}

int nsc_writer_sync(struct nsc_writer *w)
{
    nsc_writer_flush(w);
    nsc_trace_file_flush(&w->sink);
    return nsc_writer_error(w);
}

int nsc_writer_branch(struct nsc_writer *w, const char *path, struct nsc_diag *diag)
{
    return nsc_trace_file_branch(&w->sink, path, diag);
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
        nsc_trace_file_footer(
            &w->sink, nsc_trace_file_block(&w->sink, NSC_FORMAT_DIRECTORY, b->data, b->used));
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
        nsc_writer_put_entries(w, (enum nsc_writer_table_id)i, 0, true);
    put_index(w);
    nsc_writer_put_level_index(w);
    put_directory(w);
    nsc_trace_file_flush(&w->sink);
    error = nsc_writer_error(w);
    if (error != 0 && w->sink.partial == NULL)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", w->sink.path,
                             strerror(-error));
    else if (error != 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                             "cannot write %s: %s; what was kept is in %s (nanoscope recover)",
                             w->sink.path, strerror(-error), w->sink.partial);
    else
        error = nsc_trace_file_publish(&w->sink, diag);
    release(w);
    return error;
}

void nsc_writer_abandon(struct nsc_writer *w)
{
    nsc_trace_file_discard(&w->sink);
    release(w);
}
