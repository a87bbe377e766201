/*
 * writer_file.c - see writer.h: create the trace file, flush buffered data, finish the file. Events
 * are in lane.c, tables in table_writer.c.
 */
#include <errno.h>

#include "trace/write/lane.h"
#include "trace/write/writer_state.h"

#define MEMORY_DEFAULT ((size_t)80 << 20)

uint64_t nsc_writer_calls(const struct nsc_writer *w)
{
    uint64_t calls = w->calls;

    for (const struct nsc_lane *lane = w->lanes; lane != NULL; lane = lane->next)
        calls += nsc_lane_pending_calls(lane);
    return calls;
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

/* Allocate a writer without a file. Returns NULL if out of memory. */
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
    nsc_writer_put_index(w);
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
