/* element_path.c - see element_path.h. */
#include "android/axml/element_path.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "android/axml/attribute_names.h"
#include "android/axml/value.h"
#include "util/array.h"

#define SHOWN 200 /* limit of user input in messages, in bytes */

struct text {
    const char *at;
    size_t length;
};

/* One step of a path: a name, and its brackets. */
struct step {
    struct text name;
    const char *brackets, *end; /* "[...][...]" */
};

static int wrong(struct nsc_diag *diag, struct text what, const char *why)
{
    int length = what.length < SHOWN ? (int)what.length : SHOWN;

    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "'%.*s': %s", length, what.at, why);
}

static int no_memory(struct nsc_diag *diag)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
}

/* Offset of the first @c outside of brackets, or of the end. */
static size_t find_outside(struct text t, char c)
{
    bool inside = false;

    for (size_t i = 0; i < t.length; i++) {
        if (!inside && t.at[i] == c)
            return i;
        if (t.at[i] == '[' || t.at[i] == ']')
            inside = t.at[i] == '[';
    }
    return t.length;
}

/* ---- Attributes
 * ---------------------------------------------------------------------------------- */

void nsc_axml_attr_ref_free(struct nsc_axml_attr_ref *ref)
{
    free(ref->name);
    free(ref->uri);
    memset(ref, 0, sizeof *ref);
}

static bool is_prefix(const struct nsc_axml *x, uint32_t string, struct text prefix)
{
    struct nsc_buffer text = {0};
    bool same = nsc_axml_text(x, string, &text) && !text.failed && text.used == prefix.length + 1 &&
                memcmp(text.data, prefix.at, prefix.length) == 0;

    nsc_buffer_free(&text);
    return same;
}

/* The URI of a prefix declared in the document, or that of `android`. */
static char *uri_of(const struct nsc_axml *x, struct text prefix)
{
    struct nsc_buffer text = {0};

    for (uint32_t i = 0; i < x->node_count; i++) {
        const struct nsc_axml_node *n = &x->nodes[i];

        if (n->type != NSC_AXML_NS_START || !is_prefix(x, n->ns, prefix))
            continue;
        nsc_axml_text(x, n->name, &text);
        return (char *)text.data;
    }
    if (prefix.length == 7 && memcmp(prefix.at, "android", 7) == 0)
        return strdup(NSC_AXML_ANDROID);
    return NULL;
}

