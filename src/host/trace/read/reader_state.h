/*
 * reader_state.h - internal state of the reader, shared by open.c, load_tables.c, trace_tables.c,
 * salvage.c (incomplete files), chunk_head.c, levels.c, event_cursor.c (events) and note_reader.c.
 * Private to trace/read.
 */
#ifndef NSC_TRACE_READ_READER_STATE_H
#define NSC_TRACE_READ_READER_STATE_H

#include "base/span.h"
#include "trace/format/arena.h"
#include "trace/format/block.h"
#include "trace/format/table_entry.h"
#include "trace/read/reader.h"

/* A table in memory: count entries, whose size depends on the kind of table. */
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

/* Decoded totals, summary and durations of a chunk or index node. */
struct nsc_sections {
    struct nsc_chunk_total *totals;
    struct nsc_duration_count *counts;
    struct nsc_chunk_row *rows;
    uint32_t total_room, count_room, row_room;
    bool passes_durations; /* do not decode durations */
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
    uint8_t *untimed;         /* by function id: 0 or NSC_BOUND_END; NULL: all exits are timed */
    uint8_t *timed;           /* by module: not 0 if listed in meta `timing.full` */
    struct nsc_chunk *chunks; /* by thread, then sequence */
    uint32_t chunk_count, chunk_room;
    uint32_t *thread_chunks; /* index of each thread's first chunk; one more at the end */
    struct nsc_entry_notes *note_blocks; /* by kind, owner and time */
    uint32_t note_count, note_room;
    struct nsc_trace_info info;
    struct nsc_clock clock;
    uint64_t declared_events, declared_calls; /* from the directory */
    uint64_t table_bytes;                     /* decompressed bytes of tables and index so far */
    struct nsc_buffer plain, packed;          /* scratch for blocks */
    struct nsc_entry_level *levels;           /* by thread, level and first chunk */
    uint32_t level_count, level_room;
    uint32_t level_max;
    /* Decoded contents of the last chunk head read. */
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

/* A chunk head's decoded fixed fields, and the undecoded rest. */
struct nsc_head_fields {
    struct nsc_chunk chunk;
    uint64_t flags;
    struct nsc_span rest; /* the stack and the sections */
};

/* Parse a table block; its content is in t->plain. Ignores unknown kinds. */
int nsc_trace_load_table(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag);
/* Count the block towards the limit of tables and index for the file's size (docs/format.md section
 * 11). Fails with @diag if it is exceeded. */
int nsc_trace_count_bytes(struct nsc_trace *t, const struct nsc_block *block,
                          struct nsc_diag *diag);
/* Parse an INDEX block's content in t->plain and append its chunks. */
int nsc_trace_load_index(struct nsc_trace *t, const struct nsc_block *block, struct nsc_diag *diag);
/* Parse a NOTE_INDEX block's content in t->plain; parse the head of a block of notes in t->plain.
 * The second returns 0, -EBADMSG or -ENOMEM. */
int nsc_trace_load_note_index(struct nsc_trace *t, const struct nsc_block *block,
                              struct nsc_diag *diag);
int nsc_trace_scan_notes(struct nsc_trace *t, const struct nsc_block *block);
/* After all tables are loaded: sort the blocks of notes, check their owners, count the notes. */
int nsc_trace_link_notes(struct nsc_trace *t, struct nsc_diag *diag);
struct nsc_chunk *nsc_trace_add_chunk(struct nsc_trace *t);
/* After all tables are loaded: resolve ids, sort chunks by thread, fill t->info. */
int nsc_trace_link(struct nsc_trace *t, struct nsc_diag *diag);
/* Part of nsc_trace_link(): find functions with untimed exits. Returns 0 or -ENOMEM. */
int nsc_trace_link_timing(struct nsc_trace *t);
/* Read the intact blocks of an incomplete or damaged file. */
int nsc_trace_scan(struct nsc_trace *t, struct nsc_diag *diag);

/* Parse a LEVEL_INDEX block's content in t->plain; parse the head of a node in t->plain. The second
 * returns 0, -EBADMSG or -ENOMEM. */
int nsc_trace_load_levels(struct nsc_trace *t, const struct nsc_block *block,
                          struct nsc_diag *diag);
int nsc_trace_scan_level(struct nsc_trace *t, const struct nsc_block *block);
/* After all chunks are linked: sort the nodes and check that their chunks exist. */
int nsc_trace_link_levels(struct nsc_trace *t, struct nsc_diag *diag);

/**
 * nsc_level_read - read and decode an index node.
 * @sections: receives its decoded sections.
 * @found: receives the fields of the node's own head, checked against its index row @node.
 * @head: its section fields are filled and point into @sections; others are not set.
 * Returns 0, -EBADMSG with @diag, -ENOMEM, or a read error.
 */
int nsc_level_read(struct nsc_trace *t, const struct nsc_entry_level *node,
                   struct nsc_sections *sections, struct nsc_entry_level *found,
                   struct nsc_chunk_head *head, struct nsc_diag *diag);

/* Decode the fixed fields of a chunk head. Returns 0 or -EBADMSG with @diag. */
int nsc_head_parse(const struct nsc_block *block, const struct nsc_buffer *plain,
                   struct nsc_head_fields *fields, struct nsc_diag *diag);
/* Read a chunk's head block into t->plain and parse its fixed fields, which must match @chunk. */
int nsc_head_read(struct nsc_trace *t, const struct nsc_chunk *chunk, struct nsc_block *block,
                  struct nsc_head_fields *fields, struct nsc_diag *diag);

/**
 * nsc_reader_sections_read - decode totals, summary and durations.
 * @flags: the sections that are present (NSC_FORMAT_HEAD_*).
 * @of: the chunk, or the time range and maximum depth of a node.
 * @s: the encoded sections.
 * @into: receives the decoded sections; its memory is reused by the next call.
 * @head: its section fields are filled and point into @into.
 * Returns 0, -EBADMSG or -ENOMEM.
 */
int nsc_reader_sections_read(const struct nsc_trace *t, uint64_t flags, const struct nsc_chunk *of,
                             struct nsc_span *s, struct nsc_sections *into,
                             struct nsc_chunk_head *head);
void nsc_reader_sections_free(struct nsc_sections *sections);

/**
 * nsc_head_gather - collect the complete opening stack of chunks[@index] from its own head and the
 * heads of the thread's previous chunks (see `common` in struct nsc_chunk).
 * @chunks: all chunks of the thread.
 * @untold: receives the number of outermost calls whose heads are missing; their frames are not
 *          filled. Not 0 only in a recovered file.
 * @next: set if @untold > 0: sequence number of the chunk that follows the missing head.
 * Returns 0, -EBADMSG or -ENOMEM with @diag.
 */
int nsc_head_gather(struct nsc_trace *t, const struct nsc_chunk *chunks, uint32_t index,
                    struct nsc_chunk_stack *stack, bool with_child_ticks, uint32_t *untold,
                    uint64_t *next, struct nsc_diag *diag);
/* Make room for @depth frames. Returns 0 or -ENOMEM. */
int nsc_chunk_stack_reserve(struct nsc_chunk_stack *stack, uint32_t depth);
/* Get the placeholder for functions whose table was lost: the last function of a recovered file.
 * Returns false in other files. */
bool nsc_trace_stand_in(const struct nsc_trace *t, uint64_t *function);

#endif
