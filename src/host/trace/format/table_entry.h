/*
 * table_entry.h - encode and decode one entry of each table of a .nst file.
 *
 * Used inside trace/ by the writer and the reader. Entries are coded without their length prefix.
 * Bytes after the fields known here belong to newer versions. Source: docs/format.md section 6.
 */
#ifndef NSC_TRACE_FORMAT_TABLE_ENTRY_H
#define NSC_TRACE_FORMAT_TABLE_ENTRY_H

#include "base/span.h"
#include "trace/format/arena.h"
#include "trace/format/model.h"
#include "util/buffer.h"

struct nsc_meta {
    const char *key;
    const char *value;
};

/* A function with its file and canonical id as numbers. */
struct nsc_entry_function {
    struct nsc_function f; /* f.file is not coded here */
    uint32_t file;         /* 0 = none, else index in the file table + 1 */
    uint32_t canonical;    /* its own id unless it is an alias */
    uint64_t calls;        /* calls with this id that ended in the file */
    bool calls_known;      /* only if the file is complete */
};

/* Row of the chunk index. */
struct nsc_entry_chunk {
    uint64_t offset; /* of its head block */
    uint64_t first_ticks, last_ticks;
    uint64_t events, calls, lost;
    uint32_t thread;
    uint32_t min_depth, max_depth;
    uint32_t depth, common; /* open calls at its start; number of outermost ones inherited from
                               the previous chunk's head */
};

/* Row of the index of notes: a block of notes. */
struct nsc_entry_notes {
    uint64_t offset; /* of the block */
    uint64_t first_ticks, last_ticks;
    uint64_t count;
    uint64_t owner; /* index * 2, plus NSC_FORMAT_OWNER_PROCESS */
    uint32_t kind;  /* enum nsc_note_kind */
};

/* A node of the upper index levels: the head of its block, and its row in the level index. */
struct nsc_entry_level {
    uint64_t offset;                  /* of the block */
    uint64_t first_chunk, chunks;     /* sequence number of its first chunk; number of chunks */
    uint64_t first_ticks, last_ticks; /* last_ticks and the next line are not in the row */
    uint64_t events, calls, lost;
    uint32_t thread;
    uint32_t level; /* from 1 on */
    uint32_t min_depth, max_depth;
    uint32_t sections; /* NSC_FORMAT_HEAD_* */
    uint32_t shift;    /* of its summary; 0 if it has none */
};

void nsc_entry_put_process(struct nsc_buffer *b, const struct nsc_process *p);
void nsc_entry_put_thread(struct nsc_buffer *b, const struct nsc_thread *t);
void nsc_entry_put_module(struct nsc_buffer *b, const struct nsc_module *m);
void nsc_entry_put_mapping(struct nsc_buffer *b, const struct nsc_mapping *m);
void nsc_entry_put_function(struct nsc_buffer *b, const struct nsc_entry_function *f);
void nsc_entry_put_clock(struct nsc_buffer *b, const struct nsc_clock_point *p);
void nsc_entry_put_meta(struct nsc_buffer *b, const struct nsc_meta *m);
void nsc_entry_put_left_out(struct nsc_buffer *b, const struct nsc_left_out *l);
/* @base: offset of the previous row, or 0; offsets ascend from row to row. */
void nsc_entry_put_chunk(struct nsc_buffer *b, const struct nsc_entry_chunk *c, uint64_t base);
/* The fields that a chunk's head and its index row share: all except offset and thread. */
void nsc_entry_put_extent(struct nsc_buffer *b, const struct nsc_entry_chunk *c);
void nsc_entry_put_notes(struct nsc_buffer *b, const struct nsc_entry_notes *n, uint64_t base);
/* The head of a block of notes: the row without offset and kind, after a length prefix. */
void nsc_entry_put_notes_head(struct nsc_buffer *b, const struct nsc_entry_notes *n);
/* A row of the level index, and the head of a node's block after a length prefix. */
void nsc_entry_put_level(struct nsc_buffer *b, const struct nsc_entry_level *n, uint64_t base);
void nsc_entry_put_level_head(struct nsc_buffer *b, const struct nsc_entry_level *n);

/* Decoders. Strings are copied into @arena. Return 0, -EBADMSG or -ENOMEM. */
int nsc_entry_get_process(struct nsc_span *s, struct nsc_arena *arena, struct nsc_process *p);
int nsc_entry_get_thread(struct nsc_span *s, struct nsc_arena *arena, struct nsc_thread *t);
int nsc_entry_get_module(struct nsc_span *s, struct nsc_arena *arena, struct nsc_module *m);
int nsc_entry_get_mapping(struct nsc_span *s, struct nsc_arena *arena, struct nsc_mapping *m);
int nsc_entry_get_function(struct nsc_span *s, struct nsc_arena *arena,
                           struct nsc_entry_function *f);
int nsc_entry_get_clock(struct nsc_span *s, struct nsc_arena *arena, struct nsc_clock_point *p);
int nsc_entry_get_meta(struct nsc_span *s, struct nsc_arena *arena, struct nsc_meta *m);
int nsc_entry_get_text(struct nsc_span *s, struct nsc_arena *arena, const char **text);
int nsc_entry_get_left_out(struct nsc_span *s, struct nsc_arena *arena, struct nsc_left_out *l);
int nsc_entry_get_chunk(struct nsc_span *s, uint64_t base, struct nsc_entry_chunk *c);
int nsc_entry_get_extent(struct nsc_span *s, struct nsc_entry_chunk *c);
int nsc_entry_get_notes(struct nsc_span *s, uint64_t base, struct nsc_entry_notes *n);
int nsc_entry_get_notes_head(struct nsc_span *s, struct nsc_entry_notes *n);
int nsc_entry_get_level(struct nsc_span *s, uint64_t base, struct nsc_entry_level *n);
int nsc_entry_get_level_head(struct nsc_span *s, struct nsc_entry_level *n);

#endif
