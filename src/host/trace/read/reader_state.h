/*
 * reader_state.h - the reader's inside, shared by open.c, load_tables.c, trace_tables.c, salvage.c
 * (incomplete files), chunk_head.c (chunk heads), event_cursor.c (events) and note_reader.c.
 */
#ifndef NSC_TRACE_READ_READER_STATE_H
#define NSC_TRACE_READ_READER_STATE_H

#include "base/span.h"
#include "trace/format/arena.h"
#include "trace/format/block.h"
#include "trace/format/table_entry.h"
#include "trace/read/reader.h"

/* A table in memory: count entries of a size that its kind knows. */
struct nsc_trace_table {
    void *items;
    uint32_t count, room;
};

/* Open calls, outermost first. */
struct nsc_chunk_stack {
    struct nsc_frame *frames;
    uint64_t *child_ticks;
    uint32_t frame_room, child_room;
};

/* Totals, summary and durations of a chunk or of a node above chunks, decoded. */
struct nsc_sections {
    struct nsc_chunk_total *totals;
    struct nsc_duration_count *counts;
    struct nsc_chunk_row *rows;
    uint32_t total_room, count_room, row_room;
    bool passes_durations; /* they are not wanted and stay undecoded */
};

struct nsc_trace {
    int fd;
    char *name; /* for messages */
    unsigned flags;
    bool compressed; /* by the file header */
    struct nsc_arena arena;
    struct nsc_trace_table processes, threads, modules, mappings, functions, files, clocks, metas,
        left_out;
    uint32_t *canonical;      /* by function id */
    uint8_t *untimed;         /* by function id: what is bound of its calls' ends; NULL: nothing */
    uint8_t *timed;           /* by module: not 0 if timed in full all the same */
    struct nsc_chunk *chunks; /* by thread, then sequence */
    uint32_t chunk_count, chunk_room;
    uint32_t *thread_chunks; /* index of each thread's first chunk; one more at the end */
    struct nsc_entry_notes *note_blocks; /* by kind, owner and time */
    uint32_t note_count, note_room;
    struct nsc_trace_info info;
    struct nsc_clock clock;
    uint64_t declared_events, declared_calls; /* by the directory */
    uint64_t table_bytes;                     /* plain bytes of tables and index so far */
    struct nsc_buffer plain, packed;          /* scratch for blocks */
    struct nsc_entry_level *levels;           /* by thread, level and first chunk */
    uint32_t level_count, level_room;
    uint32_t level_max;
    /* The last chunk head read. */
    struct nsc_chunk_stack stack;
    struct nsc_sections sections;
    struct nsc_chunk_stack gathered; /* see nsc_levels_stack() */
    bool (*is_gone)(void *context);  /* see nsc_trace_watch() */
    void *watcher;
};

static inline struct nsc_chunk nsc_reader_chunk_of(const struct nsc_entry_chunk *row)
{
    return (struct nsc_chunk){
        .offset = row->offset,
        .first_ticks = row->first_ticks,
        .last_ticks = row->last_ticks,
        .events = row->events,
        .calls = row->calls,
        .lost = row->lost,
        .thread = row->thread,
        .min_depth = row->min_depth,
        .max_depth = row->max_depth,
        .depth = row->depth,
        .common = row->common,
    };
}

/* A chunk head's numbers and what follows them, undecoded. */
struct nsc_head_fields {
    struct nsc_chunk chunk;
    uint64_t flags;
    struct nsc_span rest; /* the stack and the sections */
};

/* @block's content is in t->plain. Unknown kinds are passed over. */
int nsc_trace_load_table(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag);
/* Whether tables and index stay within what a file of this size may hold (docs/format.md 11). */
int nsc_trace_count_bytes(struct nsc_trace *t, const struct nsc_block *block,
                          struct nsc_diag *diag);
/* Parse an INDEX block's content in t->plain and append its chunks. */
int nsc_trace_load_index(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag);
/* Parse a NOTE_INDEX block's content in t->plain, or the head of a block of notes there. The second
 * returns 0, -EBADMSG or -ENOMEM. */
