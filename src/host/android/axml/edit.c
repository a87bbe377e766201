/*
 * edit.c - set and remove attributes, add and remove elements. Updates the string indices of all
 * nodes when strings move.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/axml/axml_state.h"
#include "util/array.h"

#define ATTRS_MAX   0xffffu
#define LAST_STRING 0xfffffff0u /* higher values are not string indices and do not move */

static int failed(struct nsc_diag *diag, int error)
{
    switch (error) {
    case 0:
        return 0;
    case -EFBIG:
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EFBIG,
                            "a text is too long for the strings of this XML");
    case -EINVAL:
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "the styles of this XML's strings are damaged, so no string can be "
                            "added");
    default:
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    }
}

/* ---- Strings
 * ------------------------------------------------------------------------------------- */

static void move(uint32_t *string, uint32_t from)
{
    if (*string >= from && *string < LAST_STRING)
        ++*string;
}

static void move_value(struct nsc_axml_value *v, uint32_t from)
{
    if (v->type == NSC_AXML_STRING)
        move(&v->data, from);
}

/* Update all indices after strings from @from on have moved by one. */
static void move_strings(struct nsc_axml *x, uint32_t from)
{
    for (uint32_t i = 0; i < x->node_count; i++) {
        struct nsc_axml_node *n = &x->nodes[i];

        move(&n->comment, from);
        move(&n->ns, from);
        move(&n->name, from);
        move_value(&n->value, from);
        for (uint32_t j = 0; j < n->attr_count; j++) {
            struct nsc_axml_attr *a = &n->attrs[j];

            move(&a->ns, from);
            move(&a->name, from);
            move(&a->raw, from);
            move_value(&a->value, from);
        }
    }
    for (uint32_t i = 0; i < x->space_count; i++) {
        move(&x->spaces[i].prefix, from);
        move(&x->spaces[i].uri, from);
    }
}

/* Add empty strings to the pool for entries of the resource map beyond its end. */
static int fill_mapped(struct nsc_axml *x)
{
    int error = 0;

    while (error == 0 && x->pool.count < x->id_count)
        error = nsc_axml_pool_insert(&x->pool, x->pool.count, "");
    return error;
}

int nsc_axml_string(struct nsc_axml *x, const char *text, uint32_t *string, struct nsc_diag *diag)
{
    int error;

    for (uint32_t i = x->id_count; i < x->pool.count; i++) {
        if (nsc_axml_pool_is(&x->pool, i, text)) {
            *string = i;
            return 0;
        }
    }
    error = fill_mapped(x);
    if (error == 0)
        error = nsc_axml_pool_insert(&x->pool, x->pool.count, text);
    if (error == 0)
        *string = x->pool.count - 1;
    return failed(diag, error);
}

/* Find the string with the resource id, or insert it after the last string with an id. */
static int name_of_id(struct nsc_axml *x, const struct nsc_axml_key *key, uint32_t *string,
                      struct nsc_diag *diag)
{
    uint32_t *ids;
    int error;

    for (uint32_t i = 0; i < x->id_count; i++) {
        if (x->ids[i] == key->id) {
            *string = i;
            return 0;
        }
    }
    ids = nsc_array_grow(x->ids, &x->id_room, x->id_count, sizeof *ids);
    if (ids == NULL)
        return failed(diag, -ENOMEM);
    x->ids = ids;
    error = fill_mapped(x);
    if (error == 0)
        error = nsc_axml_pool_insert(&x->pool, x->id_count, key->name);
    if (error != 0)
        return failed(diag, error);
    move_strings(x, x->id_count);
    *string = x->id_count;
    x->ids[x->id_count++] = key->id;
    x->ids_changed = true;
    return 0;
}