/* Parse "0x01010003"; 0: not an id. */
static uint32_t id_of(const char *name)
{
    char *end;
    unsigned long id;

    if (strncmp(name, "0x", 2) != 0 || !isxdigit((unsigned char)name[2]))
        return 0;
    id = strtoul(name, &end, 16);
    return *end == 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* Complete a reference by id with the known name and namespace. */
static int ref_of_id(struct nsc_axml_attr_ref *ref)
{
    char known[NSC_AXML_NAME_MAX];

    if (ref->key.id >> 24 == 1)
        ref->uri = strdup(NSC_AXML_ANDROID);
    if (nsc_axml_attr_name(ref->key.id, known, sizeof known)) {
        free(ref->name);
        ref->name = strdup(known);
    }
    return ref->name == NULL || (ref->key.id >> 24 == 1 && ref->uri == NULL) ? -ENOMEM : 0;
}

int nsc_axml_attr_ref(const struct nsc_axml *x, const char *text, size_t length,
                      struct nsc_axml_attr_ref *out, struct nsc_diag *diag)
{
    const char *colon = memchr(text, ':', length);
    struct text prefix = {text, colon == NULL ? 0 : (size_t)(colon - text)};
    const char *name = colon == NULL ? text : colon + 1;
    struct nsc_axml_attr_ref ref = {0};
    int error = 0;

    if (name == text + length)
        return wrong(diag, (struct text){text, length}, "an attribute's name is missing");
    if (strcspn(name, " \t\n\"'<>&/") < (size_t)(text + length - name))
        return wrong(diag, (struct text){text, length}, "this is no name of an attribute");
    ref.name = strndup(name, (size_t)(text + length - name));
    if (ref.name == NULL)
        return no_memory(diag);
    if (colon != NULL) {
        ref.uri = uri_of(x, prefix);
        if (ref.uri == NULL) {
            free(ref.name);
            return wrong(diag, prefix, "no namespace of this XML has this prefix");
        }
        if (strcmp(ref.uri, NSC_AXML_ANDROID) == 0)
            ref.key.id = nsc_axml_attr_known(ref.name);
    } else {
        ref.key.id = id_of(ref.name);
        error = ref.key.id != 0 ? ref_of_id(&ref) : 0;
    }
    if (error != 0) {
        nsc_axml_attr_ref_free(&ref);
        return no_memory(diag);
    }
    ref.key.name = ref.name;
    ref.key.uri = ref.uri;
    *out = ref;
    return 0;
}

/* Find an attribute by name that has an id not in our table: one of a newer platform, or of the
 * app. */
static struct nsc_axml_attr *find_with_any_id(const struct nsc_axml *x, uint32_t node,
                                              const struct nsc_axml_key *key)
{
    const struct nsc_axml_node *n = &x->nodes[node];

    for (uint32_t i = 0; i < n->attr_count; i++)
        if (nsc_axml_is(x, n->attrs[i].name, key->name) &&
            (key->uri == NULL ? n->attrs[i].ns == NSC_AXML_NONE
                              : nsc_axml_is(x, n->attrs[i].ns, key->uri)))
            return &n->attrs[i];
    return NULL;
}

struct nsc_axml_attr *nsc_axml_attr_find(const struct nsc_axml *x, uint32_t node,
                                         const struct nsc_axml_key *key)
{
    if (key->id != 0)
        return nsc_axml_attr(x, node, key->id);
    return find_with_any_id(x, node, key);
}

/* ---- Elements
 * ------------------------------------------------------------------------------------ */

static int keep(struct nsc_axml_found *found, uint32_t node)
{
    uint32_t *nodes = nsc_array_grow(found->nodes, &found->room, found->count, sizeof *nodes);

    if (nodes == NULL)
        return -ENOMEM;
    found->nodes = nodes;
    nodes[found->count++] = node;
    return 0;
}

static bool is_name(const struct nsc_axml *x, uint32_t node, struct text name)
{
    if (name.length == 1 && *name.at == '*')
        return true;
    return is_prefix(x, x->nodes[node].name, name);
}

/* Whether an element has the attribute of "NAME=VALUE". */
static int has_value(const struct nsc_axml *x, uint32_t node, struct text t, bool *has,
                     struct nsc_diag *diag)
{
    const char *equals = memchr(t.at, '=', t.length);
    struct nsc_axml_attr_ref ref;
    const struct nsc_axml_attr *a;
    struct nsc_buffer text = {0};
    struct text value = {equals + 1, (size_t)(t.at + t.length - equals - 1)};
    int error = nsc_axml_attr_ref(x, t.at, (size_t)(equals - t.at), &ref, diag);

    if (error != 0)
        return error;
    a = nsc_axml_attr_find(x, node, &ref.key);
    *has = false;
    if (a != NULL) {
        nsc_axml_value_text(x, a, &text);
        *has = !text.failed && text.used == value.length + 1 &&
               memcmp(text.data, value.at, value.length) == 0;
        nsc_buffer_free(&text);
    }
    nsc_axml_attr_ref_free(&ref);
    return 0;
}

/* Take the contents of the next brackets. Returns 1, 0 at the end, or -EINVAL. */
static int next_bracket(const char **at, const char *end, struct text *inside,
                        struct nsc_diag *diag)
{
    const char *close;

    if (*at == end)
        return 0;
    close = memchr(*at, ']', (size_t)(end - *at));
    if (**at != '[' || close == NULL || close == *at + 1)
        return wrong(diag, (struct text){*at, (size_t)(end - *at)},
                     "[N], [*] or [ATTRIBUTE=VALUE] was expected");
    *inside = (struct text){*at + 1, (size_t)(close - *at - 1)};
    *at = close + 1;
    return 1;
}

/* Whether an element passes the brackets. @counted: number of elements so far that passed all
 * conditions before an index. */
static int passes(const struct nsc_axml *x, uint32_t node, const struct step *step,
                  uint32_t *counted, bool *passed, struct nsc_diag *diag)
{
    const char *at = step->brackets;
    struct text inside;
    unsigned long wanted = 0;
    int more;

    *passed = true;
    while ((more = next_bracket(&at, step->end, &inside, diag)) == 1 && *passed) {
        if (inside.length == 1 && *inside.at == '*')
            continue;
        if (memchr(inside.at, '=', inside.length) != NULL) {
            int error = has_value(x, node, inside, passed, diag);

            if (error != 0)
                return error;
            continue;
        }
        wanted = strtoul(inside.at, NULL, 10);
        if (wanted == 0 || strspn(inside.at, "0123456789") != inside.length)
            return wrong(diag, inside, "not a number from 1, nor ATTRIBUTE=VALUE");
    }
    if (more < 0)
        return more;
    if (*passed && ++*counted != wanted && wanted != 0)
        *passed = false;
    return 0;
}

static int take_children(const struct nsc_axml *x, uint32_t parent, const struct step *step,
                         struct nsc_axml_found *to, struct nsc_diag *diag)
{
    uint32_t counted = 0;

    for (uint32_t n = parent; (n = nsc_axml_child(x, parent, n, NULL)) != NSC_AXML_NONE;) {
        bool passed = is_name(x, n, step->name);
        int error = passed ? passes(x, n, step, &counted, &passed, diag) : 0;

        if (error == 0 && passed && keep(to, n) != 0)
            return no_memory(diag);
        if (error != 0)
            return error;
    }
    return 0;
}

/* Take the next step of a path. */
static int next_step(struct text *path, struct step *step, struct nsc_diag *diag)
{
    size_t length = find_outside(*path, '/');
    struct text whole = {path->at, length};
    size_t name = find_outside(whole, '[');

    if (name == 0)
        return wrong(diag, *path, "the name of an element was expected");
    step->name = (struct text){whole.at, name};
    step->brackets = whole.at + name;
    step->end = whole.at + length;
    path->at += length;
    path->length -= length;
    if (path->length > 0) {
        path->at++;
        path->length--;
        if (path->length == 0)
            return wrong(diag, whole, "the name of an element was expected behind it");
    }
    return 0;
}

static bool says_all(struct text path)
{
    for (size_t i = 0; i + 2 < path.length; i++)
        if (memcmp(path.at + i, "[*]", 3) == 0)
            return true;
    return false;
}

static int walk(const struct nsc_axml *x, struct text path, struct nsc_axml_found *found,
                struct nsc_diag *diag)
{
    uint32_t root = nsc_axml_root(x);
    bool is_first = true;

    if (root != NSC_AXML_NONE && keep(found, root) != 0)
        return no_memory(diag);
    while (path.length > 0) {
        struct nsc_axml_found next = {0};
        struct step step;
        int error = next_step(&path, &step, diag);

        if (is_first && error == 0 && root != NSC_AXML_NONE && *step.name.at != '*' &&
            step.brackets == step.end && is_name(x, root, step.name)) {
            is_first = false;
            continue;
        }
        is_first = false;
        for (uint32_t i = 0; i < found->count && error == 0; i++)
            error = take_children(x, found->nodes[i], &step, &next, diag);
        free(found->nodes);
        *found = next;
        if (error != 0)
            return error;
    }
    return 0;
}

int nsc_axml_find(const struct nsc_axml *x, const char *path, size_t length,
                  struct nsc_axml_found *found, struct nsc_diag *diag)
{
    struct text text = {path, length};
    int error, shown = length < SHOWN ? (int)length : SHOWN;

    memset(found, 0, sizeof *found);
    error = walk(x, text, found, diag);
    if (error == 0 && found->count == 0)
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT, "there is no element '%.*s'", shown,
                             path);
    if (error == 0 && found->count > 1 && !says_all(text))
        error = nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                             "'%.*s' are %u elements: say which with [N] or "
                             "[ATTRIBUTE=VALUE], or [*] for all",
                             shown, path, found->count);
    if (error != 0) {
        free(found->nodes);
        memset(found, 0, sizeof *found);
    }
    return error;
}

