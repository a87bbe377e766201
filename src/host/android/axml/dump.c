/* dump.c - see dump.h. */
#include "android/axml/dump.h"

#include <errno.h>
#include <inttypes.h>

#include "android/axml/attribute_names.h"
#include "android/axml/axml_state.h"
#include "android/axml/utf.h"
#include "android/axml/value.h"

#define INDENT     4
#define INDENT_MAX 32u /* limit of indented levels; deeper ones are not indented further */
#define SPACES_MAX 64u /* limit of namespaces that are searched for prefixes */

struct dump {
    const struct nsc_axml *x;
    FILE *out;
    uint32_t spaces[SPACES_MAX]; /* nodes that declare one */
    uint32_t space_count;
    uint32_t first_space; /* first one declared right before the next element */
    uint32_t depth;
    struct nsc_buffer text; /* scratch for one string */
    bool failed;
};

static void begin(struct dump *d, const struct nsc_axml *x, FILE *out)
{
    memset(d, 0, sizeof *d);
    d->x = x;
    d->out = out;
    d->first_space = NSC_AXML_NONE;
    for (uint32_t i = 0; i < x->node_count && d->space_count < SPACES_MAX; i++)
        if (x->nodes[i].type == NSC_AXML_NS_START)
            d->spaces[d->space_count++] = i;
}

static int end(struct dump *d)
{
    nsc_buffer_free(&d->text);
    return d->failed ? -ENOMEM : 0;
}

/* Contents of the scratch buffer, NUL terminated. */
static const char *held(struct dump *d)
{
    d->failed |= d->text.failed;
    return d->text.failed ? "" : (const char *)d->text.data;
}

static const char *string(struct dump *d, uint32_t index)
{
    nsc_buffer_clear(&d->text);
    nsc_axml_text(d->x, index, &d->text);
    return held(d);
}

/* ---- Names
 * --------------------------------------------------------------------------------------- */

/* Append a string without its NUL. */
static void add_string(struct dump *d, uint32_t index)
{
    nsc_axml_text(d->x, index, &d->text);
    d->text.used -= d->text.used > 0 && !d->text.failed;
}

static void add_text(struct dump *d, const char *text)
{
    nsc_buffer_bytes(&d->text, text, strlen(text));
}

/* Append the prefix of a namespace and a colon. */
static void add_prefix(struct dump *d, uint32_t uri)
{
    if (uri == NSC_AXML_NONE)
        return;
    for (uint32_t i = 0; i < d->space_count; i++) {
        const struct nsc_axml_node *n = &d->x->nodes[d->spaces[i]];
        size_t used = d->text.used;

        if (n->name != uri)
            continue;
        add_string(d, n->ns);
        if (d->text.used > used)
            add_text(d, ":");
        return;
    }
    if (nsc_axml_is(d->x, uri, NSC_AXML_ANDROID))
        add_text(d, "android:");
}

/* Build an attribute's name, "android:name". */
static const char *attr_name(struct dump *d, const struct nsc_axml_attr *a)
{
    uint32_t id = nsc_axml_attr_id(d->x, a);
    char name[NSC_AXML_NAME_MAX];
    size_t before;

    nsc_buffer_clear(&d->text);
    if (nsc_axml_attr_name(id, name, sizeof name)) {
        add_text(d, "android:");
        add_text(d, name);
    } else {
        add_prefix(d, a->ns);
        before = d->text.used;
        add_string(d, a->name);
        if (d->text.used == before) {
            snprintf(name, sizeof name, "attr_0x%08" PRIx32, id != 0 ? id : a->name);
            add_text(d, name);
        }
    }
    nsc_buffer_bytes(&d->text, "", 1);
    return held(d);
}

static const char *element_name(struct dump *d, const struct nsc_axml_node *n)
{
    nsc_buffer_clear(&d->text);
    add_prefix(d, n->ns);
    add_string(d, n->name);
    nsc_buffer_bytes(&d->text, "", 1);
    return held(d);
}

