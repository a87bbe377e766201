/*
 * sort_ids.c - sort additions into the tables of ids and renumber every reference.
 *
 * Called through dex.h. The relative order of old elements does not change, so everything that the
 * format requires to be sorted by index stays sorted; only new elements are sorted here.
 */
#include <errno.h>
#include <stdlib.h>

#include "android/bytecode/code.h"
#include "android/dex/dex_state.h"
#include "util/sort.h"

struct settling {
    struct nsc_dex *dex;
    struct nsc_diag *diag;
    uint32_t *maps[NSC_DEX_TABLES]; /* new index by old index; NULL: nothing was added */
    struct nsc_buffer scratch;
};

static int out_of_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static uint32_t mapped(const struct settling *s, enum nsc_dex_table table, uint32_t index)
{
    return index == NSC_DEX_NONE || s->maps[table] == NULL ? index : s->maps[table][index];
}

/* ---- Tables -----------------------------------------------------------------------------------
 */

struct order {
    const struct nsc_dex *dex;
    enum nsc_dex_table table;
};

static int compare(const struct order *o, uint32_t a, uint32_t b)
{
    const struct nsc_dex *dex = o->dex;

    switch (o->table) {
    case NSC_DEX_STRINGS:
        return nsc_dex_compare_text(dex->strings[a].data, dex->strings[b].data);
    case NSC_DEX_TYPES:
        return dex->types[a] < dex->types[b] ? -1 : dex->types[a] > dex->types[b];
    case NSC_DEX_PROTOS:
        return nsc_dex_compare_protos(dex, &dex->protos[a], &dex->protos[b]);
    case NSC_DEX_FIELDS:
        return nsc_dex_compare_fields(&dex->fields[a], &dex->fields[b]);
    case NSC_DEX_METHODS:
    case NSC_DEX_TABLES:
        break;
    }
    return nsc_dex_compare_methods(&dex->methods[a], &dex->methods[b]);
}

