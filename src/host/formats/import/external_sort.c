/* external_sort.c - see external_sort.h. */
#include "formats/import/external_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/import/import.h"
#include "util/array.h"
#include "util/os/write_all.h"
#include "util/sort.h"

#define RUN_ITEMS   (1u << 20)
#define MERGE_BYTES (32u << 20) /* total size of the merge buffers */
#define MERGE_LEAST 512u        /* minimum buffer of a run, in items, even above MERGE_BYTES */

/* A sorted run of the file, being read. */
struct run {
    uint64_t next, end; /* items of the file that are not yet in the buffer */
    struct nsc_external_sort_item *items;
    uint32_t at, count; /* in the buffer */
};

struct nsc_external_sort {
    struct nsc_external_sort_item *items; /* the run being filled; later the buffers of a merge */
    uint32_t count, room, run_items;
    uint32_t next; /* next item to return, if nothing was spilled */
    bool unsorted;
    bool reading;
    int fd; /* -1 = nothing was spilled */
    uint64_t written;
    struct run *runs;
    uint32_t run_count, run_room;
    uint32_t *heap; /* min-heap of runs with items left */
    uint32_t heap_count;
    uint32_t buffer_items;
};

struct nsc_external_sort *nsc_external_sort_new(uint32_t run_items)
{
    struct nsc_external_sort *s = calloc(1, sizeof *s);

    if (s != NULL) {
        s->fd = -1;
        s->run_items = run_items != 0 ? run_items : RUN_ITEMS;
    }
    return s;
}

void nsc_external_sort_free(struct nsc_external_sort *s)
{
    if (s == NULL)
        return;
    if (s->fd >= 0)
        close(s->fd);
    free(s->items);
    free(s->runs);
    free(s->heap);
    free(s);
}

uint64_t nsc_external_sort_count(const struct nsc_external_sort *s)
{
    return s->written + s->count;
}

/* Ignores `order`, which is valid within one run only. */
static int compare_keys(const struct nsc_external_sort_item *a,
                        const struct nsc_external_sort_item *b)
{
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    if (a->last != b->last)
        return a->last < b->last ? -1 : 1;
    if (a->last != 0 && a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return 0;
}

static int compare_items(const void *a, const void *b, void *context)
{
    const struct nsc_external_sort_item *x = a, *y = b;
    int order = compare_keys(x, y);

    (void)context;
    return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

static void sort_run(struct nsc_external_sort *s)
{
    if (s->unsorted)
        nsc_sort(s->items, s->count, sizeof *s->items, compare_items, NULL);
    s->unsorted = false;
}

static int spill_run(struct nsc_external_sort *s, struct nsc_diag *diag)
{
    struct run *runs = nsc_array_grow(s->runs, &s->run_room, s->run_count, sizeof *runs);
    int error;

    if (runs == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    s->runs = runs;
    if (s->fd < 0) {
        int fd = nsc_import_temporary(diag);

        if (fd < 0)
            return fd;
        s->fd = fd;
    }
    sort_run(s);
    error = nsc_write_all(s->fd, s->items, s->count * sizeof *s->items);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error, "cannot write %s: %s",
                            NSC_IMPORT_TEMPORARY, strerror(-error));
    s->runs[s->run_count++] = (struct run){.next = s->written, .end = s->written + s->count};
    s->written += s->count;
    s->count = 0;
    return 0;
}

int nsc_external_sort_add(struct nsc_external_sort *s, const struct nsc_external_sort_item *item,
                          struct nsc_diag *diag)
{
    struct nsc_external_sort_item *items;
    int error;

    if (s->count == s->run_items && (error = spill_run(s, diag)) != 0)
        return error;
    items = nsc_array_grow(s->items, &s->room, s->count, sizeof *items);
    if (items == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    s->items = items;
    items[s->count] = *item;
    items[s->count].order = s->count;
    if (s->count > 0 && compare_keys(&items[s->count - 1], &items[s->count]) > 0)
        s->unsorted = true;
    s->count++;
    return 0;
}

/* ---- Merge -------------------------------------------------------------------------------- */

/* Refills the empty buffer of a run. Returns 1, 0 at the end of the run, or -errno. */
static int refill(struct nsc_external_sort *s, struct run *r, struct nsc_diag *diag)
{
    uint64_t left = r->end - r->next;
    uint32_t count = left < s->buffer_items ? (uint32_t)left : s->buffer_items;
    size_t bytes = count * sizeof *r->items, done = 0;

    while (done < bytes) {
        ssize_t n = pread(s->fd, (char *)r->items + done, bytes - done,
                          (off_t)(r->next * sizeof *r->items + done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, n < 0 ? errno : EIO, "cannot read %s: %s",
                                NSC_IMPORT_TEMPORARY, strerror(n < 0 ? errno : EIO));
        done += (size_t)n;
    }
    r->next += count;
    r->at = 0;
    r->count = count;
    return count > 0;
}

/* Among equal items, the one of the earlier run comes first: the sort is stable. */
static bool before(const struct nsc_external_sort *s, uint32_t a, uint32_t b)
{
    const struct run *x = &s->runs[a], *y = &s->runs[b];
    int order = compare_keys(&x->items[x->at], &y->items[y->at]);

    return order != 0 ? order < 0 : a < b;
}

static void sift_down(struct nsc_external_sort *s, uint32_t at)
{
    uint32_t moved = s->heap[at];

    for (uint32_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && before(s, s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s, s->heap[child], moved))
            break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = moved;
}

static int begin_merge(struct nsc_external_sort *s, struct nsc_diag *diag)
{
    int error = s->count > 0 ? spill_run(s, diag) : 0;

    if (error != 0)
        return error;
    s->buffer_items = MERGE_BYTES / sizeof *s->items / s->run_count;
    if (s->buffer_items < MERGE_LEAST)
        s->buffer_items = MERGE_LEAST;
    free(s->items);
    s->items = calloc(s->run_count, s->buffer_items * sizeof *s->items);
    s->heap = calloc(s->run_count, sizeof *s->heap);
    if (s->items == NULL || s->heap == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < s->run_count; i++) {
        s->runs[i].items = s->items + (size_t)i * s->buffer_items;
        error = refill(s, &s->runs[i], diag);
        if (error < 0)
            return error;
        s->heap[s->heap_count++] = i;
    }
    for (uint32_t i = s->heap_count / 2; i-- > 0;)
        sift_down(s, i);
    return 0;
}

static int next_merged(struct nsc_external_sort *s, struct nsc_external_sort_item *item,
                       struct nsc_diag *diag)
{
    struct run *r;
    int more = 1;

    if (s->heap_count == 0)
        return 0;
    r = &s->runs[s->heap[0]];
    *item = r->items[r->at++];
    if (r->at == r->count)
        more = refill(s, r, diag);
    if (more < 0)
        return more;
    if (more == 0)
        s->heap[0] = s->heap[--s->heap_count];
    if (s->heap_count > 0)
        sift_down(s, 0);
    return 1;
}

int nsc_external_sort_next(struct nsc_external_sort *s, struct nsc_external_sort_item *item,
                           struct nsc_diag *diag)
{
    if (!s->reading) {
        int error = 0;

        if (s->fd >= 0)
            error = begin_merge(s, diag);
        else
            sort_run(s);
        if (error != 0)
            return error;
        s->reading = true;
    }
    if (s->fd >= 0)
        return next_merged(s, item, diag);
    if (s->next == s->count)
        return 0;
    *item = s->items[s->next++];
    return 1;
}