static const char *value(struct dump *d, const struct nsc_axml_attr *a)
{
    nsc_buffer_clear(&d->text);
    nsc_axml_value_text(d->x, a, &d->text);
    return held(d);
}

/* ---- XML
 * ----------------------------------------------------------------------------------------- */

/* Whether a character is a control character or changes the text direction. */
static bool is_unsafe(uint32_t letter)
{
    return letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || letter == 0x61c ||
           (letter >= 0x200e && letter <= 0x200f) || (letter >= 0x2028 && letter <= 0x202e) ||
           (letter >= 0x2066 && letter <= 0x2069) || letter == 0xfeff;
}

static void put_escaped(struct dump *d, const char *text)
{
    struct nsc_utf l = {(const uint8_t *)text, (const uint8_t *)text + strlen(text), true};

    while (l.at < l.end) {
        const uint8_t *from = l.at;
        uint32_t letter = nsc_utf_next(&l);

        if (letter == '&')
            fputs("&amp;", d->out);
        else if (letter == '<')
            fputs("&lt;", d->out);
        else if (letter == '>')
            fputs("&gt;", d->out);
        else if (letter == '"')
            fputs("&quot;", d->out);
        else if (is_unsafe(letter))
            fprintf(d->out, "&#x%" PRIx32 ";", letter);
        else
            fwrite(from, 1, (size_t)(l.at - from), d->out);
    }
}

/* Print a name, replacing spaces and other characters that would make it ambiguous. */
static void put_name(struct dump *d, const char *name)
{
    struct nsc_utf l = {(const uint8_t *)name, (const uint8_t *)name + strlen(name), true};

    if (*name == 0)
        fputs("_", d->out);
    while (l.at < l.end) {
        const uint8_t *from = l.at;
        uint32_t letter = nsc_utf_next(&l);

        if (is_unsafe(letter) || (letter < 0x80 && strchr(" <>=\"'&/", (int)letter) != NULL))
            fprintf(d->out, "_x%02" PRIx32 "_", letter);
        else
            fwrite(from, 1, (size_t)(l.at - from), d->out);
    }
}

static void put_line(struct dump *d, uint32_t depth)
{
    uint32_t levels = depth < INDENT_MAX ? depth : INDENT_MAX;

    fprintf(d->out, "\n%*s", (int)(INDENT * levels), "");
}

/* Print the namespaces declared right before the element, and its attributes: a single one on the
 * element's line, several below it. */
static void put_attrs(struct dump *d, const struct nsc_axml_node *n)
{
    uint32_t node = (uint32_t)(n - d->x->nodes), count = n->attr_count;
    uint32_t from = d->first_space == NSC_AXML_NONE ? node : d->first_space;

    for (uint32_t i = from; i < node; i++)
        count += d->x->nodes[i].type == NSC_AXML_NS_START;
    for (uint32_t i = from; i < node; i++) {
        const struct nsc_axml_node *space = &d->x->nodes[i];

        if (space->type != NSC_AXML_NS_START)
            continue;
        if (count > 1)
            put_line(d, d->depth + 1);
        else
            fputc(' ', d->out);
        fputs("xmlns:", d->out);
        put_name(d, string(d, space->ns));
        fputs("=\"", d->out);
        put_escaped(d, string(d, space->name));
        fputc('"', d->out);
    }
    for (uint32_t i = 0; i < n->attr_count; i++) {
        if (count > 1)
            put_line(d, d->depth + 1);
        else
            fputc(' ', d->out);
        put_name(d, attr_name(d, &n->attrs[i]));
        fputs("=\"", d->out);
        put_escaped(d, value(d, &n->attrs[i]));
        fputc('"', d->out);
    }
    d->first_space = NSC_AXML_NONE;
}

static void put_start(struct dump *d, uint32_t node, bool is_empty)
{
    const struct nsc_axml_node *n = &d->x->nodes[node];

    if (nsc_axml_text(d->x, n->comment, &d->text)) {
        put_line(d, d->depth);
        fputs("<!-- ", d->out);
        put_escaped(d, string(d, n->comment));
        fputs(" -->", d->out);
    }
    put_line(d, d->depth);
    fputc('<', d->out);
    put_name(d, element_name(d, n));
    put_attrs(d, n);
    fputs(is_empty ? "/>" : ">", d->out);
    d->depth += !is_empty;
}

