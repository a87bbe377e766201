/*
 * folded.c - write a trace as folded stacks, `main;work;sort 1234`, for flamegraph.pl and its kin.
 * Called through export.c. Keeps one node per distinct stack, whatever the number of calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export.h"
#include "formats/names.h"

#define ROOT      UINT32_MAX
#define NODES_MAX (1u << 28)

/* A distinct stack: its innermost function (or thread, at the root of one) below its parent. */
struct node {
    uint32_t parent;   /* index, or ROOT */
    uint32_t function; /* function id; thread id when @is_thread */
    uint64_t weight;   /* ticks, or calls */
    bool is_thread;
};

struct open_call {
    uint64_t callee_ticks;
    uint32_t node;
};

struct folded {
    struct nsc_export *job;
    struct nsc_output *out;
    struct node *nodes;
    uint32_t count, capacity;
    uint32_t *slots; /* node index + 1, or 0; at most half full */
    size_t slot_count;
    struct open_call *calls;
    size_t depth, call_capacity;
    uint64_t folded_deep; /* calls deeper than the limit */
    uint32_t *path;       /* for writing: max_depth + 1 entries */
};

static size_t slot_of(const struct folded *f, uint32_t parent, uint32_t function, bool is_thread)
{
    uint64_t h = (((uint64_t)parent << 32) | function) * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(h >> 20) & (f->slot_count - 1);

    for (;; at = (at + 1) & (f->slot_count - 1)) {
        const struct node *n;

        if (f->slots[at] == 0)
            return at;
        n = &f->nodes[f->slots[at] - 1];
        if (n->parent == parent && n->function == function && n->is_thread == is_thread)
            return at;
    }
}

