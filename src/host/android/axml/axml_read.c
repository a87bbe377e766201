/*
 * axml_read.c - parse bytes into the model of axml.h.
 *
 * Exactly as strict as the platform's parser: it ignores the type of the outermost chunk, chunks of
 * unknown types, and anything after the root element.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/axml/axml_state.h"
#include "base/span.h"
#include "util/array.h"

#define CHUNK_BYTES 8u
#define NODE_BYTES  16u

struct reading {
    struct nsc_axml *x;
    size_t at, end; /* offset of the next chunk, and end of the chunks */
    uint32_t depth; /* of open elements */
    bool in_body;   /* a node has been seen */
    bool over;      /* the root element has ended */
    struct nsc_diag *diag;
};

struct chunk {
    uint16_t type, header_bytes;
    uint32_t bytes;
};

static int bad(const struct reading *r, size_t at, const char *what)
{
    return nsc_diag_set(r->diag, at, EBADMSG, "%s", what);
}

static const char *read_chunk(const struct reading *r, struct chunk *c)
{
    const uint8_t *at = r->x->bytes + r->at;

    if (r->end - r->at < CHUNK_BYTES)
        return "the header of a chunk is cut off";
    c->type = nsc_axml_get16(at);
    c->header_bytes = nsc_axml_get16(at + 2);
    c->bytes = nsc_span_get32(at + 4);
    if (c->bytes < CHUNK_BYTES || c->bytes > r->end - r->at)
        return "a chunk's size is wrong";
    if (c->header_bytes < CHUNK_BYTES || c->header_bytes > c->bytes)
        return "the size of a chunk's header is wrong";
    return NULL;
}

static struct nsc_axml_value read_value(const uint8_t *at)
{
    struct nsc_axml_value v = {nsc_axml_get16(at), at[2], at[3], nsc_span_get32(at + 4)};

    return v;
}

static int read_attrs(const struct reading *r, struct nsc_axml_node *n, const uint8_t *ext,
                      uint32_t room)
{
    uint32_t start = nsc_axml_get16(ext + 8), each = nsc_axml_get16(ext + 10);
    uint32_t count = nsc_axml_get16(ext + 12);

    n->attr_bytes = (uint16_t)each;
    n->id_index = nsc_axml_get16(ext + 14);
    n->class_index = nsc_axml_get16(ext + 16);
    n->style_index = nsc_axml_get16(ext + 18);
    if (count == 0)
        return 0;
    if (start < NSC_AXML_ELEMENT_BYTES || each < NSC_AXML_ATTR_BYTES ||
        (uint64_t)start + (uint64_t)each * count > room)
        return bad(r, (size_t)(ext - r->x->bytes),
                   "the attributes of an element are not inside it");
    n->attrs = calloc(count, sizeof *n->attrs);
    if (n->attrs == NULL)
        return -ENOMEM;
    n->attr_count = n->attr_room = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = ext + start + (size_t)each * i;
        struct nsc_axml_attr *a = &n->attrs[i];

        a->ns = nsc_span_get32(at);
        a->name = nsc_span_get32(at + 4);
        a->raw = nsc_span_get32(at + 8);
        a->value = read_value(at + 12);
        a->more = at + NSC_AXML_ATTR_BYTES;
    }
    return 0;
}

/* Minimum size of a node of that type, without the header; 0: unknown type. */
static uint32_t least_bytes(uint16_t type)
{
    switch (type) {
    case NSC_AXML_NS_START:
    case NSC_AXML_NS_END:
    case NSC_AXML_END:
        return 8;
    case NSC_AXML_START:
        return NSC_AXML_ELEMENT_BYTES;
    case NSC_AXML_CDATA:
        return 12;
    default:
        return 0;
    }
}

/* Read the fields of a namespace, an element's start or end, or text. */
static int read_node(struct reading *r, const struct chunk *c, struct nsc_axml_node *n)
{
    const uint8_t *ext = n->was + c->header_bytes;
    uint32_t room = c->bytes - c->header_bytes, least = least_bytes(c->type);

    if (least == 0)
        return 0;
    if (c->header_bytes < NODE_BYTES || room < least)
        return bad(r, r->at, "a node is too short");
    n->line = nsc_span_get32(n->was + 8);
    n->comment = nsc_span_get32(n->was + 12);
    if (c->type == NSC_AXML_CDATA) {
        n->ns = NSC_AXML_NONE;
        n->name = nsc_span_get32(ext);
        n->value = read_value(ext + 4);
        return 0;
    }
    n->ns = nsc_span_get32(ext);
    n->name = nsc_span_get32(ext + 4);
    if (c->type == NSC_AXML_START) {
        r->depth++;
        return read_attrs(r, n, ext, room);
    }
    if (c->type == NSC_AXML_END) {
        if (r->depth == 0 && !r->over)
            return bad(r, r->at, "an element ends that has not begun");
        r->depth -= r->depth > 0;
        r->over |= r->depth == 0;
    }
    return 0;
}

