/*
 * reader_notes.c - iterate over samples, states, marks and counters; see nanoscope/reader.h.
 *
 * Called by users of the library.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libreader/reader_handle.h"

struct nanoscope_notes {
    const struct nanoscope_trace *trace;
    struct nsc_note_cursor *cursor;
    uint64_t to_ticks;
    uint32_t kind; /* enum nsc_note_kind */
    int failed;    /* -errno; `diag` says why */
    struct nsc_diag diag;
};

NSC_READER_API int nanoscope_notes_open(struct nanoscope_trace *trace, unsigned kind,
                                        uint32_t owner, uint64_t from_ns, uint64_t to_ns,
                                        struct nanoscope_notes **notes,
                                        struct nanoscope_error *error)
{
    const struct nsc_trace_info *info = nsc_trace_info(trace->trace);
    bool of_process = kind == NANOSCOPE_PROCESS_COUNTERS;
    struct nsc_diag diag = {.offset = NSC_DIAG_NO_OFFSET};
    struct nanoscope_notes *n;
    struct nsc_selection window;
    int code = nsc_reader_window(trace, from_ns, to_ns, &window, error);

    if (code != 0)
        return code;
    if (kind > NANOSCOPE_PROCESS_COUNTERS)
        return nsc_reader_refuse(EINVAL, error, "there is no kind %u of notes", kind);
    if (owner >= (of_process ? info->process_count : info->thread_count))
        return nsc_reader_refuse(EINVAL, error, "there is no %s %u",
                                 of_process ? "process" : "thread", owner);
    n = calloc(1, sizeof *n);
    if (n == NULL)
        return nsc_reader_refuse(ENOMEM, error, "out of memory");
    n->trace = trace;
    n->diag.offset = NSC_DIAG_NO_OFFSET;
    n->to_ticks = window.to_ticks;
    n->kind = of_process ? (unsigned)NSC_NOTE_COUNTER : kind;
    code = nsc_note_cursor_open(trace->trace, (enum nsc_note_kind)n->kind, owner, of_process,
                                window.from_ticks, &n->cursor, &diag);
    if (code != 0) {
        free(n);
        return nsc_reader_fail(code, &diag, nsc_trace_name(trace->trace), error);
    }
    *notes = n;
    return 0;
}

NSC_READER_API void nanoscope_notes_close(struct nanoscope_notes *notes)
{
    if (notes == NULL)
        return;
    nsc_note_cursor_close(notes->cursor);
    free(notes);
}

/* Read the next note, which must be of @kind. Returns 1, 0 at the end, or -errno with @error. */
static int next(struct nanoscope_notes *n, uint32_t kind, struct nsc_note *note,
                struct nanoscope_error *error)
{
    int code;

    *note = (struct nsc_note){0};
    if (n->kind != kind)
        return nsc_reader_refuse(EINVAL, error, "these notes are of another kind");
    if (n->failed == 0 && n->cursor == NULL)
        return 0;
    code = n->failed != 0 ? n->failed : nsc_note_cursor_next(n->cursor, note, &n->diag);
    if (code > 0 && note->ticks < n->to_ticks)
        return 1;
    nsc_note_cursor_close(n->cursor);
    n->cursor = NULL;
    n->failed = code < 0 ? code : 0;
    return code < 0 ? nsc_reader_fail(code, &n->diag, nsc_trace_name(n->trace->trace), error) : 0;
}

/* Copy a note that was found to the caller. Returns 1 or -errno. */
static int give(void *out, size_t size, const void *from, size_t bytes)
{
    int code = nsc_reader_give(out, size, from, bytes);

    return code == 0 ? 1 : code;
}

NSC_READER_API int nanoscope_notes_sample(struct nanoscope_notes *notes,
                                          struct nanoscope_sample *sample, size_t size,
                                          struct nanoscope_error *error)
{
    struct nanoscope_sample mine = {0};
    struct nsc_note note;
    int code = next(notes, NSC_NOTE_SAMPLE, &note, error);

    if (code <= 0)
        return code;
    mine.time_ns = nsc_reader_ns(notes->trace, note.ticks);
    mine.known = note.sample.known;
    memcpy(mine.values, note.sample.values, sizeof note.sample.values);
    return give(sample, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_notes_state(struct nanoscope_notes *notes,
                                         struct nanoscope_state *state, size_t size,
                                         struct nanoscope_error *error)
{
    struct nsc_note note;
    struct nanoscope_state mine;
    int code = next(notes, NSC_NOTE_STATE, &note, error);

    if (code <= 0)
        return code;
    mine = (struct nanoscope_state){
        .time_ns = nsc_reader_ns(notes->trace, note.ticks),
        .old_state = note.state.old_state,
        .new_state = note.state.new_state,
        .name = nsc_model_state_name(note.state.new_state),
    };
    if (mine.name == NULL)
        mine.name = "";
    return give(state, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_notes_mark(struct nanoscope_notes *notes,
                                        struct nanoscope_mark_note *mark, size_t size,
                                        struct nanoscope_error *error)
{
    struct nsc_note note;
    struct nanoscope_mark_note mine;
    int code = next(notes, NSC_NOTE_MARK, &note, error);

    if (code <= 0)
        return code;
    mine = (struct nanoscope_mark_note){
        .time_ns = nsc_reader_ns(notes->trace, note.ticks),
        .name = note.mark.name,
        .text = note.mark.metadata,
        .cut = note.mark.cut,
    };
    return give(mark, size, &mine, sizeof mine);
}

NSC_READER_API int nanoscope_notes_counter(struct nanoscope_notes *notes,
                                           struct nanoscope_counter_note *counter, size_t size,
                                           struct nanoscope_error *error)
{
    struct nsc_note note;
    struct nanoscope_counter_note mine;
    int code = next(notes, NSC_NOTE_COUNTER, &note, error);

    if (code <= 0)
        return code;
    mine = (struct nanoscope_counter_note){
        .time_ns = nsc_reader_ns(notes->trace, note.ticks),
        .name = note.counter.name,
        .integer = note.counter.integer,
        .real = note.counter.real,
        .is_real = note.counter.is_real,
    };
    return give(counter, size, &mine, sizeof mine);
}

_Static_assert(sizeof(((struct nsc_sample *)0)->values) <=
                   sizeof(((struct nanoscope_sample *)0)->values),
               "a sample of the library has room for one of the file");
_Static_assert((int)NANOSCOPE_SAMPLE_FREED_BYTES == (int)NSC_SAMPLE_FREED_BYTES &&
                   (int)NANOSCOPE_COUNTERS == (int)NSC_NOTE_COUNTER,
               "numbers are handed on as they are");