int nsc_trace_load_note_index(struct nsc_trace *t, const struct nsc_block *block,
                              struct nsc_diag *diag);
int nsc_trace_scan_notes(struct nsc_trace *t, const struct nsc_block *block);
/* After all tables: sort the blocks of notes, check their owners, count. */
int nsc_trace_link_notes(struct nsc_trace *t, struct nsc_diag *diag);
struct nsc_chunk *nsc_trace_add_chunk(struct nsc_trace *t);
/* After all tables: resolve ids, sort chunks by thread, sum up. */
int nsc_trace_link(struct nsc_trace *t, struct nsc_diag *diag);
/* Of that: whose ends were not timed. Returns 0 or -ENOMEM. */
int nsc_trace_link_timing(struct nsc_trace *t);
/* Read what is whole of an incomplete or damaged file. */
int nsc_trace_scan(struct nsc_trace *t, struct nsc_diag *diag);

/* Parse a LEVEL_INDEX block's content in t->plain, or the head of a node there. The second returns
 * 0, -EBADMSG or -ENOMEM. */
int nsc_trace_load_levels(struct nsc_trace *t, const struct nsc_block *block,
                          struct nsc_diag *diag);
int nsc_trace_scan_level(struct nsc_trace *t, const struct nsc_block *block);
/* After all chunks: sort the nodes and check that they lie above chunks. */
int nsc_trace_link_levels(struct nsc_trace *t, struct nsc_diag *diag);

/**
 * nsc_level_read - read and decode a node.
 * @found: receives what its block says of itself, which agrees with @node as far as that goes.
 * @head: what of it points at its sections, which are decoded into @sections, is filled.
 * Returns 0, -EBADMSG with @diag, -ENOMEM, or a read error.
 */
int nsc_level_read(struct nsc_trace *t, const struct nsc_entry_level *node,
                   struct nsc_sections *sections, struct nsc_entry_level *found,
                   struct nsc_chunk_head *head, struct nsc_diag *diag);

/* Decode the numbers of a chunk head. Returns 0 or -EBADMSG with @diag. */
int nsc_head_parse(const struct nsc_block *block, const struct nsc_buffer *plain,
                   struct nsc_head_fields *fields, struct nsc_diag *diag);
/* Read a chunk's head block into t->plain and parse its numbers, which must match the chunk's. */
int nsc_head_read(struct nsc_trace *t, const struct nsc_chunk *chunk, struct nsc_block *block,
                  struct nsc_head_fields *fields, struct nsc_diag *diag);

/**
 * nsc_reader_sections_read - decode totals, summary and durations.
 * @flags: which there are (NSC_FORMAT_HEAD_*).
 * @of: the chunk, or a node's range of time and greatest depth.
 * @s: where they stand.
 * @into: receives them, in memory that it keeps for the next.
 * @head: what of it points at them is filled.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int nsc_reader_sections_read(const struct nsc_trace *t, uint64_t flags, const struct nsc_chunk *of,
                             struct nsc_span *s, struct nsc_sections *into,
                             struct nsc_chunk_head *head);
void nsc_reader_sections_free(struct nsc_sections *sections);

/**
 * nsc_head_gather - the whole opening stack of chunks[@index], a chunk of @chunks of one thread.
 * @untold: receives how many of its outermost calls no head tells, whose frames are not filled;
 *          only a recovered file has any. @next: then, the sequence number behind the head that is
 *          not there.
 * Returns 0, -EBADMSG or -ENOMEM with @diag.
 */
int nsc_head_gather(struct nsc_trace *t, const struct nsc_chunk *chunks, uint32_t index,
                    struct nsc_chunk_stack *stack, bool with_child_ticks, uint32_t *untold,
                    uint64_t *next, struct nsc_diag *diag);
/* Room for @depth frames. Returns 0 or -ENOMEM. */
int nsc_chunk_stack_reserve(struct nsc_chunk_stack *stack, uint32_t depth);
/* In a recovered file the last function stands for those whose table was lost. */
bool nsc_trace_stand_in(const struct nsc_trace *t, uint64_t *function);

#endif
