/*
 * writer_state.h - internal state of the writer, shared by writer_file.c, table_writer.c, lane.c
 * (events), chunk_index.c, level_writer.c (upper levels of the index) and note_writer.c. Private to
 * trace/write.
 */
#ifndef NSC_TRACE_WRITE_WRITER_STATE_H
#define NSC_TRACE_WRITE_WRITER_STATE_H

#include "trace/format/arena.h"
#include "trace/format/call_sums.h"
#include "trace/format/table_entry.h"
#include "trace/write/lane_state.h"
#include "trace/write/trace_file.h"
#include "trace/write/writer.h"

struct nsc_writer_thread {
    struct nsc_thread t;
    uint64_t first_ticks, last_ticks; /* of its events in the file */
};

enum nsc_writer_table_id {
    NSC_WRITER_META,
    NSC_WRITER_CLOCK,
    NSC_WRITER_PROCESSES,
    NSC_WRITER_THREADS,
    NSC_WRITER_MODULES,
    NSC_WRITER_MAPPINGS,
    NSC_WRITER_FILES,
    NSC_WRITER_FUNCTIONS,
    NSC_WRITER_LEFT_OUT,
    NSC_WRITER_TABLES,
};

struct nsc_writer_table {
    void *items;
    uint32_t count, room;
    uint32_t written; /* entries in the file, perhaps in an older state */
    bool changed;     /* an entry below `written` differs from the file's */
};

struct nsc_writer_directory_entry {
    uint64_t offset;
    enum nsc_format_kind kind;
};

struct nsc_note_stream; /* note_writer.c */

/* The streams of one kind of notes by owner; NULL for owners without notes. */
struct nsc_writer_notes {
    struct nsc_note_stream **streams;
    uint32_t count, room;
};

/* ---- Levels of the index ---- */

/* Position of a function's rows in the totals and durations sections. */
struct nsc_level_place {
    uint32_t function;
    uint32_t totals, durations; /* offsets */
};

/* A chunk or node that is being added to its parent node. Its sums are in w->section, w->durations
 * and w->places, where nsc_lane_code_totals() put them. */
struct nsc_level_part {
    struct nsc_entry_level node;
    uint64_t event_bytes; /* of its chunks */
    bool has_sums, has_rows;
    uint32_t row_count;
    const struct nsc_buffer *rows;
};

struct nsc_level_child; /* level_writer.c */

/* Children of the next node of one thread and level. */
struct nsc_writer_level {
    struct nsc_level_child *first, *last;
    uint32_t count;
};

struct nsc_level_scratch; /* level_writer.c */

struct nsc_writer {
    struct nsc_trace_file sink;
    struct nsc_writer_options options;
    int error; /* latched, other than the sink's */
    struct nsc_arena arena;
    struct nsc_writer_table tables[NSC_WRITER_TABLES];
    uint32_t *file_slots; /* hash of file names: index + 1, or 0 */
    uint32_t file_slot_count;
    struct nsc_lane *lanes;                 /* open ones */
    struct nsc_lane *warm;                  /* open ones with buffers */
    size_t held_bytes;                      /* sum of the lanes' held_bytes */
    uint64_t frames_room;                   /* sum of the lanes' frames_room */
    struct nsc_buffer head, section, entry; /* scratch */
    struct nsc_buffer durations;            /* rows of the same functions as in section */
    struct nsc_level_place *places;         /* positions of the rows in section and durations */
    uint32_t place_count, place_room;
    uint32_t shorts[NSC_LANE_SHORTS]; /* for the lanes */
    uint64_t counts[NSC_BUCKETS];     /* scratch, zero between uses */
    struct nsc_level_scratch *level_scratch;
    size_t level_bytes;                 /* memory of all children that wait for their node */
    struct nsc_entry_level *level_rows; /* level index rows not yet in the file */
    uint32_t level_row_count, level_row_room;
    struct nsc_writer_sum *sums; /* of written chunks, by function; NULL without options.sums */
    uint32_t sum_room;
    struct nsc_entry_chunk *rows; /* index rows not yet in the file */
    uint32_t row_count;
    struct nsc_writer_notes notes[NSC_NOTE_KINDS][2]; /* of threads, of processes */
    size_t note_bytes;                                /* memory of all streams */
    struct nsc_entry_notes *note_rows;                /* note index rows not yet in the file */
    uint32_t note_row_count, note_row_room;
    struct nsc_writer_directory_entry *directory;
    uint32_t directory_count, directory_room;
    uint64_t events, calls, lost_unattributed, dropped;
    uint64_t first_ticks, last_ticks; /* of all chunks */
};