/* Find the namespace's string in the document, or declare the namespace. */
static int find_space(struct nsc_axml *x, const char *uri, uint32_t *string, struct nsc_diag *diag)
{
    struct nsc_axml_space space = {NSC_AXML_NONE, NSC_AXML_NONE}, *spaces;
    int error;

    for (uint32_t i = 0; i < x->node_count; i++) {
        if (x->nodes[i].type == NSC_AXML_NS_START && nsc_axml_is(x, x->nodes[i].name, uri)) {
            *string = x->nodes[i].name;
            return 0;
        }
    }
    for (uint32_t i = 0; i < x->space_count; i++) {
        if (nsc_axml_is(x, x->spaces[i].uri, uri)) {
            *string = x->spaces[i].uri;
            return 0;
        }
    }
    spaces = nsc_array_grow(x->spaces, &x->space_room, x->space_count, sizeof *spaces);
    if (spaces == NULL)
        return failed(diag, -ENOMEM);
    x->spaces = spaces;
    error = nsc_axml_string(x, strcmp(uri, NSC_AXML_ANDROID) == 0 ? "android" : "ns", &space.prefix,
                            diag);
    if (error == 0)
        error = nsc_axml_string(x, uri, &space.uri, diag);
    if (error != 0)
        return error;
    x->spaces[x->space_count++] = space;
    *string = space.uri;
    return 0;
}

/* ---- Attributes
 * ---------------------------------------------------------------------------------- */

/* Position for a new attribute: the platform searches attributes in the order of their ids; those
 * without id come last. */
static uint32_t place_for(const struct nsc_axml *x, const struct nsc_axml_node *n, uint32_t id)
{
    uint32_t place = 0;

    if (id == 0)
        return n->attr_count;
    while (place < n->attr_count) {
        uint32_t other = nsc_axml_attr_id(x, &n->attrs[place]);

        if (other == 0 || other > id)
            break;
        place++;
    }
    return place;
}

/* Update the 1-based positions of id, class and style. */
static void shift_places(struct nsc_axml_node *n, uint32_t place, bool removed)
{
    uint16_t *places[] = {&n->id_index, &n->class_index, &n->style_index};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (removed && *places[i] == place + 1)
            *places[i] = 0;
        else if (*places[i] > place)
            *places[i] = (uint16_t)(*places[i] + (removed ? -1 : 1));
    }
}

static struct nsc_axml_attr *insert_attr(struct nsc_axml_node *n, uint32_t place)
{
    struct nsc_axml_attr *attrs =
        nsc_array_grow(n->attrs, &n->attr_room, n->attr_count, sizeof *attrs);

    if (attrs == NULL)
        return NULL;
    n->attrs = attrs;
    memmove(attrs + place + 1, attrs + place, (n->attr_count - place) * sizeof *attrs);
    memset(&attrs[place], 0, sizeof attrs[place]);
    n->attr_count++;
    if (n->attr_bytes < NSC_AXML_ATTR_BYTES)
        n->attr_bytes = NSC_AXML_ATTR_BYTES;
    shift_places(n, place, false);
    return &attrs[place];
}

static struct nsc_axml_attr *find_attr(const struct nsc_axml *x, uint32_t node,
                                       const struct nsc_axml_key *key)
{
    return key->id != 0 ? nsc_axml_attr(x, node, key->id)
                        : nsc_axml_attr_named(x, node, key->uri, key->name);
}

static int add_attr(struct nsc_axml *x, uint32_t node, const struct nsc_axml_key *key,
                    struct nsc_axml_attr **added, struct nsc_diag *diag)
{
    struct nsc_axml_node *n = &x->nodes[node];
    uint32_t name = NSC_AXML_NONE, ns = NSC_AXML_NONE;
    int error;

    if (n->attr_count >= ATTRS_MAX)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "an element cannot have more than %u attributes", ATTRS_MAX);
    error =
        key->id != 0 ? name_of_id(x, key, &name, diag) : nsc_axml_string(x, key->name, &name, diag);
    if (error == 0 && key->uri != NULL)
        error = find_space(x, key->uri, &ns, diag);
    if (error != 0)
        return error;
    *added = insert_attr(n, place_for(x, n, key->id));
    if (*added == NULL)
        return failed(diag, -ENOMEM);
    (*added)->ns = ns;
    (*added)->name = name;
    return 0;
}

