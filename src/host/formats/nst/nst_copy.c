/* nst_copy.c - see nst_copy.h. */
#include "formats/nst/nst_copy.h"

#include <errno.h>
#include <string.h>

#include "trace/write/lane.h"

/* Copies the tables in the order of the old file, so that ids stay the same. */
static int copy_tables(struct nsc_trace *t, struct nsc_writer *w)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    const char *key, *value;

    for (uint32_t i = 0; nsc_trace_meta_at(t, i, &key, &value) == 0; i++)
        /* An incomplete trace has fewer events than the program emitted: drop that count. */
        if (info->complete || strcmp(key, "program_events") != 0)
            nsc_writer_meta(w, key, value);
    if (info->warning[0] != '\0')
        nsc_writer_meta(w, NSC_META_RECOVERED, info->warning);
    for (uint32_t i = 0; i < info->clock_count; i++)
        nsc_writer_clock(w, nsc_trace_clock_point(t, i));
    for (uint32_t i = 0; i < info->process_count; i++)
        nsc_writer_add_process(w, nsc_trace_process(t, i), NULL);
    for (uint32_t i = 0; i < info->module_count; i++)
        nsc_writer_add_module(w, nsc_trace_module(t, i), NULL);
    for (uint32_t i = 0; i < info->mapping_count; i++)
        nsc_writer_add_mapping(w, nsc_trace_mapping(t, i), NULL);
    for (uint32_t i = 0; i < info->function_count; i++)
        nsc_writer_add_function(w, nsc_trace_function(t, i), NULL);
    for (uint32_t i = 0; i < info->function_count; i++)
        if (nsc_trace_canonical(t, i) != i)
            nsc_writer_alias_function(w, i, nsc_trace_canonical(t, i));
    for (uint32_t i = 0; i < info->left_out_count; i++)
        nsc_writer_add_left_out(w, nsc_trace_left_out(t, i), NULL);
    nsc_writer_set_lost_unattributed(w, info->lost_unattributed);
    return nsc_writer_error(w);
}

static void copy_events(struct nsc_lane *lane, const struct nsc_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct nsc_event *e = &events[i];

        switch ((enum nsc_event_kind)e->kind) {
        case NSC_EVENT_ENTER:
            if (e->value != 0)
                nsc_lane_enter_earlier(lane, e->ticks, e->function, 0);
            else
                nsc_lane_enter(lane, e->ticks, e->function, 0);
            break;
        case NSC_EVENT_EXIT:
            nsc_lane_exit(lane, e->ticks);
            break;
        case NSC_EVENT_UNWIND:
            nsc_lane_unwind(lane, e->ticks);
            break;
        case NSC_EVENT_LATE_EXIT:
            nsc_lane_late_exit(lane, e->ticks, e->function);
            break;
        case NSC_EVENT_LOST:
            if (nsc_model_gap_left_out(e->value) > 0)
                nsc_lane_left_out(lane, e->ticks, nsc_model_gap_left_out(e->value));
            else
                nsc_lane_lost(lane, e->ticks, e->value);
            break;
        }
    }
}

/* Copies one thread. In a recovered trace, damage that checksums did not detect ends the thread
 * early; *@cut receives the error. */
static int copy_thread(struct nsc_trace *t, struct nsc_writer *w, uint32_t id, struct nsc_diag *cut,
                       struct nsc_diag *diag)
{
    const struct nsc_thread *thread = nsc_trace_thread(t, id);
    const struct nsc_event *events;
    struct nsc_cursor *c;
    struct nsc_lane *lane;
    size_t count;
    int more, error = nsc_writer_add_thread(w, thread, NULL, &lane);

    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write: %s", strerror(-error));
    more = nsc_cursor_open(t, id, 0, &c, cut);
    if (more == 0) {
        uint64_t last = thread->start_ticks;

        while ((more = nsc_cursor_next(c, &events, &count, cut)) == 1) {
            copy_events(lane, events, count);
            last = events[count - 1].ticks;
        }
        nsc_cursor_close(c);
        nsc_lane_close(lane, last);
    }
    if (more == 0 || (more == -EBADMSG && nsc_trace_info(t)->recovered))
        return 0;
    if (diag != NULL)
        *diag = *cut;
    return more;
}

