/*
 * axml_sample.h - compiled XML made by hand, for the tests of axml and its fuzz target: a manifest
 * with everything that may be unusual about it.
 */
#ifndef NSC_TESTS_UNIT_RIGS_AXML_SAMPLE_H
#define NSC_TESTS_UNIT_RIGS_AXML_SAMPLE_H

#include <stdint.h>
#include <string.h>

#include "base/span.h"
#include "util/buffer.h"

struct ax_options {
    int utf8;
    int sorted;      /* flag of the pool */
    int no_names;    /* attributes with ids have empty names */
    int no_map;      /* nothing has an id */
    int no_space;    /* no namespace is declared */
    int wide;        /* headers and attributes larger than ours */
    int styles;      /* the first string that has no id has a style */
    int unknown;     /* chunks of unknown types, and bytes behind the document */
    int short_pool;  /* the map has more entries than the pool strings */
    int far_offset;  /* the last string lies outside */
    int attrs_first; /* class and style indices on application */
};

struct ax_sample {
    struct nsc_buffer out;
    struct ax_options o;
};

static void ax_16(struct nsc_buffer *b, unsigned v)
{
    uint8_t at[2] = {(uint8_t)v, (uint8_t)(v >> 8)};

    nsc_buffer_bytes(b, at, 2);
}

static void ax_32(struct nsc_buffer *b, uint32_t v)
{
    uint8_t at[4];

    nsc_span_put32(at, v);
    nsc_buffer_bytes(b, at, 4);
}

/* Begin a chunk with @more bytes of 0xee in its header; ax_end() fills its size in. */
static size_t ax_begin(struct nsc_buffer *b, unsigned type, unsigned header)
{
    size_t at = b->used;

    ax_16(b, type);
    ax_16(b, header);
    ax_32(b, 0);
    return at;
}

static void ax_end(struct nsc_buffer *b, size_t at)
{
    while (b->used % 4 != 0)
        nsc_buffer_bytes(b, "", 1);
    nsc_span_put32(b->data + at + 4, (uint32_t)(b->used - at));
}

static void ax_more(struct ax_sample *s)
{
    if (s->o.wide)
        ax_32(&s->out, 0xeeeeeeee);
}

/* ASCII, except that "%" stands for U+1F600, which takes a pair. */
static void ax_letters(struct nsc_buffer *b, const char *text, int utf8)
{
    size_t units = 0, bytes = 0;

    for (const char *c = text; *c != 0; c++) {
        units += *c == '%' ? 2 : 1;
        bytes += *c == '%' ? 4 : 1;
    }
    if (utf8) {
        nsc_buffer_bytes(b, &(uint8_t){(uint8_t)units}, 1);
        nsc_buffer_bytes(b, &(uint8_t){(uint8_t)bytes}, 1);
    } else {
        ax_16(b, (unsigned)units);
    }
    for (; *text != 0; text++) {
        if (*text == '%' && utf8) {
            nsc_buffer_bytes(b, "\xf0\x9f\x98\x80", 4);
        } else if (*text == '%') {
            ax_16(b, 0xd83d);
            ax_16(b, 0xde00);
        } else if (utf8) {
            nsc_buffer_bytes(b, text, 1);
        } else {
            ax_16(b, (unsigned char)*text);
        }
    }
    nsc_buffer_bytes(b, "\0", utf8 ? 1 : 2);
}

/* The strings; the first AX_IDS of them have a resource id. */
enum {
    AX_VERSION_CODE,
    AX_NAME,
    AX_LABEL,
    AX_MIN_SDK,
    AX_IDS,
    AX_STYLED = AX_IDS,
    AX_ANDROID,
    AX_URI,
    AX_PACKAGE,
    AX_PACKAGE_VALUE,
    AX_MANIFEST,
    AX_USES_SDK,
    AX_APPLICATION,
    AX_ACTIVITY,
    AX_MAIN,
    AX_LABEL_VALUE,
    AX_COMMENT,
    AX_APP_CLASS,
    AX_STRINGS
};

