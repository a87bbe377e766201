/* call_paths.c - see call_paths.h. */
#include "formats/export/call_paths.h"

#include <errno.h>
#include <stdlib.h>

#include "util/text/units.h"

#define PATHS_MAX (1u << 28)

static size_t slot_of(const struct nsc_paths *s, uint32_t parent, uint32_t function, bool is_thread)
{
    uint64_t h = (((uint64_t)parent << 32) | function) * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(h >> 20) & (s->slot_count - 1);

    for (;; at = (at + 1) & (s->slot_count - 1)) {
        const struct nsc_path *n;

        if (s->slots[at] == 0)
            return at;
        n = &s->all[s->slots[at] - 1];
        if (n->parent == parent && n->function == function && n->is_thread == is_thread)
            return at;
    }
}

/* Doubles the capacity of both tables. */
static int grow(struct nsc_paths *s)
{
    uint32_t capacity = s->capacity == 0 ? 4096 : s->capacity * 2;
    struct nsc_path *all;
    uint32_t *slots;

    if (capacity > PATHS_MAX)
        return -ENOMEM;
    all = reallocarray(s->all, capacity, sizeof *all);
    if (all == NULL)
        return -ENOMEM;
    s->all = all;
    slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    free(s->slots);
    s->slots = slots;
    s->slot_count = (size_t)capacity * 2;
    s->capacity = capacity;
    for (uint32_t i = 0; i < s->count; i++)
        slots[slot_of(s, all[i].parent, all[i].function, all[i].is_thread)] = i + 1;
    return 0;
}

int nsc_paths_find(struct nsc_paths *s, uint32_t parent, uint32_t function, bool is_thread,
                   uint32_t *path)
{
    size_t slot;

    if (s->count == s->capacity && grow(s) != 0)
        return -ENOMEM;
    slot = slot_of(s, parent, function, is_thread);
    if (s->slots[slot] == 0) {
        s->all[s->count] =
            (struct nsc_path){.parent = parent, .function = function, .is_thread = is_thread};
        s->slots[slot] = ++s->count;
    }
    *path = s->slots[slot] - 1;
    return 0;
}

uint32_t nsc_paths_current(const struct nsc_paths *s, uint32_t root)
{
    return s->depth > 0 ? s->open[s->depth - 1].path : root;
}

static int begin_call(struct nsc_paths *s, uint32_t root, uint32_t function)
{
    uint32_t parent = nsc_paths_current(s, root);
    uint32_t path = parent;

    if (s->depth == s->open_capacity) {
        size_t capacity = s->open_capacity * 2 + 256;
        struct nsc_open_path *open = reallocarray(s->open, capacity, sizeof *open);

        if (open == NULL)
            return -ENOMEM;
        s->open = open;
        s->open_capacity = capacity;
    }
    if (s->depth >= s->max_depth)
        s->folded_deep++;
    else if (nsc_paths_find(s, parent, function, false, &path) != 0)
        return -ENOMEM;
    s->open[s->depth++] = (struct nsc_open_path){0, path};
    s->all[path].calls++;
    return 0;
}

static void end_call(struct nsc_paths *s, const struct nsc_walk_event *e)
{
    const struct nsc_open_path *call = &s->open[--s->depth];
    uint64_t ticks = e->ticks - e->start_ticks;

    if (s->depth > 0)
        s->open[s->depth - 1].callee_ticks += ticks;
    if (ticks > call->callee_ticks)
        s->all[call->path].self_ticks += ticks - call->callee_ticks;
}

int nsc_paths_step(struct nsc_paths *s, uint32_t root, const struct nsc_walk_event *e)
{
    if (e->kind == NSC_WALK_BEGIN)
        return begin_call(s, root, e->function);
    if (e->kind == NSC_WALK_END)
        end_call(s, e);
    return 0;
}

int nsc_paths_no_memory(const struct nsc_paths *s, struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM,
                        "out of memory after %u distinct stacks: set a smaller --depth", s->count);
}

static int take_thread(struct nsc_paths *s, struct nsc_export *job, uint32_t thread,
                       struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    uint32_t root = NSC_PATHS_ROOT;
    int more = 0, error = nsc_export_walk(job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    s->depth = 0;
    if (job->options.per_thread)
        error = nsc_paths_find(s, NSC_PATHS_ROOT, thread, true, &root);
    while (error == 0 && (more = nsc_export_next(job, thread, walk, &event, diag)) > 0)
        error = nsc_paths_step(s, root, &event);
    nsc_export_walked(job, walk);
    if (error != 0)
        return nsc_paths_no_memory(s, diag);
    return more;
}

int nsc_paths_take_all(struct nsc_paths *s, struct nsc_export *job, struct nsc_diag *diag)
{
    int error = 0;

    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = take_thread(s, job, i, diag);
    return error;
}

uint32_t nsc_paths_outward(struct nsc_paths *s, uint32_t path, const uint32_t **outward)
{
    uint32_t depth = 0;

    if (s->outward == NULL)
        s->outward = calloc((size_t)s->max_depth + 1, sizeof *s->outward);
    if (s->outward == NULL)
        return 0;
    for (uint32_t i = path; i != NSC_PATHS_ROOT; i = s->all[i].parent)
        s->outward[depth++] = i;
    *outward = s->outward;
    return depth;
}

void nsc_paths_note_deep(const struct nsc_paths *s, struct nsc_export *job)
{
    if (s->folded_deep > 0)
        nsc_job_notes_add(
            &job->result->notes,
            "%s calls deeper than %s frames count for the frame at that depth (--depth)",
            nsc_units_count(s->folded_deep).text, nsc_units_count(s->max_depth).text);
}

void nsc_paths_free(struct nsc_paths *s)
{
    free(s->all);
    free(s->slots);
    free(s->open);
    free(s->outward);
}
