/* find.c - find elements and attributes of a document. */
#include "android/axml/axml_state.h"

bool nsc_axml_text(const struct nsc_axml *x, uint32_t string, struct nsc_buffer *out)
{
    return nsc_axml_pool_text(&x->pool, string, out);
}

bool nsc_axml_is(const struct nsc_axml *x, uint32_t string, const char *text)
{
    return nsc_axml_pool_is(&x->pool, string, text);
}

uint32_t nsc_axml_root(const struct nsc_axml *x)
{
    for (uint32_t i = 0; i < x->node_count; i++)
        if (x->nodes[i].type == NSC_AXML_START)
            return i;
    return NSC_AXML_NONE;
}

uint32_t nsc_axml_end(const struct nsc_axml *x, uint32_t node)
{
    uint32_t depth = 0;

    for (uint32_t i = node; i < x->node_count; i++) {
        if (x->nodes[i].type == NSC_AXML_START)
            depth++;
        else if (x->nodes[i].type == NSC_AXML_END && --depth == 0)
            return i;
    }
    return NSC_AXML_NONE;
}

uint32_t nsc_axml_child(const struct nsc_axml *x, uint32_t parent, uint32_t after, const char *name)
{
    uint32_t depth = 0, i = after == parent ? parent : nsc_axml_end(x, after);

    if (i == NSC_AXML_NONE)
        return NSC_AXML_NONE;
    for (i++; i < x->node_count; i++) {
        const struct nsc_axml_node *n = &x->nodes[i];

        if (n->type == NSC_AXML_START) {
            if (depth == 0 && (name == NULL || nsc_axml_is(x, n->name, name)))
                return i;
            depth++;
        } else if (n->type == NSC_AXML_END) {
            if (depth == 0)
                return NSC_AXML_NONE;
            depth--;
        }
    }
    return NSC_AXML_NONE;
}

uint32_t nsc_axml_attr_id(const struct nsc_axml *x, const struct nsc_axml_attr *attr)
{
    return attr->name < x->id_count ? x->ids[attr->name] : 0;
}

struct nsc_axml_attr *nsc_axml_attr(const struct nsc_axml *x, uint32_t node, uint32_t id)
{
    const struct nsc_axml_node *n = &x->nodes[node];

    for (uint32_t i = 0; i < n->attr_count; i++)
        if (nsc_axml_attr_id(x, &n->attrs[i]) == id)
            return &n->attrs[i];
    return NULL;
}

struct nsc_axml_attr *nsc_axml_attr_named(const struct nsc_axml *x, uint32_t node, const char *uri,
                                          const char *name)
{
    const struct nsc_axml_node *n = &x->nodes[node];

    for (uint32_t i = 0; i < n->attr_count; i++) {
        struct nsc_axml_attr *a = &n->attrs[i];

        if (nsc_axml_attr_id(x, a) == 0 && nsc_axml_is(x, a->name, name) &&
            (uri == NULL ? a->ns == NSC_AXML_NONE : nsc_axml_is(x, a->ns, uri)))
            return a;
    }
    return NULL;
}