static const char *const ax_strings[AX_STRINGS] = {
    "versionCode",
    "name",
    "label",
    "minSdkVersion",
    "b",
    "android",
    "http://schemas.android.com/apk/res/android",
    "package",
    "org.example.sample",
    "manifest",
    "uses-sdk",
    "application",
    "activity",
    ".Main",
    "smile %!",
    "a comment",
    "App",
};

static const uint32_t ax_ids[AX_IDS] = {0x0101021b, 0x01010003, 0x01010001, 0x0101020c};

static void ax_pool(struct ax_sample *s)
{
    struct nsc_buffer *b = &s->out;
    unsigned header = s->o.wide ? 32 : 28, styles = s->o.styles ? AX_STYLED + 1u : 0;
    uint32_t count = s->o.short_pool ? AX_IDS - 1 : AX_STRINGS;
    size_t at = ax_begin(b, 1, header), table, data;

    ax_32(b, count);
    ax_32(b, styles);
    ax_32(b, (s->o.utf8 ? 0x100u : 0) | (s->o.sorted ? 1u : 0));
    ax_32(b, 0);
    ax_32(b, 0);
    ax_more(s);
    table = b->used;
    for (uint32_t i = 0; i < count + styles; i++)
        ax_32(b, 0);
    if (s->o.wide)
        ax_32(b, 0xdddddddd); /* between offsets and strings */
    data = b->used;
    nsc_span_put32(b->data + at + 20, (uint32_t)(data - at));
    for (uint32_t i = 0; i < count; i++) {
        int empty = s->o.no_names && i < AX_IDS;

        nsc_span_put32(b->data + table + 4 * (size_t)i, (uint32_t)(b->used - data));
        ax_letters(b, empty ? "" : ax_strings[i], s->o.utf8);
    }
    while (b->used % 4 != 0)
        nsc_buffer_bytes(b, "", 1);
    if (s->o.far_offset)
        nsc_span_put32(b->data + table + 4 * (size_t)(count - 1), (uint32_t)(b->used - data));
    if (styles > 0) {
        size_t first = b->used;

        nsc_span_put32(b->data + at + 24, (uint32_t)(first - at));
        for (uint32_t i = 0; i < styles; i++) {
            nsc_span_put32(b->data + table + 4 * (size_t)(count + i), (uint32_t)(b->used - first));
            if (i == AX_STYLED) {
                ax_32(b, AX_STYLED);
                ax_32(b, 0);
                ax_32(b, 3);
            }
            ax_32(b, 0xffffffff);
        }
        ax_32(b, 0xffffffff);
        ax_32(b, 0xffffffff);
    }
    ax_end(b, at);
}

static size_t ax_node(struct ax_sample *s, unsigned type, uint32_t line, uint32_t comment)
{
    size_t at = ax_begin(&s->out, type, s->o.wide ? 20 : 16);

    ax_32(&s->out, line);
    ax_32(&s->out, comment);
    ax_more(s);
    return at;
}

static void ax_pair(struct ax_sample *s, unsigned type, uint32_t line, uint32_t a, uint32_t b)
{
    size_t at = ax_node(s, type, line, UINT32_MAX);

    ax_32(&s->out, a);
    ax_32(&s->out, b);
    ax_end(&s->out, at);
}

struct ax_attr {
    uint32_t ns, name, raw, type, data;
};