/* Double the tables. */
static int grow(struct folded *f)
{
    uint32_t capacity = f->capacity == 0 ? 4096 : f->capacity * 2;
    struct node *nodes;
    uint32_t *slots;

    if (capacity > NODES_MAX)
        return -ENOMEM;
    nodes = reallocarray(f->nodes, capacity, sizeof *nodes);
    if (nodes == NULL)
        return -ENOMEM;
    f->nodes = nodes;
    slots = calloc((size_t)capacity * 2, sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    free(f->slots);
    f->slots = slots;
    f->slot_count = (size_t)capacity * 2;
    f->capacity = capacity;
    for (uint32_t i = 0; i < f->count; i++)
        slots[slot_of(f, nodes[i].parent, nodes[i].function, nodes[i].is_thread)] = i + 1;
    return 0;
}

static int find_node(struct folded *f, uint32_t parent, uint32_t function, bool is_thread,
                     uint32_t *node)
{
    size_t slot;

    if (f->count == f->capacity && grow(f) != 0)
        return -ENOMEM;
    slot = slot_of(f, parent, function, is_thread);
    if (f->slots[slot] == 0) {
        f->nodes[f->count] =
            (struct node){.parent = parent, .function = function, .is_thread = is_thread};
        f->slots[slot] = ++f->count;
    }
    *node = f->slots[slot] - 1;
    return 0;
}

static int begin_call(struct folded *f, uint32_t root, const struct nsc_walk_event *e)
{
    uint32_t parent = f->depth > 0 ? f->calls[f->depth - 1].node : root;
    uint32_t node = parent;

    if (f->depth == f->call_capacity) {
        size_t capacity = f->call_capacity * 2 + 256;
        struct open_call *calls = reallocarray(f->calls, capacity, sizeof *calls);

        if (calls == NULL)
            return -ENOMEM;
        f->calls = calls;
        f->call_capacity = capacity;
    }
    if (f->depth >= f->job->options.max_depth)
        f->folded_deep++;
    else if (find_node(f, parent, e->function, false, &node) != 0)
        return -ENOMEM;
    f->calls[f->depth++] = (struct open_call){0, node};
    if (f->job->options.weight == NSC_WEIGHT_CALLS)
        f->nodes[node].weight++;
    return 0;
}

static void end_call(struct folded *f, const struct nsc_walk_event *e)
{
    const struct open_call *call = &f->calls[--f->depth];
    uint64_t ticks = e->ticks - e->start_ticks;

    if (f->depth > 0)
        f->calls[f->depth - 1].callee_ticks += ticks;
    if (f->job->options.weight == NSC_WEIGHT_SELF && ticks > call->callee_ticks)
        f->nodes[call->node].weight += ticks - call->callee_ticks;
}

static int fold_thread(struct folded *f, uint32_t thread, struct nsc_diag *diag)
{
    struct nsc_walk_event event;
    struct nsc_walk *walk;
    uint32_t root = ROOT;
    int more = 0, error = nsc_export_walk(f->job, thread, false, &walk, diag);

    if (error != 0)
        return error;
    f->depth = 0;
    if (f->job->options.per_thread)
        error = find_node(f, ROOT, thread, true, &root);
    while (error == 0 && (more = nsc_export_next(f->job, thread, walk, &event, diag)) > 0) {
        if (event.kind == NSC_WALK_BEGIN)
            error = begin_call(f, root, &event);
        else if (event.kind == NSC_WALK_END)
            end_call(f, &event);
    }
    nsc_export_walked(f->job, walk);
    if (error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, error,
                            "out of memory after %u distinct stacks: set a smaller --depth",
                            f->count);
    return more;
}

/* ';' parts frames, a line end parts stacks; flamegraph.pl takes the last space for the weight's.
 */
static char *cook_frame(const char *name, size_t *bytes)
{
    return nsc_names_replace(name[0] != '\0' ? name : "(no name)", ";\r\n", ':', bytes);
}

static int put_frame(struct folded *f, const struct node *n)
{
    const struct nsc_cooked *name;
    char *text, *clean;
    size_t bytes;

    if (!n->is_thread) {
        name = nsc_export_name(f->job, n->function);
        if (name == NULL)
            return -ENOMEM;
        nsc_output_put(f->out, name->text, name->bytes);
        return 0;
    }
    if (asprintf(&text, "%s (%u)", nsc_trace_thread(f->job->trace, n->function)->name,
                 nsc_trace_thread(f->job->trace, n->function)->tid) < 0)
        return -ENOMEM;
    clean = cook_frame(text, &bytes);
    free(text);
    if (clean == NULL)
        return -ENOMEM;
    nsc_output_put(f->out, clean, bytes);
    free(clean);
    return 0;
}

static int put_stack(struct folded *f, uint32_t node, uint64_t weight)
{
    uint32_t depth = 0;

    for (uint32_t i = node; i != ROOT; i = f->nodes[i].parent)
        f->path[depth++] = i;
    while (depth > 0) {
        if (put_frame(f, &f->nodes[f->path[--depth]]) != 0)
            return -ENOMEM;
        *nsc_output_room(f->out, 1) = depth > 0 ? ';' : ' ';
        f->out->at++;
    }
    nsc_output_u64(f->out, weight);
    *nsc_output_room(f->out, 1) = '\n';
    f->out->at++;
    return 0;
}

static int put_stacks(struct folded *f, struct nsc_diag *diag)
{
    f->path = calloc((size_t)f->job->options.max_depth + 1, sizeof *f->path);
    for (uint32_t i = 0; i < f->count && nsc_output_error(f->out) == 0; i++) {
        uint64_t weight = f->nodes[i].weight;

        if (f->job->options.weight == NSC_WEIGHT_SELF)
            weight = nsc_clock_span_ns(f->job->clock, weight);
        if (weight > 0 && (f->path == NULL || put_stack(f, i, weight) != 0))
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    return 0;
}

static void note_folded(const struct folded *f)
{
    struct nsc_export_result *r = f->job->result;

    if (f->folded_deep > 0)
        nsc_notes_add(
            &r->notes,
            "%llu calls deeper than %u frames count for the frame at that depth (--depth)",
            (unsigned long long)f->folded_deep, f->job->options.max_depth);
    nsc_export_note_unmarked(f->job, "the folded format");
}

static int export_folded(struct nsc_export *job, struct nsc_diag *diag)
{
    struct folded f = {.job = job};
    int error = nsc_output_create(job->path, job->gzip, &f.out, diag);

    if (error != 0)
        return error;
    for (uint32_t i = 0; i < job->info->thread_count && error == 0; i++)
        if (nsc_export_wants(job, i))
            error = fold_thread(&f, i, diag);
    if (error == 0)
        error = put_stacks(&f, diag);
    note_folded(&f);
    nsc_export_note_left_out(job, "folded stacks", ~0u);
    free(f.nodes);
    free(f.slots);
    free(f.calls);
    free(f.path);
    return nsc_export_publish(job, f.out, error, diag);
}

/* Its first line is a stack, a blank and a number. */
static bool sniff_folded(const uint8_t *bytes, size_t count)
{
    const uint8_t *line_end = memchr(bytes, '\n', count);
    size_t end = line_end != NULL ? (size_t)(line_end - bytes) : count, at = end;

    if (memchr(bytes, 0, end) != NULL)
        return false;
    if (line_end == NULL) /* a deep stack */
        return memchr(bytes, ';', count) != NULL;
    while (at > 0 && bytes[at - 1] >= '0' && bytes[at - 1] <= '9')
        at--;
    return at > 1 && at < end && bytes[at - 1] == ' ';
}

static const char *const folded_suffixes[] = {".folded", ".collapsed", NULL};

const struct nsc_exporter nsc_folded_exporter = {
    .name = "folded",
    .suffixes = folded_suffixes,
    .sniff = sniff_folded,
    .cook = cook_frame,
    .run = export_folded,
};
