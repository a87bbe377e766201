/*
 * dex_read_data.c - read the items that a DEX file's tables of ids refer to by offset: lists,
 * annotations, classes' members, code, debug information. The input is hostile. See
 * dex_read_state.h.
 */
#include <errno.h>

#include "android/bytecode/code.h"
#include "android/dex/dex_read_state.h"

static int out_of_memory(struct nsc_dex_reading *r)
{
    return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

static uint32_t place(const struct nsc_dex_reading *r, const uint8_t *at)
{
    return (uint32_t)(at - r->data);
}

static uint32_t take32(struct nsc_span *span)
{
    const uint8_t *at = nsc_span_take(span, 4);

    return at == NULL ? 0 : nsc_span_get32(at);
}

/* ---- Lists ------------------------------------------------------------------------------------
 */

/* Read a list's count and allocate its memory. The span is then at the first element of @bytes. */
static int take_list(struct nsc_dex_reading *r, struct nsc_span *span, size_t bytes,
                     struct nsc_dex_list *list)
{
    uint32_t count = take32(span);

    if (span->bad || count > nsc_span_left(span) / bytes) {
        span->bad = true;
        return 0;
    }
    list->items = nsc_dex_alloc(r->dex, count * sizeof *list->items);
    if (list->items == NULL)
        return out_of_memory(r);
    list->count = count;
    return 0;
}

static int read_list(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    struct nsc_dex_list *list = &r->dex->lists[i];
    int error = take_list(r, span, 2, list);

    for (uint32_t j = 0; error == 0 && j < list->count; j++) {
        const uint8_t *at = nsc_span_take(span, 2);

        if (at == NULL)
            break;
        list->items[j] = nsc_span_get16(at);
        if (list->items[j] >= r->dex->type_count)
            error = nsc_dex_bad_index(r, place(r, at), "type", list->items[j]);
    }
    return error;
}

int nsc_dex_read_lists(struct nsc_dex_reading *r)
{
    int error = nsc_dex_make_table(r, NSC_DEX_LISTS, sizeof *r->dex->lists, &r->dex->lists,
                                   &r->dex->list_count);

    return error != 0 ? error : nsc_dex_each_item(r, NSC_DEX_LISTS, read_list);
}

/* Read a list of offsets of items in another section. */
static int read_offsets(struct nsc_dex_reading *r, struct nsc_span *span, enum nsc_dex_kind kind,
                        struct nsc_dex_list *list)
{
    int error = take_list(r, span, 4, list);

    for (uint32_t j = 0; error == 0 && j < list->count; j++) {
        uint32_t at = place(r, span->at);

        error = nsc_dex_resolve(r, kind, take32(span), at, &list->items[j]);
    }
    return error;
}

static int read_set(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    struct nsc_dex_list *set = &r->dex->sets[i];
    uint32_t at = place(r, span->at);
    int error = read_offsets(r, span, NSC_DEX_ANNOTATIONS, set);

    for (uint32_t j = 0; error == 0 && !span->bad && j < set->count; j++)
        if (set->items[j] == NSC_DEX_NONE)
            return nsc_diag_set(r->diag, at, EBADMSG,
                                "broken DEX file: an annotation of a set is missing");
    return error;
}

static int read_set_list(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    return read_offsets(r, span, NSC_DEX_SETS, &r->dex->set_lists[i]);
}

/* ---- Uninterpreted items ----------------------------------------------------------------------
 */

static int read_blob(struct nsc_dex_reading *r, struct nsc_span *span, struct nsc_dex_blob *blob,
                     bool (*pass)(struct nsc_dex_pass *p))
{
    struct nsc_dex_pass p = nsc_dex_pass_of(r->dex, *span);

    if (!pass(&p) && p.bad != NULL)
        return nsc_diag_set(r->diag, place(r, p.in.at), EBADMSG, "broken DEX file: %s", p.bad);
    blob->data = span->at;
    blob->bytes = (uint32_t)(p.in.at - span->at);
    *span = p.in;
    return 0;
}

static int read_debug(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    return read_blob(r, span, &r->dex->debugs[i], nsc_dex_pass_debug);
}

static int read_annotation(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    return read_blob(r, span, &r->dex->annotations[i], nsc_dex_pass_annotation);
}

static int read_array(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    return read_blob(r, span, &r->dex->arrays[i], nsc_dex_pass_array);
}

/* Limit of shared debug information, which is processed once per method, in multiples of the file
 * size. Real files reach about 30 times their size. */
#define SHARED_MAX 256u

static int share_debug(struct nsc_dex_reading *r, uint32_t debug, uint32_t at)
{
    if (debug == NSC_DEX_NONE)
        return 0;
    r->dex->debugs[debug].users++;
    r->debug_bytes += r->dex->debugs[debug].bytes;
    if (r->debug_bytes > (uint64_t)r->bytes * SHARED_MAX)
        return nsc_diag_set(r->diag, at, EBADMSG,
                            "broken DEX file: its methods share too much debug information");
    return 0;
}

static int read_code(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    struct nsc_dex_code_item *code = &r->dex->codes[i];
    const uint8_t *at = nsc_span_take(span, 16);
    size_t bytes;
    int error;

    code->debug = NSC_DEX_NONE;
    if (at == NULL)
        return 0;
    error =
        nsc_dex_resolve(r, NSC_DEX_DEBUGS, nsc_span_get32(at + 8), place(r, at) + 8u, &code->debug);
    if (error == 0)
        error = share_debug(r, code->debug, place(r, at));
    if (error != 0)
        return error;
    bytes = nsc_dex_code_bytes(at, (size_t)(span->end - at));
    if (bytes == 0) {
        span->bad = true;
        return 0;
    }
    span->at = at + bytes;
    code->data = at;
    code->bytes = (uint32_t)bytes;
    return 0;
}

/* ---- Annotations of classes -------------------------------------------------------------------
 */

static int read_annotated(struct nsc_dex_reading *r, struct nsc_span *span, enum nsc_dex_kind kind,
                          bool field, struct nsc_dex_annotated *a)
{
    uint32_t at = place(r, span->at);
    int error;

    a->member = take32(span);
    error = nsc_dex_resolve(r, kind, take32(span), at + 4u, &a->annotations);
    if (error == 0 && a->member >= (field ? r->dex->field_count : r->dex->method_count))
        return nsc_dex_bad_index(r, at, field ? "field" : "method", a->member);
    return error;
}

static int read_directory(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    struct nsc_dex_directory *d = &r->dex->directories[i];
    uint32_t at = place(r, span->at);
    uint64_t count;
    int error = nsc_dex_resolve(r, NSC_DEX_SETS, take32(span), at, &d->class_set);

    d->fields = take32(span);
    d->methods = take32(span);
    d->parameters = take32(span);
    count = (uint64_t)d->fields + d->methods + d->parameters;
    if (span->bad || count > nsc_span_left(span) / 8) {
        span->bad = true;
        return error;
    }
    d->items = nsc_dex_alloc(r->dex, count * sizeof *d->items);
    if (d->items == NULL)
        return out_of_memory(r);
    for (uint32_t j = 0; error == 0 && j < count; j++)
        error =
            read_annotated(r, span, j < d->fields + d->methods ? NSC_DEX_SETS : NSC_DEX_SET_LISTS,
                           j < d->fields, &d->items[j]);
    return error;
}

/* ---- Classes ----------------------------------------------------------------------------------
 */

/* Read one of the four lists of a class's members. */
static int read_members(struct nsc_dex_reading *r, struct nsc_span *span, bool field,
                        struct nsc_dex_member *m, uint32_t count)
{
    uint64_t index = 0;

    for (uint32_t i = 0; i < count && !span->bad; i++, m++) {
        uint32_t at = place(r, span->at),
                 limit = field ? r->dex->field_count : r->dex->method_count;
        uint32_t step = nsc_span_leb32(span);
        int error;

        index += step;
        m->access = nsc_span_leb32(span);
        m->code = NSC_DEX_NONE;
        if (!span->bad && index >= limit)
            return nsc_dex_bad_index(r, at, field ? "field" : "method",
                                     index > UINT32_MAX ? NSC_DEX_NONE : (uint32_t)index);
        m->index = (uint32_t)index;
        if (!span->bad && i > 0 && step == 0)
            return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: a class has %s %u twice",
                                field ? "field" : "method", m->index);
        if (field)
            continue;
        error = nsc_dex_resolve(r, NSC_DEX_CODES, nsc_span_leb32(span), at, &m->code);
        if (error != 0)
            return error;
        if (m->code != NSC_DEX_NONE)
            r->dex->codes[m->code].users++;
    }
    return 0;
}