static void ax_start(struct ax_sample *s, uint32_t line, uint32_t name, const struct ax_attr *attrs,
                     unsigned count)
{
    struct nsc_buffer *b = &s->out;
    size_t at = ax_node(s, 0x102, line, name == AX_APPLICATION ? AX_COMMENT : UINT32_MAX);

    ax_32(b, UINT32_MAX);
    ax_32(b, name);
    ax_16(b, s->o.wide ? 24 : 20);
    ax_16(b, s->o.wide ? 24 : 20);
    ax_16(b, count);
    ax_16(b, s->o.attrs_first && count > 0 ? 1 : 0);
    ax_16(b, 0);
    ax_16(b, s->o.attrs_first && count > 1 ? 2 : 0);
    ax_more(s);
    for (unsigned i = 0; i < count; i++) {
        ax_32(b, s->o.no_space ? UINT32_MAX : attrs[i].ns);
        ax_32(b, attrs[i].name);
        ax_32(b, attrs[i].raw);
        ax_16(b, 8);
        ax_16(b, attrs[i].type << 8);
        ax_32(b, attrs[i].data);
        ax_more(s);
    }
    ax_more(s);
    ax_end(b, at);
}

static void ax_close(struct ax_sample *s, uint32_t line, uint32_t name)
{
    ax_pair(s, 0x103, line, UINT32_MAX, name);
}

static void ax_unknown(struct ax_sample *s, unsigned type)
{
    size_t at;

    if (!s->o.unknown)
        return;
    at = ax_begin(&s->out, type, 16);
    for (uint32_t i = 0; i < 4; i++)
        ax_32(&s->out, 0xabcd0000 + i);
    ax_end(&s->out, at);
}

static void ax_body(struct ax_sample *s)
{
    static const struct ax_attr root[] = {
        {AX_URI, AX_VERSION_CODE, UINT32_MAX, 0x10, 7},
        {UINT32_MAX, AX_PACKAGE, AX_PACKAGE_VALUE, 3, AX_PACKAGE_VALUE}};
    static const struct ax_attr sdk[] = {{AX_URI, AX_MIN_SDK, UINT32_MAX, 0x10, 21}};
    static const struct ax_attr app[] = {{AX_URI, AX_LABEL, AX_LABEL_VALUE, 3, AX_LABEL_VALUE},
                                         {AX_URI, AX_NAME, AX_APP_CLASS, 3, AX_APP_CLASS}};
    static const struct ax_attr activity[] = {{AX_URI, AX_NAME, AX_MAIN, 3, AX_MAIN}};
    size_t at;

    if (!s->o.no_space)
        ax_pair(s, 0x100, 1, AX_ANDROID, AX_URI);
    ax_start(s, 2, AX_MANIFEST, root, 2);
    ax_start(s, 3, AX_USES_SDK, sdk, 1);
    ax_close(s, 3, AX_USES_SDK);
    ax_unknown(s, 0x177);
    ax_start(s, 4, AX_APPLICATION, app, 2);
    ax_start(s, 5, AX_ACTIVITY, activity, 1);
    at = ax_node(s, 0x104, 6, UINT32_MAX);
    ax_32(&s->out, AX_LABEL_VALUE);
    ax_16(&s->out, 8);
    ax_16(&s->out, 0);
    ax_32(&s->out, 0);
    ax_end(&s->out, at);
    ax_close(s, 7, AX_ACTIVITY);
    ax_close(s, 8, AX_APPLICATION);
    ax_close(s, 9, AX_MANIFEST);
    if (!s->o.no_space)
        ax_pair(s, 0x101, 9, AX_ANDROID, AX_URI);
}

/* The sample; its bytes are released with nsc_buffer_free(). */
static struct nsc_buffer ax_make(struct ax_options o)
{
    struct ax_sample s = {.o = o};
    size_t at = ax_begin(&s.out, 3, o.wide ? 12 : 8);

    ax_more(&s);
    ax_unknown(&s, 0x4321);
    ax_pool(&s);
    ax_unknown(&s, 0x0199);
    if (!o.no_map) {
        size_t map = ax_begin(&s.out, 0x180, o.wide ? 12 : 8);

        ax_more(&s);
        for (unsigned i = 0; i < AX_IDS; i++)
            ax_32(&s.out, ax_ids[i]);
        ax_end(&s.out, map);
    }
    ax_body(&s);
    ax_end(&s.out, at);
    if (o.unknown)
        nsc_buffer_bytes(&s.out, "behind", 6);
    return s.out;
}

#endif