int nsc_axml_set(struct nsc_axml *x, uint32_t node, const struct nsc_axml_key *key,
                 const struct nsc_axml_setting *to, struct nsc_diag *diag)
{
    struct nsc_axml_value value = {8, 0, to->type, to->data};
    uint32_t raw = NSC_AXML_NONE;
    struct nsc_axml_attr *a = find_attr(x, node, key);
    bool is_new = a == NULL;
    int error = 0;

    if (is_new)
        error = add_attr(x, node, key, &a, diag);
    if (error == 0 && to->type == NSC_AXML_STRING) {
        error = nsc_axml_string(x, to->text, &raw, diag);
        value.data = raw;
        if (error != 0 && is_new)
            nsc_axml_unset(x, node, a);
    }
    if (error != 0)
        return error;
    a->raw = raw;
    a->value = value;
    return 0;
}

void nsc_axml_unset(struct nsc_axml *x, uint32_t node, struct nsc_axml_attr *attr)
{
    struct nsc_axml_node *n = &x->nodes[node];
    uint32_t place = (uint32_t)(attr - n->attrs);

    memmove(attr, attr + 1, (n->attr_count - place - 1) * sizeof *attr);
    n->attr_count--;
    shift_places(n, place, true);
}

/* ---- Elements
 * ------------------------------------------------------------------------------------ */

static void move_places(struct nsc_axml *x, uint32_t from, int64_t by)
{
    uint32_t *places[] = {&x->pool_place, &x->map_place};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (*places[i] != NSC_AXML_NONE && *places[i] >= from)
            *places[i] = (uint32_t)(*places[i] + by);
}

static int insert_node(struct nsc_axml *x, uint32_t place, const struct nsc_axml_node *node)
{
    struct nsc_axml_node *nodes =
        nsc_array_grow(x->nodes, &x->node_room, x->node_count, sizeof *nodes);

    if (nodes == NULL)
        return -ENOMEM;
    x->nodes = nodes;
    memmove(nodes + place + 1, nodes + place, (x->node_count - place) * sizeof *nodes);
    nodes[place] = *node;
    x->node_count++;
    move_places(x, place, 1);
    return 0;
}

static void remove_nodes(struct nsc_axml *x, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++)
        free(x->nodes[i].attrs);
    memmove(x->nodes + first, x->nodes + first + count,
            (x->node_count - first - count) * sizeof *x->nodes);
    x->node_count -= count;
    move_places(x, first, -(int64_t)count);
}

static int no_end(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "the element has no end");
}

int nsc_axml_add(struct nsc_axml *x, uint32_t parent, const char *name, uint32_t *node,
                 struct nsc_diag *diag)
{
    struct nsc_axml_node n = {.comment = NSC_AXML_NONE, .ns = NSC_AXML_NONE};
    uint32_t end = nsc_axml_end(x, parent);
    int error;

    if (end == NSC_AXML_NONE)
        return no_end(diag);
    error = nsc_axml_string(x, name, &n.name, diag);
    if (error != 0)
        return error;
    n.line = x->nodes[end].line;
    n.type = NSC_AXML_END;
    error = insert_node(x, end, &n);
    if (error != 0)
        return failed(diag, error);
    n.type = NSC_AXML_START;
    n.attr_bytes = NSC_AXML_ATTR_BYTES;
    error = insert_node(x, end, &n);
    if (error != 0) {
        remove_nodes(x, end, 1);
        return failed(diag, error);
    }
    *node = end;
    return 0;
}

int nsc_axml_remove(struct nsc_axml *x, uint32_t node, struct nsc_diag *diag)
{
    uint32_t end = nsc_axml_end(x, node);

    if (end == NSC_AXML_NONE)
        return no_end(diag);
    remove_nodes(x, node, end - node + 1);
    return 0;
}