#define NSC_WRITER_ROWS_MAX 16384

/* Latch an error that is not the sink's. */
void nsc_writer_fail(struct nsc_writer *w, int error);
struct nsc_writer_thread *nsc_writer_thread_at(struct nsc_writer *w, uint32_t id);
struct nsc_entry_function *nsc_writer_function_at(struct nsc_writer *w, uint32_t id);
/* Write entries [first, count) of a table as blocks. @final: the directory lists them. */
void nsc_writer_put_entries(struct nsc_writer *w, enum nsc_writer_table_id id, uint32_t first,
                            bool final);
/* Write new table entries, before a chunk that may refer to them. */
void nsc_writer_put_new_entries(struct nsc_writer *w);
/* Add a row to the chunk index; write the rows that are not in the file yet. */
void nsc_writer_add_chunk(struct nsc_writer *w, const struct nsc_entry_chunk *chunk);
void nsc_writer_put_index(struct nsc_writer *w);

/* Add a block to the directory. */
void nsc_writer_list_block(struct nsc_writer *w, enum nsc_format_kind kind, uint64_t offset);

/* Notes, for writer_file.c: write the open blocks; write them and the note index; free all. */
void nsc_writer_flush_notes(struct nsc_writer *w);
void nsc_writer_finish_notes(struct nsc_writer *w);
void nsc_writer_free_notes(struct nsc_writer *w);

/*
 * Levels. nsc_level_begin() and, before each row, nsc_level_place() record the positions of the
 * rows while the sums of a chunk or node are encoded. nsc_level_add() then adds the part to the
 * lane's next level, which may complete nodes there and above. nsc_level_finish() writes the
 * incomplete nodes at the end of the lane. Errors are only latched in the writer. A node that does
 * not fit into memory is omitted; readers work without it.
 */
void nsc_level_begin(struct nsc_writer *w);
void nsc_level_place(struct nsc_writer *w, uint32_t function);
void nsc_level_add(struct nsc_lane *lane, const struct nsc_level_part *part);
void nsc_level_finish(struct nsc_lane *lane);
void nsc_level_free(struct nsc_lane *lane);
/* For writer_file.c: write the level index; free all level state that is not owned by lanes. */
void nsc_writer_put_level_index(struct nsc_writer *w);
void nsc_writer_free_levels(struct nsc_writer *w);

/* Lanes, for writer_file.c. */
struct nsc_lane *nsc_lane_new(struct nsc_writer *w, uint32_t thread);
/* Write the open chunk, keep the buffers. */
void nsc_lane_flush(struct nsc_lane *lane);
/* Write the open chunk and free the buffers; the frames stay. */
void nsc_lane_cool(struct nsc_lane *lane);
/* Free without writing. */
void nsc_lane_free(struct nsc_lane *lane);
/* Choose the delta bias `least` of the next chunks by the deltas of the chunk just written, which
 * ends at lane->at. */
void nsc_lane_choose_least(struct nsc_lane *lane);
/* Calls in the open chunk. */
uint64_t nsc_lane_pending_calls(const struct nsc_lane *lane);
/* Add the sums of the calls that ended in the open chunk, of functions below @count. */
void nsc_lane_add_sums(const struct nsc_lane *lane, struct nsc_writer_sum *sums, uint32_t count);

/* A lane's totals, for lane.c. Number of calls that ended in the open chunk. */
uint64_t nsc_lane_calls_ended(const struct nsc_lane *lane);
/* Make room for the histograms of more functions. Returns false if out of memory. */
bool nsc_lane_grow_counts(struct nsc_lane *lane);
/* Encode the chunk's totals into the writer's section and durations, and reset them. Returns the
 * number of calls that ended in the chunk. */
uint64_t nsc_lane_code_totals(struct nsc_lane *lane);

#endif