/* Copies the notes of one kind and owner. Damage ends them early, as in copy_thread(). */
static int copy_notes(struct nsc_trace *t, struct nsc_writer *w, enum nsc_note_kind kind,
                      uint32_t owner, bool of_process, struct nsc_diag *cut, struct nsc_diag *diag)
{
    struct nsc_note note;
    struct nsc_note_cursor *n;
    int more = nsc_note_cursor_open(t, kind, owner, of_process, 0, &n, diag);

    if (more != 0)
        return more;
    while ((more = nsc_note_cursor_next(n, &note, cut)) == 1)
        nsc_writer_note(w, &note);
    nsc_note_cursor_close(n);
    if (more == 0 || (more == -EBADMSG && nsc_trace_info(t)->recovered))
        return 0;
    if (diag != NULL)
        *diag = *cut;
    return more;
}

static int copy_all_notes(struct nsc_trace *t, struct nsc_writer *w, struct nsc_diag *cut,
                          struct nsc_diag *diag)
{
    const struct nsc_trace_info *info = nsc_trace_info(t);
    int error = 0;

    for (int kind = 0; kind < NSC_NOTE_KINDS; kind++) {
        for (uint32_t i = 0; error == 0 && i < info->thread_count; i++)
            error = copy_notes(t, w, (enum nsc_note_kind)kind, i, false, cut, diag);
        for (uint32_t i = 0; error == 0 && i < info->process_count; i++)
            error = copy_notes(t, w, (enum nsc_note_kind)kind, i, true, cut, diag);
    }
    return error;
}

static int copy(struct nsc_trace *t, const char *out, const struct nsc_writer_options *options,
                int (*complete)(struct nsc_trace *t, struct nsc_writer *w), struct nsc_diag *cut,
                struct nsc_diag *diag)
{
    struct nsc_writer *w;
    int error = nsc_writer_create(out, options, &w, diag);

    if (error != 0)
        return error;
    error = copy_tables(t, w);
    if (error != 0)
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", out, strerror(-error));
    for (uint32_t i = 0; error == 0 && i < nsc_trace_info(t)->thread_count; i++)
        error = copy_thread(t, w, i, cut, diag);
    if (error == 0)
        error = copy_all_notes(t, w, cut, diag);
    if (error == 0) {
        error = complete == NULL ? 0 : complete(t, w);
        if (error == 0)
            error = nsc_writer_error(w);
        if (error != 0)
            nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s", out,
                         strerror(-error));
    }
    if (error != 0) {
        nsc_writer_abandon(w); /* nothing is lost: the source still exists */
        return error;
    }
    return nsc_writer_finish(w, diag);
}

int nsc_nst_recover(const char *in, const char *out, const struct nsc_writer_options *options,
                    int (*complete)(struct nsc_trace *t, struct nsc_writer *w),
                    struct nsc_trace_info *info, struct nsc_diag *diag)
{
    struct nsc_diag cut = {.offset = NSC_DIAG_NO_OFFSET, .message = ""};
    struct nsc_trace *t;
    int error = nsc_trace_open(in, NSC_NST_RECOVER | NSC_TRACE_SCAN, &t, diag);

    if (error != 0)
        return error;
    error = copy(t, out, options, complete, &cut, diag);
    if (error == 0 && info != NULL) {
        *info = *nsc_trace_info(t);
        if (cut.message[0] != '\0' && info->warning[0] == '\0')
            memcpy(info->warning, cut.message, sizeof info->warning);
    }
    nsc_trace_close(t);
    return error;
}

int nsc_nst_compress(const char *in, const char *out, bool overwrite, struct nsc_diag *diag)
{
    struct nsc_writer_options options = {
        .size = sizeof options, .compress = true, .overwrite = overwrite};
    struct nsc_diag cut = {.offset = NSC_DIAG_NO_OFFSET, .message = ""};
    struct nsc_trace *t;
    int error = nsc_trace_open(in, 0, &t, diag);

    if (error != 0)
        return error;
    error = copy(t, out, &options, NULL, &cut, diag);
    nsc_trace_close(t);
    return error;
}
