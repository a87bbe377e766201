/*
 * walk.c - iterate over methods, and build text of a model's elements. Called through dex.h.
 */
#include "android/dex/dex_state.h"

bool nsc_dex_walk_next(const struct nsc_dex *dex, struct nsc_dex_walk *walk)
{
    for (; walk->next_class < dex->class_count; walk->next_class++, walk->next_member = 0) {
        const struct nsc_dex_class *c = &dex->classes[walk->next_class];
        const struct nsc_dex_class_data *d;
        uint32_t fields, all;

        if (c->data == NSC_DEX_NONE)
            continue;
        d = &dex->class_data[c->data];
        fields = d->static_fields + d->instance_fields;
        all = fields + d->direct_methods + d->virtual_methods;
        if (walk->next_member < fields)
            walk->next_member = fields;
        while (walk->next_member < all) {
            struct nsc_dex_member *m = &d->members[walk->next_member++];

            if (m->code == NSC_DEX_NONE)
                continue;
            walk->class = c;
            walk->member = m;
            walk->method = &dex->methods[m->index];
            walk->code = &dex->codes[m->code];
            return true;
        }
    }
    return false;
}

const char *nsc_dex_text(const struct nsc_dex *dex, uint32_t string)
{
    return string >= dex->string_count ? "" : (const char *)dex->strings[string].data;
}

const char *nsc_dex_descriptor(const struct nsc_dex *dex, uint32_t type)
{
    return type >= dex->type_count ? "" : nsc_dex_text(dex, dex->types[type]);
}

static void put_text(struct nsc_buffer *out, const char *text)
{
    nsc_buffer_bytes(out, text, strlen(text));
}

static const struct nsc_dex_list *parameters_of(const struct nsc_dex *dex,
                                                const struct nsc_dex_proto *p)
{
    static const struct nsc_dex_list none = {NULL, 0};

    return p->parameters >= dex->list_count ? &none : &dex->lists[p->parameters];
}

void nsc_dex_signature(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *out)
{
    const struct nsc_dex_proto *p;
    const struct nsc_dex_list *list;

    if (method >= dex->method_count)
        return;
    p = &dex->protos[dex->methods[method].proto];
    list = parameters_of(dex, p);
    put_text(out, "(");
    for (uint32_t i = 0; i < list->count; i++)
        put_text(out, nsc_dex_descriptor(dex, list->items[i]));
    put_text(out, ")");
    put_text(out, nsc_dex_descriptor(dex, p->returns));
}

/* The UTF-16 code unit encoded in three bytes at @at; else 0. */
static uint32_t unit_at(const uint8_t *at)
{
    if ((at[0] & 0xf0) != 0xe0 || (at[1] & 0xc0) != 0x80 || (at[2] & 0xc0) != 0x80)
        return 0;
    return (uint32_t)(at[0] & 0xf) << 12 | (uint32_t)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
}

/* Append MUTF-8 as UTF-8: surrogate pairs become one character; with @dots, slashes become dots. */
static void put_utf8(struct nsc_buffer *out, const uint8_t *at, size_t bytes, bool dots)
{
    const uint8_t *end = at + bytes;

    while (at < end) {
        uint32_t high = end - at >= 6 ? unit_at(at) : 0, low = high != 0 ? unit_at(at + 3) : 0;
        uint8_t c = dots && *at == '/' ? '.' : *at;

        if (high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            uint32_t point = 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
            uint8_t four[4] = {(uint8_t)(0xf0 | point >> 18), (uint8_t)(0x80 | (point >> 12 & 63)),
                               (uint8_t)(0x80 | (point >> 6 & 63)), (uint8_t)(0x80 | (point & 63))};

            nsc_buffer_bytes(out, four, sizeof four);
            at += 6;
            continue;
        }
        nsc_buffer_bytes(out, &c, 1);
        at++;
    }
}

/* Append "[Ljava/lang/String;" as "java.lang.String[]". */
static void put_pretty_type(const struct nsc_dex *dex, uint32_t type, struct nsc_buffer *out)
{
    static const char primitives[][8] = {
        ['B' - 'A'] = "byte",  ['C' - 'A'] = "char", ['D' - 'A'] = "double",
        ['F' - 'A'] = "float", ['I' - 'A'] = "int",  ['J' - 'A'] = "long",
        ['S' - 'A'] = "short", ['V' - 'A'] = "void", ['Z' - 'A'] = "boolean",
    };
    const char *text = nsc_dex_descriptor(dex, type);
    size_t arrays = strspn(text, "["), bytes = strlen(text + arrays);
    const char *name = text + arrays;

    if (name[0] == 'L' && bytes > 1 && name[bytes - 1] == ';')
        put_utf8(out, (const uint8_t *)name + 1, bytes - 2, true);
    else if (bytes == 1 && name[0] >= 'A' && name[0] <= 'Z' && primitives[name[0] - 'A'][0] != '\0')
        put_text(out, primitives[name[0] - 'A']);
    else
        put_utf8(out, (const uint8_t *)name, bytes, true);
    while (arrays-- > 0)
        put_text(out, "[]");
}

void nsc_dex_pretty(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *out)
{
    const struct nsc_dex_method *m;
    const struct nsc_dex_proto *p;
    const struct nsc_dex_list *list;
    const char *name;

    if (method >= dex->method_count)
        return;
    m = &dex->methods[method];
    p = &dex->protos[m->proto];
    list = parameters_of(dex, p);
    name = nsc_dex_text(dex, m->name);
    put_pretty_type(dex, p->returns, out);
    put_text(out, " ");
    put_pretty_type(dex, m->holder, out);
    put_text(out, ".");
    put_utf8(out, (const uint8_t *)name, strlen(name), false);
    put_text(out, "(");
    for (uint32_t i = 0; i < list->count; i++) {
        put_text(out, i > 0 ? ", " : "");
        put_pretty_type(dex, list->items[i], out);
    }
    put_text(out, ")");
}