static int read_class_data(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i)
{
    struct nsc_dex_class_data *d = &r->dex->class_data[i];
    uint64_t fields, all;
    int error;

    d->static_fields = nsc_span_leb32(span);
    d->instance_fields = nsc_span_leb32(span);
    d->direct_methods = nsc_span_leb32(span);
    d->virtual_methods = nsc_span_leb32(span);
    fields = (uint64_t)d->static_fields + d->instance_fields;
    all = fields + d->direct_methods + d->virtual_methods;
    if (span->bad || all > nsc_span_left(span) / 2) {
        span->bad = true;
        return 0;
    }
    d->members = nsc_dex_alloc(r->dex, all * sizeof *d->members);
    if (d->members == NULL)
        return out_of_memory(r);
    error = read_members(r, span, true, d->members, d->static_fields);
    if (error == 0)
        error = read_members(r, span, true, d->members + d->static_fields, d->instance_fields);
    if (error == 0)
        error = read_members(r, span, false, d->members + fields, d->direct_methods);
    if (error == 0)
        error = read_members(r, span, false, d->members + fields + d->direct_methods,
                             d->virtual_methods);
    return error;
}

static int read_class(struct nsc_dex_reading *r, uint32_t i)
{
    uint32_t at = r->sections[NSC_DEX_CLASS_DEFS].offset + 32 * i, w[8];
    struct nsc_dex_class *c = &r->dex->classes[i];
    int error;

    for (uint32_t j = 0; j < 8; j++)
        w[j] = nsc_span_get32(r->data + at + 4 * j);
    c->type = w[0];
    c->access = w[1];
    c->superclass = w[2];
    c->source = w[4];
    if (c->type >= r->dex->type_count)
        return nsc_dex_bad_index(r, at, "type", c->type);
    if (c->superclass != NSC_DEX_NONE && c->superclass >= r->dex->type_count)
        return nsc_dex_bad_index(r, at + 8, "type", c->superclass);
    if (c->source != NSC_DEX_NONE && c->source >= r->dex->string_count)
        return nsc_dex_bad_index(r, at + 16, "string", c->source);
    error = nsc_dex_resolve(r, NSC_DEX_LISTS, w[3], at + 12, &c->interfaces);
    if (error == 0)
        error = nsc_dex_resolve(r, NSC_DEX_DIRECTORIES, w[5], at + 20, &c->directory);
    if (error == 0)
        error = nsc_dex_resolve(r, NSC_DEX_CLASS_DATA, w[6], at + 24, &c->data);
    if (error == 0)
        error = nsc_dex_resolve(r, NSC_DEX_ARRAYS, w[7], at + 28, &c->values);
    return error;
}