static void put_end(struct dump *d, uint32_t node)
{
    d->depth -= d->depth > 0;
    put_line(d, d->depth);
    fputs("</", d->out);
    put_name(d, element_name(d, &d->x->nodes[node]));
    fputc('>', d->out);
}

int nsc_axml_dump(const struct nsc_axml *x, FILE *out)
{
    struct dump d;

    begin(&d, x, out);
    fputs("<?xml version=\"1.0\" encoding=\"utf-8\"?>", out);
    for (uint32_t i = 0; i < x->node_count; i++) {
        bool is_empty = i + 1 < x->node_count && x->nodes[i + 1].type == NSC_AXML_END;

        switch (x->nodes[i].type) {
        case NSC_AXML_NS_START:
            if (d.first_space == NSC_AXML_NONE)
                d.first_space = i;
            break;
        case NSC_AXML_START:
            put_start(&d, i, is_empty);
            i += is_empty;
            break;
        case NSC_AXML_END:
            put_end(&d, i);
            break;
        case NSC_AXML_CDATA:
            put_line(&d, d.depth);
            put_escaped(&d, string(&d, x->nodes[i].name));
            break;
        default:
            break;
        }
    }
    fputc('\n', out);
    return end(&d);
}

/* ---- JSON
 * ---------------------------------------------------------------------------------------- */

static void json_attr(struct dump *d, struct nsc_json *j, const struct nsc_axml_attr *a)
{
    uint32_t id = nsc_axml_attr_id(d->x, a);
    char text[16];

    nsc_json_open_object(j, NULL);
    nsc_json_text(j, "name", attr_name(d, a));
    snprintf(text, sizeof text, "0x%08" PRIx32, id);
    nsc_json_text(j, "id", id != 0 ? text : NULL);
    nsc_json_text(j, "kind", nsc_axml_value_kind(a->value.type));
    nsc_json_text(j, "value", value(d, a));
    nsc_json_close_object(j);
}

static void json_node(struct dump *d, struct nsc_json *j, const struct nsc_axml_node *n)
{
    nsc_json_open_object(j, NULL);
    nsc_json_u64(j, "depth", d->depth);
    nsc_json_u64(j, "line", n->line);
    if (n->type == NSC_AXML_CDATA) {
        nsc_json_text(j, "text", string(d, n->name));
    } else {
        nsc_json_text(j, "name", element_name(d, n));
        nsc_json_open_array(j, "attributes");
        for (uint32_t i = 0; i < n->attr_count; i++)
            json_attr(d, j, &n->attrs[i]);
        nsc_json_close_array(j);
    }
    nsc_json_close_object(j);
}

int nsc_axml_dump_json(const struct nsc_axml *x, struct nsc_json *j)
{
    struct dump d;

    begin(&d, x, j->out);
    nsc_json_text(j, "encoding", x->pool.is_utf8 ? "utf-8" : "utf-16");
    nsc_json_open_array(j, "namespaces");
    for (uint32_t i = 0; i < d.space_count; i++) {
        nsc_json_open_object(j, NULL);
        nsc_json_text(j, "prefix", string(&d, x->nodes[d.spaces[i]].ns));
        nsc_json_text(j, "uri", string(&d, x->nodes[d.spaces[i]].name));
        nsc_json_close_object(j);
    }
    nsc_json_close_array(j);
    nsc_json_open_array(j, "nodes");
    for (uint32_t i = 0; i < x->node_count; i++) {
        const struct nsc_axml_node *n = &x->nodes[i];

        if (n->type == NSC_AXML_END)
            d.depth -= d.depth > 0;
        if (n->type == NSC_AXML_START || n->type == NSC_AXML_CDATA)
            json_node(&d, j, n);
        if (n->type == NSC_AXML_START)
            d.depth++;
    }
    nsc_json_close_array(j);
    return end(&d);
}
