/* mark_merge.c - see mark_merge.h: a heap of threads by the time of their next mark. */
#include "analyze/replay/mark_merge.h"

#include <errno.h>
#include <stdlib.h>

struct source {
    struct nsc_note_cursor *cursor;
    struct nsc_note next;
};

struct nsc_mark_feed {
    const struct nsc_selection *selection;
    uint32_t threads;
    struct source **by_thread; /* NULL: no marks left */
    struct source **heap;      /* heap[0] has the earliest mark */
    uint32_t count;
};

static bool is_earlier(const struct source *a, const struct source *b)
{
    if (a->next.ticks != b->next.ticks)
        return a->next.ticks < b->next.ticks;
    return a->next.owner < b->next.owner;
}

static void sift_down(struct nsc_mark_feed *f, uint32_t at)
{
    struct source *source = f->heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= f->count)
            break;
        child += child + 1 < f->count && is_earlier(f->heap[child + 1], f->heap[child]);
        if (is_earlier(source, f->heap[child]))
            break;
        f->heap[at] = f->heap[child];
        at = child;
    }
    f->heap[at] = source;
}

static void drop(struct nsc_mark_feed *f, uint32_t thread)
{
    struct source *source = f->by_thread[thread];

    nsc_note_cursor_close(source->cursor);
    free(source);
    f->by_thread[thread] = NULL;
}

/* Returns 1, 0 if the thread has no marks left in the window, or -errno with @diag. */
static int advance(const struct nsc_mark_feed *f, struct source *source, struct nsc_diag *diag)
{
    int more = nsc_note_cursor_next(source->cursor, &source->next, diag);

    return more > 0 && source->next.ticks >= f->selection->to_ticks ? 0 : more;
}

static int add(struct nsc_mark_feed *f, struct nsc_trace *t, uint32_t thread, struct nsc_diag *diag)
{
    struct source *source = calloc(1, sizeof(*source));
    int more;

    if (!source)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for marks");
    f->by_thread[thread] = source;
    more = nsc_note_cursor_open(t, NSC_NOTE_MARK, thread, false, f->selection->from_ticks,
                                &source->cursor, diag);
    if (more == 0)
        more = advance(f, source, diag);
    if (more > 0)
        f->heap[f->count++] = source;
    else
        drop(f, thread);
    return more < 0 ? more : 0;
}

int nsc_mark_feed_open(struct nsc_trace *t, const struct nsc_selection *selection,
                       struct nsc_mark_feed **out, struct nsc_diag *diag)
{
    uint32_t count = nsc_trace_info(t)->thread_count;
    struct nsc_mark_feed *f = calloc(1, sizeof(*f));
    int error = 0;

    if (f) {
        f->selection = selection;
        f->by_thread = calloc(count + 1u, sizeof(struct source *));
        f->heap = calloc(count + 1u, sizeof(struct source *));
    }
    if (!f || !f->by_thread || !f->heap)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for %u threads", count);
    else
        f->threads = count;
    for (uint32_t i = 0; error == 0 && nsc_trace_info(t)->notes[NSC_NOTE_MARK] > 0 && i < count;
         i++)
        if (nsc_selection_has_thread(selection, i) &&
            nsc_trace_note_count(t, NSC_NOTE_MARK, i, false) > 0)
            error = add(f, t, i, diag);
    if (error) {
        nsc_mark_feed_close(f);
        return error;
    }
    for (uint32_t i = f->count / 2; i-- > 0;)
        sift_down(f, i);
    *out = f;
    return 0;
}

void nsc_mark_feed_close(struct nsc_mark_feed *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->threads; i++)
        if (f->by_thread[i])
            drop(f, i);
    free(f->by_thread);
    free(f->heap);
    free(f);
}

const struct nsc_note *nsc_mark_feed_head(const struct nsc_mark_feed *f)
{
    return f->count > 0 ? &f->heap[0]->next : NULL;
}

uint64_t nsc_mark_feed_ticks(const struct nsc_mark_feed *f, uint32_t thread)
{
    return f->by_thread[thread] ? f->by_thread[thread]->next.ticks : UINT64_MAX;
}

int nsc_mark_feed_pass(struct nsc_mark_feed *f, struct nsc_diag *diag)
{
    uint32_t thread = f->heap[0]->next.owner;
    int more = advance(f, f->heap[0], diag);

    if (more < 0)
        return more;
    if (more == 0) {
        drop(f, thread);
        f->heap[0] = f->heap[--f->count];
    }
    if (f->count > 0)
        sift_down(f, 0);
    return 0;
}