static int read_map(struct nsc_axml *x, const struct chunk *c, const uint8_t *at)
{
    uint32_t count = (c->bytes - c->header_bytes) / 4;

    free(x->ids);
    x->id_count = x->id_room = 0;
    x->ids = calloc(count + 1u, sizeof *x->ids);
    if (x->ids == NULL)
        return -ENOMEM;
    x->id_count = x->id_room = count;
    for (uint32_t i = 0; i < count; i++)
        x->ids[i] = nsc_span_get32(at + c->header_bytes + 4 * (size_t)i);
    return 0;
}

/* Read one chunk. Of several pools or maps, the last one before the first node is used, as in the
 * platform. */
static int read_one(struct reading *r, const struct chunk *c)
{
    struct nsc_axml *x = r->x;
    struct nsc_axml_node *nodes =
        nsc_array_grow(x->nodes, &x->node_room, x->node_count, sizeof *nodes);
    struct nsc_axml_node *n;

    if (nodes == NULL)
        return -ENOMEM;
    x->nodes = nodes;
    n = &nodes[x->node_count++];
    memset(n, 0, sizeof *n);
    n->type = c->type;
    n->was = x->bytes + r->at;
    n->was_bytes = c->bytes;
    if (c->type == NSC_AXML_POOL && !r->in_body) {
        x->pool_place = x->node_count - 1;
        return nsc_axml_pool_read(&x->pool, n->was, c->bytes, r->at, r->diag);
    }
    if (c->type == NSC_AXML_MAP && !r->in_body) {
        x->map_place = x->node_count - 1;
        return read_map(x, c, n->was);
    }
    if (c->type >= NSC_AXML_NS_START && c->type <= NSC_AXML_LAST_NODE) {
        r->in_body = true;
        return read_node(r, c, n);
    }
    return 0;
}

static int read_chunks(struct reading *r)
{
    struct nsc_axml *x = r->x;

    for (; r->at < r->end;) {
        struct chunk c;
        const char *wrong = read_chunk(r, &c);
        int error;

        if (wrong != NULL) {
            if (!r->over)
                return bad(r, r->at, wrong);
            x->tail = x->bytes + r->at;
            x->tail_bytes = r->end - r->at;
            return 0;
        }
        error = read_one(r, &c);
        if (error == -ENOMEM)
            return nsc_diag_set(r->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
        if (error != 0)
            return error;
        r->at += c.bytes;
    }
    if (x->pool_place == NSC_AXML_NONE)
        return bad(r, r->end, "there are no strings");
    if (nsc_axml_root(x) == NSC_AXML_NONE)
        return bad(r, r->end, "there is no element");
    if (!r->over)
        return bad(r, r->end, "the document ends inside an element");
    return 0;
}

static int read_header(struct reading *r)
{
    struct nsc_axml *x = r->x;
    uint32_t bytes;

    if (x->size > 0 && x->bytes[0] == '<')
        return nsc_diag_set(r->diag, 0, EBADMSG, "this is XML text, not compiled XML");
    if (x->size < CHUNK_BYTES)
        return bad(r, x->size, "not compiled XML: the header is cut off");
    x->header_bytes = nsc_axml_get16(x->bytes + 2);
    bytes = nsc_span_get32(x->bytes + 4);
    /* The platform ignores the type; a plausible size is the only check. */
    if (x->header_bytes < CHUNK_BYTES || bytes < x->header_bytes)
        return bad(r, 2, "not compiled XML: its header is wrong");
    if (bytes > x->size)
        return nsc_diag_set(
            r->diag, 4, EBADMSG,
            "not compiled XML, or cut off: it has %zu bytes and says that it has %u", x->size,
            bytes);
    r->at = x->header_bytes;
    r->end = bytes;
    x->trailer = x->bytes + bytes;
    x->trailer_bytes = x->size - bytes;
    return 0;
}

int nsc_axml_read(const void *data, size_t bytes, struct nsc_axml **out, struct nsc_diag *diag)
{
    struct reading r = {.diag = diag};
    int error;

    if (bytes > UINT32_MAX)
        return nsc_diag_set(diag, 0, EFBIG, "not compiled XML: it has 4 GiB or more");
    r.x = calloc(1, sizeof *r.x);
    if (r.x != NULL)
        r.x->bytes = malloc(bytes + 1);
    if (r.x == NULL || r.x->bytes == NULL) {
        nsc_axml_free(r.x);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
    if (bytes > 0)
        memcpy(r.x->bytes, data, bytes);
    r.x->size = bytes;
    r.x->pool_place = r.x->map_place = NSC_AXML_NONE;
    error = read_header(&r);
    if (error == 0)
        error = read_chunks(&r);
    if (error != 0) {
        nsc_axml_free(r.x);
        return error;
    }
    *out = r.x;
    return 0;
}

void nsc_axml_free(struct nsc_axml *x)
{
    if (x == NULL)
        return;
    for (uint32_t i = 0; i < x->node_count; i++)
        free(x->nodes[i].attrs);
    nsc_axml_pool_free(&x->pool);
    free(x->nodes);
    free(x->ids);
    free(x->spaces);
    free(x->bytes);
    free(x);
}
