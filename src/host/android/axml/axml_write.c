/*
 * axml_write.c - encode the model of axml.h. Each chunk is copied as read, then the model's fields
 * are written over it, so unknown bytes are preserved.
 */
#include <errno.h>

#include "android/axml/axml_state.h"
#include "base/span.h"

#define NODE_BYTES 16u

static const uint8_t zeros[NODE_BYTES + NSC_AXML_ELEMENT_BYTES];

static void put_value(uint8_t *at, const struct nsc_axml_value *v)
{
    nsc_axml_put16(at, v->size);
    at[2] = v->zero;
    at[3] = v->type;
    nsc_span_put32(at + 4, v->data);
}

/* Append @bytes of the original chunk, or zeros. Returns their address in @out, or NULL. */
static uint8_t *put_was(struct nsc_buffer *out, const uint8_t *was, size_t bytes)
{
    size_t begin = out->used;

    nsc_buffer_bytes(out, was == NULL ? zeros : was, bytes);
    return out->failed ? NULL : out->data + begin;
}

static void put_attr(struct nsc_buffer *out, const struct nsc_axml_attr *a, uint32_t bytes)
{
    uint8_t *at = nsc_buffer_reserve(out, bytes);

    if (at == NULL)
        return;
    nsc_span_put32(at, a->ns);
    nsc_span_put32(at + 4, a->name);
    nsc_span_put32(at + 8, a->raw);
    put_value(at + 12, &a->value);
    if (bytes > NSC_AXML_ATTR_BYTES && a->more != NULL)
        memcpy(at + NSC_AXML_ATTR_BYTES, a->more, bytes - NSC_AXML_ATTR_BYTES);
    else
        memset(at + NSC_AXML_ATTR_BYTES, 0, bytes - NSC_AXML_ATTR_BYTES);
    out->used += bytes;
}

/* Append the attributes, and the original bytes before and after them. */
static void put_attrs(struct nsc_buffer *out, const struct nsc_axml_node *n, uint32_t header_bytes)
{
    const uint8_t *ext = n->was == NULL ? NULL : n->was + header_bytes;
    uint32_t old_count = ext == NULL ? 0 : nsc_axml_get16(ext + 12);
    uint32_t room = ext == NULL ? 0 : n->was_bytes - header_bytes;
    uint32_t start = NSC_AXML_ELEMENT_BYTES, old_end;

    /* In an element without attributes, their offset is meaningless. */
    if (old_count > 0)
        start = nsc_axml_get16(ext + 8);
    if (start > NSC_AXML_ELEMENT_BYTES)
        nsc_buffer_bytes(out, ext + NSC_AXML_ELEMENT_BYTES, start - NSC_AXML_ELEMENT_BYTES);
    for (uint32_t i = 0; i < n->attr_count; i++)
        put_attr(out, &n->attrs[i], n->attr_bytes);
    old_end = start + (old_count > 0 ? old_count * nsc_axml_get16(ext + 10) : 0);
    if (room > old_end)
        nsc_buffer_bytes(out, ext + old_end, room - old_end);
}

static void put_start(struct nsc_buffer *out, const struct nsc_axml_node *n, uint32_t header_bytes)
{
    uint8_t *ext =
        put_was(out, n->was == NULL ? NULL : n->was + header_bytes, NSC_AXML_ELEMENT_BYTES);

    if (ext == NULL)
        return;
    nsc_span_put32(ext, n->ns);
    nsc_span_put32(ext + 4, n->name);
    if (n->was == NULL || (n->attr_count > 0 && nsc_axml_get16(ext + 12) == 0))
        nsc_axml_put16(ext + 8, NSC_AXML_ELEMENT_BYTES);
    nsc_axml_put16(ext + 10, n->attr_bytes);
    nsc_axml_put16(ext + 12, (uint16_t)n->attr_count);
    nsc_axml_put16(ext + 14, n->id_index);
    nsc_axml_put16(ext + 16, n->class_index);
    nsc_axml_put16(ext + 18, n->style_index);
    put_attrs(out, n, header_bytes);
}

static void put_plain(struct nsc_buffer *out, const struct nsc_axml_node *n, uint32_t header_bytes)
{
    uint32_t bytes = n->was == NULL ? 8 : n->was_bytes - header_bytes;
    uint8_t *ext = put_was(out, n->was == NULL ? NULL : n->was + header_bytes, bytes);

    if (ext == NULL)
        return;
    if (n->type == NSC_AXML_CDATA) {
        nsc_span_put32(ext, n->name);
        put_value(ext + 4, &n->value);
        return;
    }
    nsc_span_put32(ext, n->ns);
    nsc_span_put32(ext + 4, n->name);
}