/* ---- Changes
 * ------------------------------------------------------------------------------------- */

static int set_one(struct nsc_axml *x, uint32_t node, const struct nsc_axml_key *key,
                   const char *value, struct nsc_diag *diag)
{
    const struct nsc_axml_attr *now = nsc_axml_attr_find(x, node, key);
    struct nsc_axml_setting to = {0};
    struct nsc_axml_key exact = *key;
    int error;

    if (now == NULL && key->uri == NULL && key->id == 0 && nsc_axml_attr_known(key->name) != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "there is no attribute '%s': should it be android:%s?", key->name,
                            key->name);
    /* The platform looks up attributes by id, never by name. */
    if (now == NULL && key->uri != NULL && key->id == 0 && strcmp(key->uri, NSC_AXML_ANDROID) == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL,
                            "no attribute of Android 10 is called '%s': a newer one is set by its "
                            "resource id, as 0x01010003=VALUE",
                            key->name);
    error = nsc_axml_value_parse(value, key, now, &to, diag);
    if (error != 0)
        return error;
    if (now != NULL && exact.id == 0)
        exact.id = nsc_axml_attr_id(x, now);
    return nsc_axml_set(x, node, &exact, &to, diag);
}

int nsc_axml_set_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag)
{
    struct text all = {what, strlen(what)};
    size_t path = find_outside(all, '@');
    const char *name = what + path + 1;
    const char *equals = path < all.length ? strchr(name, '=') : NULL;
    struct nsc_axml_attr_ref ref;
    struct nsc_axml_found found;
    int error;

    if (equals == NULL)
        return wrong(diag, all, "PATH@ATTRIBUTE=VALUE was expected");
    error = nsc_axml_find(x, what, path, &found, diag);
    if (error != 0)
        return error;
    error = nsc_axml_attr_ref(x, name, (size_t)(equals - name), &ref, diag);
    if (error == 0) {
        for (uint32_t i = 0; i < found.count && error == 0; i++)
            error = set_one(x, found.nodes[i], &ref.key, equals + 1, diag);
        nsc_axml_attr_ref_free(&ref);
    }
    free(found.nodes);
    return error;
}