static int compare_in_tail(const void *a, const void *b, void *context)
{
    return compare(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Move the elements of a table to their new indices. @where: pointer to the table of struct
 * nsc_dex. */
static int permute(struct settling *s, enum nsc_dex_table table, void *where, size_t item)
{
    uint32_t count = nsc_dex_count(s->dex, table);
    uint8_t *before, *after = reallocarray(NULL, count, item);

    if (after == NULL)
        return out_of_memory(s->diag);
    memcpy(&before, where, sizeof before);
    for (uint32_t i = 0; i < count; i++)
        memcpy(after + s->maps[table][i] * item, before + i * item, item);
    free(before);
    memcpy(where, &after, sizeof after);
    s->dex->own->rooms[table] = count;
    return 0;
}

/* Sort a table's tail into it. The indices in its elements must be final. */
static int merge(struct settling *s, enum nsc_dex_table table, void *where, size_t item)
{
    struct nsc_dex_tail *tail = &s->dex->own->tails[table];
    uint32_t count = nsc_dex_count(s->dex, table), added = count - tail->sorted;
    struct order order = {s->dex, table};
    uint32_t old = 0, new = 0;

    if (added == 0)
        return 0;
    s->maps[table] = reallocarray(NULL, count, sizeof *s->maps[table]);
    if (s->maps[table] == NULL)
        return out_of_memory(s->diag);
    nsc_sort(tail->order, added, sizeof *tail->order, compare_in_tail, &order);
    for (uint32_t i = 0; i < count; i++) {
        bool is_old =
            new == added || (old < tail->sorted && compare(&order, old, tail->order[new]) < 0);

        s->maps[table][is_old ? old++ : tail->order[new ++]] = i;
    }
    tail->sorted = count;
    return permute(s, table, where, item);
}

static int settle_tables(struct settling *s)
{
    struct nsc_dex *dex = s->dex;
    int error = merge(s, NSC_DEX_STRINGS, &dex->strings, sizeof *dex->strings);

    for (uint32_t i = 0; error == 0 && i < dex->type_count; i++)
        dex->types[i] = mapped(s, NSC_DEX_STRINGS, dex->types[i]);
    if (error == 0)
        error = merge(s, NSC_DEX_TYPES, &dex->types, sizeof *dex->types);
    for (uint32_t i = 0; error == 0 && i < dex->list_count; i++)
        for (uint32_t j = 0; j < dex->lists[i].count; j++)
            dex->lists[i].items[j] = mapped(s, NSC_DEX_TYPES, dex->lists[i].items[j]);
    for (uint32_t i = 0; error == 0 && i < dex->proto_count; i++) {
        dex->protos[i].shorty = mapped(s, NSC_DEX_STRINGS, dex->protos[i].shorty);
        dex->protos[i].returns = mapped(s, NSC_DEX_TYPES, dex->protos[i].returns);
    }
    if (error == 0)
        error = merge(s, NSC_DEX_PROTOS, &dex->protos, sizeof *dex->protos);
    for (uint32_t i = 0; error == 0 && i < dex->field_count; i++) {
        dex->fields[i].holder = mapped(s, NSC_DEX_TYPES, dex->fields[i].holder);
        dex->fields[i].type = mapped(s, NSC_DEX_TYPES, dex->fields[i].type);
        dex->fields[i].name = mapped(s, NSC_DEX_STRINGS, dex->fields[i].name);
    }
    if (error == 0)
        error = merge(s, NSC_DEX_FIELDS, &dex->fields, sizeof *dex->fields);
    for (uint32_t i = 0; error == 0 && i < dex->method_count; i++) {
        dex->methods[i].holder = mapped(s, NSC_DEX_TYPES, dex->methods[i].holder);
        dex->methods[i].proto = mapped(s, NSC_DEX_PROTOS, dex->methods[i].proto);
        dex->methods[i].name = mapped(s, NSC_DEX_STRINGS, dex->methods[i].name);
    }
    if (error == 0)
        error = merge(s, NSC_DEX_METHODS, &dex->methods, sizeof *dex->methods);
    return error;
}

/* ---- References -------------------------------------------------------------------------------
 */

static int compare_members(const void *a, const void *b, void *context)
{
    const struct nsc_dex_member *x = a, *y = b;

    (void)context;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_annotated(const void *a, const void *b, void *context)
{
    const struct nsc_dex_annotated *x = a, *y = b;

    (void)context;
    return x->member < y->member ? -1 : x->member > y->member;
}

/* Renumber and sort one list of a class's members. */
static void settle_members(struct settling *s, struct nsc_dex_member *m, uint32_t count,
                           enum nsc_dex_table table)
{
    bool sorted = true;

    for (uint32_t i = 0; i < count; i++) {
        m[i].index = mapped(s, table, m[i].index);
        sorted = sorted && (i == 0 || m[i - 1].index < m[i].index);
    }
    if (!sorted)
        nsc_sort(m, count, sizeof *m, compare_members, NULL);
}

static void settle_annotated(struct settling *s, struct nsc_dex_annotated *a, uint32_t count,
                             enum nsc_dex_table table)
{
    bool sorted = true;

    for (uint32_t i = 0; i < count; i++) {
        a[i].member = mapped(s, table, a[i].member);
        sorted = sorted && (i == 0 || a[i - 1].member < a[i].member);
    }
    if (!sorted)
        nsc_sort(a, count, sizeof *a, compare_annotated, NULL);
}

static void settle_classes(struct settling *s)
{
    struct nsc_dex *dex = s->dex;

    for (uint32_t i = 0; i < dex->class_count; i++) {
        struct nsc_dex_class *c = &dex->classes[i];

        c->type = mapped(s, NSC_DEX_TYPES, c->type);
        c->superclass = mapped(s, NSC_DEX_TYPES, c->superclass);
        c->source = mapped(s, NSC_DEX_STRINGS, c->source);
    }
    for (uint32_t i = 0; i < dex->class_data_count; i++) {
        const struct nsc_dex_class_data *d = &dex->class_data[i];
        struct nsc_dex_member *m = d->members;

        settle_members(s, m, d->static_fields, NSC_DEX_FIELDS);
        m += d->static_fields;
        settle_members(s, m, d->instance_fields, NSC_DEX_FIELDS);
        m += d->instance_fields;
        settle_members(s, m, d->direct_methods, NSC_DEX_METHODS);
        m += d->direct_methods;
        settle_members(s, m, d->virtual_methods, NSC_DEX_METHODS);
    }
    for (uint32_t i = 0; i < dex->directory_count; i++) {
        const struct nsc_dex_directory *d = &dex->directories[i];

        settle_annotated(s, d->items, d->fields, NSC_DEX_FIELDS);
        settle_annotated(s, d->items + d->fields, d->methods, NSC_DEX_METHODS);
        settle_annotated(s, d->items + d->fields + d->methods, d->parameters, NSC_DEX_METHODS);
    }
    for (uint32_t i = 0; i < dex->handle_count; i++) {
        struct nsc_dex_handle *h = &dex->handles[i];

        h->member = mapped(s, h->kind < 4 ? NSC_DEX_FIELDS : NSC_DEX_METHODS, h->member);
    }
}

static struct nsc_dex_maps maps_of(const struct settling *s)
{
    struct nsc_dex_maps maps = {
        .strings = s->maps[NSC_DEX_STRINGS],
        .types = s->maps[NSC_DEX_TYPES],
        .protos = s->maps[NSC_DEX_PROTOS],
        .fields = s->maps[NSC_DEX_FIELDS],
        .methods = s->maps[NSC_DEX_METHODS],
        .string_count = s->dex->string_count,
        .type_count = s->dex->type_count,
        .proto_count = s->dex->proto_count,
        .field_count = s->dex->field_count,
        .method_count = s->dex->method_count,
    };

    return maps;
}

/* Store the scratch buffer as a blob of the model; keep the old blob if it is equal. */
static int keep_scratch(struct settling *s, struct nsc_dex_blob *blob)
{
    const uint8_t *copy;

    if (s->scratch.failed || s->scratch.used > UINT32_MAX)
        return out_of_memory(s->diag);
    if (blob->data != NULL && s->scratch.used == blob->bytes &&
        memcmp(s->scratch.data, blob->data, blob->bytes) == 0)
        return 0;
    copy = nsc_dex_copy(s->dex, s->scratch.data, s->scratch.used);
    if (copy == NULL)
        return out_of_memory(s->diag);
    blob->data = copy;
    blob->bytes = (uint32_t)s->scratch.used;
    return 0;
}

static int settle_blobs(struct settling *s, struct nsc_dex_blob *blobs, uint32_t count,
                        bool (*pass)(struct nsc_dex_pass *p))
{
    for (uint32_t i = 0; i < count; i++) {
        struct nsc_dex_pass p = nsc_dex_pass_of(s->dex, nsc_span_of(blobs[i].data, blobs[i].bytes));
        int error;

        if (blobs[i].data == NULL)
            continue;
        nsc_buffer_clear(&s->scratch);
        p.maps = maps_of(s);
        p.out = &s->scratch;
        if (!pass(&p))
            return nsc_diag_set(s->diag, NSC_DIAG_NO_OFFSET, EBADMSG, "broken DEX file: %s",
                                p.bad != NULL ? p.bad : "values are cut off");
        error = keep_scratch(s, &blobs[i]);
        if (error != 0)
            return error;
    }
    return 0;
}

/* ---- Code -------------------------------------------------------------------------------------
 */

/* If instructions grew, positions moved: give the code its own debug information. */
static int settle_grown(struct settling *s, struct nsc_dex_code_item *item,
                        const struct nsc_dex_code *code)
{
    struct nsc_dex_blob item_bytes = {.data = NULL};
    uint32_t debug;
    int error;

    nsc_buffer_clear(&s->scratch);
    nsc_dex_code_write(code, &s->scratch);
    error = keep_scratch(s, &item_bytes);
    if (error != 0)
        return error;
    item->data = item_bytes.data;
    item->bytes = item_bytes.bytes;
    if (code->debug == NULL)
        return 0;
    debug = nsc_dex_append_debug(s->dex, code->debug, code->debug_bytes);
    if (debug == NSC_DEX_NONE)
        return out_of_memory(s->diag);
    nsc_dex_set_debug(s->dex, item, debug);
    return 0;
}

/* Read a code item and replace its indices. On success the caller frees @code. */
static int remap_code(struct settling *s, const struct nsc_dex_code_item *item,
                      const struct nsc_dex_blob *debug, const struct nsc_dex_maps *maps,
                      struct nsc_dex_code *code)
{
    int error =
        nsc_dex_code_read(code, item->data, item->bytes, debug->data, debug->bytes, s->diag);

    if (error != 0)
        return error;
    error = nsc_dex_code_remap(code, maps, s->diag);
    if (error != 0)
        nsc_dex_code_free(code);
    return error;
}

static int settle_code(struct settling *s, struct nsc_dex_code_item *item,
                       const struct nsc_dex_maps *maps)
{
    const struct nsc_dex_blob none = {.data = NULL};
    struct nsc_dex_blob blob = {.data = item->data, .bytes = item->bytes};
    struct nsc_dex_code code;
    uint32_t size;
    int error = remap_code(s, item, &none, maps, &code);

    if (error != 0)
        return error;
    size = nsc_span_get32(item->data + 12);
    /* Many code items may share debug information: convert it only if positions moved. */
    if (code.size != size && item->debug != NSC_DEX_NONE) {
        nsc_dex_code_free(&code);
        error = remap_code(s, item, &s->dex->debugs[item->debug], maps, &code);
        if (error != 0)
            return error;
    }
    if (code.size != size) {
        error = settle_grown(s, item, &code);
    } else {
        nsc_buffer_clear(&s->scratch);
        nsc_dex_code_write(&code, &s->scratch);
        error = keep_scratch(s, &blob);
        item->data = blob.data;
        item->bytes = blob.bytes;
    }
    nsc_dex_code_free(&code);
    return error;
}

static int settle_all(struct settling *s)
{
    struct nsc_dex *dex = s->dex;
    struct nsc_dex_maps maps;
    uint32_t debugs = dex->debug_count;
    int error = settle_tables(s);

    if (error != 0)
        return error;
    settle_classes(s);
    maps = maps_of(s);
    error = settle_blobs(s, dex->annotations, dex->annotation_count, nsc_dex_pass_annotation);
    if (error == 0)
        error = settle_blobs(s, dex->arrays, dex->array_count, nsc_dex_pass_array);
    /* Before the debug information: code that grows needs the old form. Its new debug information
     * is final and is appended after the rest. */
    for (uint32_t i = 0; error == 0 && i < dex->code_count; i++)
        error = settle_code(s, &dex->codes[i], &maps);
    if (error == 0 && (maps.strings != NULL || maps.types != NULL))
        error = settle_blobs(s, dex->debugs, debugs, nsc_dex_pass_debug);
    return error;
}

int nsc_dex_settle(struct nsc_dex *dex, struct nsc_diag *diag)
{
    struct settling s = {.dex = dex, .diag = diag};
    bool added = false;
    int error = 0;

    if (dex->own->error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, dex->own->error, "%s", dex->own->why);
    for (enum nsc_dex_table i = 0; i < NSC_DEX_TABLES; i++)
        added = added || dex->own->tails[i].sorted != nsc_dex_count(dex, i);
    if (added)
        error = settle_all(&s);
    if (error != 0 && dex->own->error == 0)
        nsc_dex_fail(dex, error, "the DEX file could not be renumbered");
    if (added)
        nsc_dex_forget_debugs(dex);
    for (int i = 0; i < NSC_DEX_TABLES; i++)
        free(s.maps[i]);
    nsc_buffer_free(&s.scratch);
    return error;
}