static int read_classes(struct nsc_dex_reading *r)
{
    int error = nsc_dex_make_table(r, NSC_DEX_CLASS_DEFS, sizeof *r->dex->classes, &r->dex->classes,
                                   &r->dex->class_count);

    for (uint32_t i = 0; error == 0 && i < r->dex->class_count; i++)
        error = read_class(r, i);
    return error;
}

static int read_call_sites(struct nsc_dex_reading *r)
{
    const struct nsc_dex_section *s = &r->sections[NSC_DEX_CALL_SITE_IDS];
    struct nsc_dex *dex = r->dex;
    int error = nsc_dex_make_table(r, NSC_DEX_CALL_SITE_IDS, sizeof *dex->call_sites,
                                   &dex->call_sites, &dex->call_site_count);

    for (uint32_t i = 0; error == 0 && i < dex->call_site_count; i++) {
        uint32_t at = s->offset + 4 * i;

        error = nsc_dex_resolve(r, NSC_DEX_ARRAYS, nsc_span_get32(r->data + at), at,
                                &dex->call_sites[i]);
        if (error == 0 && dex->call_sites[i] == NSC_DEX_NONE)
            return nsc_diag_set(r->diag, at, EBADMSG, "broken DEX file: call site %u is missing",
                                i);
    }
    return error;
}

/* Read the hidden API flags by class and member. They contain no indices, so they are kept
 * uninterpreted. */
static int read_hidden(struct nsc_dex_reading *r)
{
    struct nsc_dex_section *s = &r->sections[NSC_DEX_HIDDEN];
    uint32_t bytes = s->count == 0 ? 0 : nsc_span_get32(r->data + s->offset);

    if (s->count == 0)
        return 0;
    if (s->count != 1 || bytes > s->limit - s->offset ||
        bytes < 4 + 4 * (uint64_t)r->dex->class_count)
        return nsc_diag_set(r->diag, s->offset, EBADMSG,
                            "broken DEX file: its hidden API flags have a wrong size, %u", bytes);
    r->dex->hidden.data = r->data + s->offset;
    r->dex->hidden.bytes = bytes;
    r->dex->own->hidden_classes = r->dex->class_count;
    s->end = s->offset + bytes;
    return 0;
}

int nsc_dex_read_data(struct nsc_dex_reading *r)
{
    struct nsc_dex *dex = r->dex;
    const struct {
        enum nsc_dex_kind kind;
        size_t bytes;
        void *table;
        uint32_t *count;
        int (*item)(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i);
    } steps[] = {
        {NSC_DEX_DEBUGS, sizeof *dex->debugs, &dex->debugs, &dex->debug_count, read_debug},
        {NSC_DEX_CODES, sizeof *dex->codes, &dex->codes, &dex->code_count, read_code},
        {NSC_DEX_ANNOTATIONS, sizeof *dex->annotations, &dex->annotations, &dex->annotation_count,
         read_annotation},
        {NSC_DEX_SETS, sizeof *dex->sets, &dex->sets, &dex->set_count, read_set},
        {NSC_DEX_SET_LISTS, sizeof *dex->set_lists, &dex->set_lists, &dex->set_list_count,
         read_set_list},
        {NSC_DEX_DIRECTORIES, sizeof *dex->directories, &dex->directories, &dex->directory_count,
         read_directory},
        {NSC_DEX_ARRAYS, sizeof *dex->arrays, &dex->arrays, &dex->array_count, read_array},
        {NSC_DEX_CLASS_DATA, sizeof *dex->class_data, &dex->class_data, &dex->class_data_count,
         read_class_data},
    };
    int error;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        error =
            nsc_dex_make_table(r, steps[i].kind, steps[i].bytes, steps[i].table, steps[i].count);
        if (error == 0)
            error = nsc_dex_each_item(r, steps[i].kind, steps[i].item);
        if (error != 0)
            return error;
    }
    error = read_classes(r);
    if (error == 0)
        error = read_call_sites(r);
    return error != 0 ? error : read_hidden(r);
}