static int remove_attrs(struct nsc_axml *x, const struct nsc_axml_found *found, const char *name,
                        struct nsc_diag *diag)
{
    struct nsc_axml_attr_ref ref;
    uint32_t removed = 0;
    int error = nsc_axml_attr_ref(x, name, strlen(name), &ref, diag);

    if (error != 0)
        return error;
    for (uint32_t i = 0; i < found->count; i++) {
        struct nsc_axml_attr *a = nsc_axml_attr_find(x, found->nodes[i], &ref.key);

        if (a != NULL)
            nsc_axml_unset(x, found->nodes[i], a);
        removed += a != NULL;
    }
    nsc_axml_attr_ref_free(&ref);
    if (removed == 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT, "there is no attribute '%.*s'", SHOWN,
                            name);
    return 0;
}

int nsc_axml_remove_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag)
{
    struct text all = {what, strlen(what)};
    size_t path = find_outside(all, '@');
    struct nsc_axml_found found;
    int error = nsc_axml_find(x, what, path, &found, diag);

    if (error != 0)
        return error;
    if (path < all.length) {
        error = remove_attrs(x, &found, what + path + 1, diag);
    } else {
        if (found.nodes[0] == nsc_axml_root(x))
            error = wrong(diag, all, "the root element must stay");
        /* Backwards, so that the remaining node numbers stay valid. */
        for (uint32_t i = found.count; i-- > 0 && error == 0;)
            error = nsc_axml_remove(x, found.nodes[i], diag);
    }
    free(found.nodes);
    return error;
}

/* Set the attributes in the brackets of a new element. */
static int set_brackets(struct nsc_axml *x, uint32_t node, const struct step *step,
                        struct nsc_diag *diag)
{
    const char *at = step->brackets;
    struct text inside;
    int more;

    while ((more = next_bracket(&at, step->end, &inside, diag)) == 1) {
        const char *equals = memchr(inside.at, '=', inside.length);
        struct nsc_axml_attr_ref ref;
        char *value;
        int error;

        if (equals == NULL)
            return wrong(diag, inside, "ATTRIBUTE=VALUE was expected");
        error = nsc_axml_attr_ref(x, inside.at, (size_t)(equals - inside.at), &ref, diag);
        if (error != 0)
            return error;
        value = strndup(equals + 1, (size_t)(inside.at + inside.length - equals - 1));
        error = value == NULL ? no_memory(diag) : set_one(x, node, &ref.key, value, diag);
        free(value);
        nsc_axml_attr_ref_free(&ref);
        if (error != 0)
            return error;
    }
    return more;
}

int nsc_axml_add_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag)
{
    struct text rest = {what, strlen(what)};
    struct nsc_axml_found found;
    struct step step = {.name = {what, 0}};
    char *name;
    uint32_t node;
    int error = 0;

    if (rest.length == 0)
        return wrong(diag, rest, "the name of an element was expected");
    while (rest.length > 0 && error == 0)
        error = next_step(&rest, &step, diag);
    if (error == 0) {
        size_t parent = (size_t)(step.name.at - what);

        error = nsc_axml_find(x, what, parent > 0 ? parent - 1 : 0, &found, diag);
    }
    if (error != 0)
        return error;
    name = strndup(step.name.at, step.name.length);
    if (name == NULL)
        error = no_memory(diag);
    /* Backwards, so that the remaining node numbers stay valid. */
    for (uint32_t i = found.count; i-- > 0 && error == 0;) {
        error = nsc_axml_add(x, found.nodes[i], name, &node, diag);
        if (error == 0)
            error = set_brackets(x, node, &step, diag);
    }
    free(name);
    free(found.nodes);
    return error;
}