static void put_node(struct nsc_buffer *out, const struct nsc_axml_node *n)
{
    uint32_t header_bytes = n->was == NULL ? NODE_BYTES : nsc_axml_get16(n->was + 2);
    size_t begin = out->used;
    uint8_t *header = put_was(out, n->was, header_bytes);

    if (header == NULL)
        return;
    nsc_axml_put16(header, n->type);
    nsc_axml_put16(header + 2, (uint16_t)header_bytes);
    nsc_span_put32(header + 8, n->line);
    nsc_span_put32(header + 12, n->comment);
    if (n->type == NSC_AXML_START)
        put_start(out, n, header_bytes);
    else
        put_plain(out, n, header_bytes);
    if (!out->failed)
        nsc_span_put32(out->data + begin + 4, (uint32_t)(out->used - begin));
}

static void put_map(const struct nsc_axml *x, const struct nsc_axml_node *n, struct nsc_buffer *out)
{
    uint32_t header_bytes = n->was == NULL ? 8 : nsc_axml_get16(n->was + 2);
    size_t begin = out->used;
    uint8_t *at = put_was(out, n->was, header_bytes);

    if (at == NULL)
        return;
    nsc_axml_put16(at, NSC_AXML_MAP);
    nsc_axml_put16(at + 2, (uint16_t)header_bytes);
    at = nsc_buffer_reserve(out, 4 * (size_t)x->id_count);
    for (uint32_t i = 0; at != NULL && i < x->id_count; i++)
        nsc_span_put32(at + 4 * (size_t)i, x->ids[i]);
    if (at == NULL)
        return;
    out->used += 4 * (size_t)x->id_count;
    nsc_span_put32(out->data + begin + 4, (uint32_t)(out->used - begin));
}

/* Append the pool, and after it a map if the input had none. */
static int put_pool(const struct nsc_axml *x, struct nsc_buffer *out)
{
    static const struct nsc_axml_node none;
    int error = nsc_axml_pool_write(&x->pool, out);

    if (error == 0 && x->map_place == NSC_AXML_NONE && x->ids_changed)
        put_map(x, &none, out);
    return error;
}

/* Append the start or end of the namespaces that editing added. */
static void put_spaces(const struct nsc_axml *x, uint16_t type, struct nsc_buffer *out)
{
    for (uint32_t i = 0; i < x->space_count; i++) {
        const struct nsc_axml_space *space =
            &x->spaces[type == NSC_AXML_NS_START ? i : x->space_count - 1 - i];
        struct nsc_axml_node n = {.type = type, .line = 1, .comment = NSC_AXML_NONE};

        n.ns = space->prefix;
        n.name = space->uri;
        put_node(out, &n);
    }
}

static int put_one(const struct nsc_axml *x, uint32_t place, struct nsc_buffer *out)
{
    const struct nsc_axml_node *n = &x->nodes[place];

    if (place == x->pool_place)
        return put_pool(x, out);
    switch (n->type) {
    case NSC_AXML_NS_START:
    case NSC_AXML_NS_END:
    case NSC_AXML_START:
    case NSC_AXML_END:
    case NSC_AXML_CDATA:
        put_node(out, n);
        break;
    default:
        if (place == x->map_place && x->ids_changed)
            put_map(x, n, out);
        else
            nsc_buffer_bytes(out, n->was, n->was_bytes);
        break;
    }
    return out->failed ? -ENOMEM : 0;
}

int nsc_axml_write(const struct nsc_axml *x, struct nsc_buffer *out, struct nsc_diag *diag)
{
    uint32_t root = nsc_axml_root(x), end = nsc_axml_end(x, root);
    size_t begin = out->used;
    int error = 0;

    nsc_buffer_bytes(out, x->bytes, x->header_bytes);
    for (uint32_t i = 0; i < x->node_count && error == 0; i++) {
        if (i == root)
            put_spaces(x, NSC_AXML_NS_START, out);
        error = put_one(x, i, out);
        if (i == end)
            put_spaces(x, NSC_AXML_NS_END, out);
    }
    nsc_buffer_bytes(out, x->tail, x->tail_bytes);
    if (error == -EFBIG || out->used - begin > UINT32_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG,
                            "the changed XML would have 4 GiB or more");
    if (!out->failed)
        nsc_span_put32(out->data + begin + 4, (uint32_t)(out->used - begin));
    nsc_buffer_bytes(out, x->trailer, x->trailer_bytes);
    if (out->failed)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    return 0;
}
