/* chunk_index.c - the chunk index: collect one row per chunk and write the rows in blocks. */
#include <errno.h>

#include "trace/write/writer_state.h"

void nsc_writer_put_index(struct nsc_writer *w)
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
        nsc_writer_put_index(w);
}
