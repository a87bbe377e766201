/*
 * test_axml.c - compiled XML: what is not changed stays byte for byte, what is changed says the
 * same as before but for the change, and damage is refused with an offset.
 */
#include <errno.h>

#include "android/axml/attribute_names.h"
#include "android/axml/axml.h"
#include "android/axml/manifest.h"
#include "android/axml/value.h"
#include "tap.h"
#include "unit/rigs/axml_sample.h"

static struct nsc_diag diag;

static struct nsc_axml *read_all(const struct nsc_buffer *b)
{
    struct nsc_axml *x = NULL;

    if (nsc_axml_read(b->data, b->used, &x, &diag) != 0)
        printf("# %s\n", diag.message);
    return x;
}

/* Write and read again; @x is released. */
static struct nsc_axml *again(struct nsc_axml *x)
{
    struct nsc_buffer out = {0};
    struct nsc_axml *next = NULL;

    if (x != NULL && nsc_axml_write(x, &out, &diag) == 0)
        next = read_all(&out);
    nsc_buffer_free(&out);
    nsc_axml_free(x);
    return next;
}

static void put_attr(struct nsc_buffer *out, const struct nsc_axml *x,
                     const struct nsc_axml_attr *a)
{
    char line[64];

    snprintf(line, sizeof line, " %08x ", nsc_axml_attr_id(x, a));
    nsc_buffer_bytes(out, line, strlen(line));
    nsc_axml_text(x, a->ns, out);
    nsc_axml_text(x, a->name, out);
    nsc_axml_text(x, a->raw, out);
    nsc_axml_value_text(x, a, out);
}

/* What a document says, with all indices resolved. NULs become spaces. */
static char *meaning(const struct nsc_axml *x)
{
    struct nsc_buffer out = {0};
    char line[64];

    for (uint32_t i = 0; x != NULL && i < x->node_count; i++) {
        const struct nsc_axml_node *n = &x->nodes[i];

        if (n->type < NSC_AXML_NS_START || n->type > NSC_AXML_CDATA)
            continue;
        snprintf(line, sizeof line, "%x:%u:%u,%u,%u ", n->type, n->line, n->id_index,
                 n->class_index, n->style_index);
        nsc_buffer_bytes(&out, line, strlen(line));
        nsc_axml_text(x, n->comment, &out);
        nsc_axml_text(x, n->ns, &out);
        nsc_axml_text(x, n->name, &out);
        for (uint32_t j = 0; j < n->attr_count; j++)
            put_attr(&out, x, &n->attrs[j]);
        nsc_buffer_bytes(&out, "\n", 1);
    }
    for (size_t i = 0; i < out.used; i++)
        if (out.data[i] == 0)
            out.data[i] = ' ';
    nsc_buffer_bytes(&out, "", 1);
    return (char *)out.data;
}

/* Drop the first line and the last. */
static void without_ends(char *text)
{
    char *first = strchr(text, '\n') + 1;

    memmove(text, first, strlen(first) + 1);
    text[strlen(text) - 1] = 0;
    strrchr(text, '\n')[1] = 0;
}

static const struct ax_options kinds[] = {
    {0},
    {.utf8 = 1},
    {.sorted = 1, .styles = 1},
    {.utf8 = 1, .styles = 1, .wide = 1},
    {.wide = 1, .unknown = 1},
    {.utf8 = 1, .unknown = 1, .attrs_first = 1},
    {.no_names = 1},
    {.no_map = 1, .no_space = 1},
    {.no_names = 1, .no_space = 1, .utf8 = 1},
    {.far_offset = 1},
    {.attrs_first = 1, .styles = 1, .unknown = 1, .no_names = 1, .wide = 1},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

static void test_identity(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct nsc_buffer in = ax_make(kinds[i]), out = {0};
        struct nsc_axml *x = read_all(&in);

        CHECK(x != NULL && nsc_axml_write(x, &out, &diag) == 0);
        CHECK(out.used == in.used && memcmp(out.data, in.data, in.used) == 0);
        nsc_buffer_free(&in);
        nsc_buffer_free(&out);
        nsc_axml_free(x);
    }
}

/* Add an attribute, remove it again: everything else still means the same. */
static void test_set(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct nsc_buffer in = ax_make(kinds[i]);
        struct nsc_axml *x = read_all(&in);
        char *before = meaning(x), *after;
        uint32_t app = nsc_manifest_application(x);
        const struct nsc_axml_attr *a;
        struct nsc_manifest m;

        CHECK(nsc_manifest_set_debuggable(x, true, &diag) == 0);
        x = again(x);
        CHECK(x != NULL && nsc_manifest_read(x, &m, &diag) == 0);
        CHECK(m.debuggable == NSC_MANIFEST_TRUE);
        nsc_manifest_free(&m);
        app = nsc_manifest_application(x);
        a = nsc_axml_attr(x, app, NSC_MANIFEST_DEBUGGABLE);
        CHECK(a != NULL && nsc_axml_is(x, a->ns, NSC_AXML_ANDROID) &&
              nsc_axml_is(x, a->name, "debuggable") && a->raw == NSC_AXML_NONE);
        for (uint32_t j = 1; j < x->nodes[app].attr_count; j++)
            if (nsc_axml_attr_id(x, &x->nodes[app].attrs[j]) != 0)
                CHECK(nsc_axml_attr_id(x, &x->nodes[app].attrs[j - 1]) <
                          nsc_axml_attr_id(x, &x->nodes[app].attrs[j]) ||
                      j < 3);
        CHECK(nsc_manifest_set_debuggable(x, false, &diag) == 0);
        nsc_axml_unset(x, app, nsc_axml_attr(x, app, NSC_MANIFEST_DEBUGGABLE));
        x = again(x);
        after = meaning(x);
        if (kinds[i].no_space) /* one was declared around everything */
            without_ends(after);
        CHECK_STR(after, before);
        free(before);
        free(after);
        nsc_buffer_free(&in);
        nsc_axml_free(x);
    }
}

static void test_places(void)
{
    struct nsc_buffer in = ax_make((struct ax_options){.attrs_first = 1});
    struct nsc_axml *x = read_all(&in);
    uint32_t app = nsc_manifest_application(x);
    struct nsc_axml_key theme = {NSC_AXML_ANDROID, "theme", 0x01010000};
    struct nsc_axml_setting to = {NSC_AXML_REFERENCE, 0x7f010001, NULL};

    CHECK(nsc_axml_set(x, app, &theme, &to, &diag) == 0);
    x = again(x);
    app = nsc_manifest_application(x);
    CHECK_U64(nsc_axml_attr_id(x, &x->nodes[app].attrs[0]), 0x01010000);
    CHECK_U64(x->nodes[app].id_index, 2);
    CHECK_U64(x->nodes[app].style_index, 3);
    nsc_axml_unset(x, app, &x->nodes[app].attrs[1]);
    CHECK_U64(x->nodes[app].id_index, 0);
    CHECK_U64(x->nodes[app].style_index, 2);
    nsc_buffer_free(&in);
    nsc_axml_free(x);
}

static void test_manifest(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct nsc_buffer in = ax_make(kinds[i]);
        struct nsc_axml *x = read_all(&in);
        struct nsc_manifest m;
        bool added = false;

        CHECK(nsc_manifest_read(x, &m, &diag) == 0);
        CHECK_STR(m.package, "org.example.sample");
        if (!kinds[i].no_map && !kinds[i].far_offset) {
            CHECK_STR(m.application, "org.example.sample.App");
            CHECK_U64(m.version_code, 7);
            CHECK_U64(m.min_sdk, 21);
            CHECK_U64(m.target_sdk, 21);
        }
        CHECK(m.permission_count == 0 && m.split == NULL && m.has_application);
        nsc_manifest_free(&m);
        CHECK(nsc_manifest_add_permission(x, "android.permission.INTERNET", &added, &diag) == 0);
        CHECK(added);
        CHECK(nsc_manifest_add_permission(x, "android.permission.INTERNET", &added, &diag) == 0);
        CHECK(!added);
        x = again(x);
        CHECK(nsc_manifest_read(x, &m, &diag) == 0);
        CHECK(m.permission_count == 1);
        CHECK_STR(m.permissions[0], "android.permission.INTERNET");
        nsc_manifest_free(&m);
        nsc_buffer_free(&in);
        nsc_axml_free(x);
    }
}

/* The resource map has an id for a string that does not exist: ids decide. */
static void test_short_pool(void)
{
    struct nsc_buffer in = ax_make((struct ax_options){.short_pool = 1});
    struct nsc_axml *x = read_all(&in);
    uint32_t sdk, root = nsc_axml_root(x);
    struct nsc_axml_key key = {NSC_AXML_ANDROID, "debuggable", NSC_MANIFEST_DEBUGGABLE};
    struct nsc_axml_setting to = {NSC_AXML_INT_BOOL, UINT32_MAX, NULL};

    sdk = nsc_axml_child(x, root, root, NULL);
    CHECK(nsc_axml_attr(x, sdk, NSC_MANIFEST_MIN_SDK) != NULL);
    CHECK(nsc_axml_set(x, sdk, &key, &to, &diag) == 0);
    x = again(x);
    sdk = nsc_axml_child(x, nsc_axml_root(x), nsc_axml_root(x), NULL);
    CHECK(nsc_axml_attr(x, sdk, NSC_MANIFEST_DEBUGGABLE) != NULL);
    CHECK(nsc_axml_attr(x, sdk, NSC_MANIFEST_MIN_SDK) != NULL);
    CHECK_U64(nsc_axml_attr(x, sdk, NSC_MANIFEST_MIN_SDK)->value.data, 21);
    nsc_buffer_free(&in);
    nsc_axml_free(x);
}

/* A count that is too high, and a type that is none: phones do not mind. */
static void test_wrong_counts(void)
{
    for (int utf8 = 0; utf8 < 2; utf8++) {
        struct nsc_buffer in = ax_make((struct ax_options){.utf8 = utf8}), out = {0};
        struct nsc_axml *x;
        char *before, *after;

        in.data[0] = 0;
        nsc_span_put32(in.data + 16, nsc_span_get32(in.data + 16) + 5); /* of strings */
        x = read_all(&in);
        CHECK(x != NULL && nsc_axml_write(x, &out, &diag) == 0);
        CHECK(out.used == in.used && memcmp(out.data, in.data, in.used) == 0);
        before = meaning(x);
        CHECK(nsc_manifest_set_debuggable(x, true, &diag) == 0);
        x = again(x);
        CHECK_U64(x->pool.count, AX_STRINGS + 6);
        nsc_axml_unset(x, nsc_manifest_application(x),
                       nsc_axml_attr(x, nsc_manifest_application(x), NSC_MANIFEST_DEBUGGABLE));
        x = again(x);
        after = meaning(x);
        CHECK_STR(after, before);
        free(before);
        free(after);
        nsc_axml_free(x);
        nsc_buffer_free(&in);
        nsc_buffer_free(&out);
    }
}

static void test_strings(void)
{
    static const char *const texts[] = {"", "plain", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 end"};
    static char longest[0x9000];

    memset(longest, 'x', sizeof longest - 1);
    for (int utf8 = 0; utf8 < 2; utf8++) {
        struct nsc_buffer in = ax_make((struct ax_options){.utf8 = utf8}), text = {0};
        struct nsc_axml *x = read_all(&in);
        uint32_t at[3], one;

        CHECK(nsc_axml_is(x, AX_LABEL_VALUE, "smile \xf0\x9f\x98\x80!"));
        for (int i = 0; i < 3; i++)
            CHECK(nsc_axml_string(x, texts[i], &at[i], &diag) == 0);
        CHECK(nsc_axml_string(x, texts[1], &one, &diag) == 0 && one == at[1]);
        CHECK(nsc_axml_string(x, longest, &one, &diag) == (utf8 ? -EFBIG : 0));
        if (utf8)
            longest[0x7fff] = 0;
        CHECK(nsc_axml_string(x, longest, &one, &diag) == 0);
        x = again(x);
        for (int i = 0; i < 3; i++)
            CHECK(nsc_axml_is(x, at[i], texts[i]));
        CHECK(nsc_axml_is(x, one, longest));
        CHECK(!nsc_axml_text(x, 12345, &text) && text.used == 1);
        nsc_buffer_free(&text);
        nsc_buffer_free(&in);
        nsc_axml_free(x);
    }
}

static void test_elements(void)
{
    struct nsc_buffer in = ax_make((struct ax_options){0});
    struct nsc_axml *x = read_all(&in);
    uint32_t app = nsc_manifest_application(x), node, found;
    char *before = meaning(x), *after;

    CHECK(nsc_axml_add(x, app, "service", &node, &diag) == 0);
    x = again(x);
    found = nsc_axml_child(x, app, app, "service");
    CHECK(found == node);
    CHECK(nsc_axml_child(x, app, found, NULL) == NSC_AXML_NONE);
    CHECK(nsc_axml_remove(x, found, &diag) == 0);
    x = again(x);
    after = meaning(x);
    CHECK_STR(after, before);
    CHECK(nsc_axml_remove(x, app, &diag) == 0);
    CHECK(nsc_manifest_set_debuggable(x, true, &diag) == -ENOENT);
    nsc_axml_free(x);
    nsc_buffer_free(&in);
    free(before);
    free(after);
}

/* Everything that an editor does with a document. */
static void use(const uint8_t *data, size_t bytes)
{
    struct nsc_axml *x = NULL;
    struct nsc_manifest m;
    char *said;

    diag.message[0] = 0;
    if (nsc_axml_read(data, bytes, &x, &diag) != 0) {
        if (diag.message[0] == 0 || strchr(diag.message, '\n') != NULL)
            CHECK(!"a refusal has one line");
        return;
    }
    if (nsc_manifest_read(x, &m, &diag) == 0)
        nsc_manifest_free(&m);
    (void)nsc_manifest_set_debuggable(x, true, &diag);
    (void)nsc_manifest_add_permission(x, "android.permission.INTERNET", NULL, &diag);
    x = again(x);
    said = meaning(x);
    free(said);
    nsc_axml_free(x);
}

static void test_damage(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct nsc_buffer in = ax_make(kinds[i]);
        size_t refused = 0, document = nsc_span_get32(in.data + 4);

        for (size_t cut = 0; cut < in.used; cut++) {
            uint8_t *part = malloc(cut + 1); /* a byte beyond it is seen by ASan */
            struct nsc_axml *x = NULL;

            memcpy(part, in.data, cut);
            part = realloc(part, cut > 0 ? cut : 1);
            refused += nsc_axml_read(part, cut, &x, &diag) == -EBADMSG;
            nsc_axml_free(x);
            free(part);
        }
        CHECK_U64(refused, document);
        for (size_t at = 0; at < in.used; at++) {
            static const uint8_t flips[] = {0x01, 0x80, 0xff};

            for (size_t f = 0; f < sizeof flips; f++) {
                in.data[at] ^= flips[f];
                use(in.data, in.used);
                in.data[at] ^= flips[f];
            }
        }
        nsc_buffer_free(&in);
    }
    CHECK("every byte was flipped");
}

static void test_refusals(void)
{
    struct nsc_axml *x = NULL;

    CHECK(nsc_axml_read("<manifest/>", 11, &x, &diag) == -EBADMSG);
    CHECK_STR(diag.message, "this is XML text, not compiled XML");
    CHECK(nsc_axml_read("PK\3\4........", 12, &x, &diag) == -EBADMSG);
    CHECK(nsc_axml_read("", 0, &x, &diag) == -EBADMSG && x == NULL);
    CHECK(nsc_axml_read(NULL, 0, &x, &diag) == -EBADMSG && x == NULL);
}

static void check_parse(const char *name, const char *text, int type, uint32_t data)
{
    struct nsc_axml_key key = {NSC_AXML_ANDROID, name, nsc_axml_attr_known(name)};
    struct nsc_axml_setting to = {0};
    int error = nsc_axml_value_parse(text, &key, NULL, &to, &diag);

    if (type < 0)
        CHECK(error == -EINVAL);
    else
        CHECK(error == 0 && to.type == type && to.data == data);
}

static void test_values(void)
{
    static const struct {
        uint8_t type;
        uint32_t data;
        const char *text;
    } shown[] = {
        {NSC_AXML_INT_DEC, 0xffffffff, "-1"},
        {NSC_AXML_INT_HEX, 0x10, "0x10"},
        {NSC_AXML_INT_BOOL, 0xffffffff, "true"},
        {NSC_AXML_REFERENCE, 0x7f010001, "@0x7f010001"},
        {NSC_AXML_ATTRIBUTE, 0, "?null"},
        {NSC_AXML_FLOAT, 0x3fc00000, "1.5"},
        {NSC_AXML_DIMENSION, 0x1001, "16dp"},
        {NSC_AXML_FRACTION, 0x40000030, "50%"},
        {NSC_AXML_COLOR_RGB4, 0xffff8800, "#f80"},
        {NSC_AXML_COLOR_ARGB8, 0x01020304, "#01020304"},
        {NSC_AXML_NULL, 0, "@null"},
        {NSC_AXML_DIMENSION, 0xffff0000, "-256px"},
        {NSC_AXML_FRACTION, 0x40000031, "50%p"},
        {0x77, 5, "type0x77:0x00000005"},
        {NSC_AXML_DIMENSION, 0x100f, "16(unit?)"},
    };
    char name[NSC_AXML_NAME_MAX];

    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        struct nsc_axml_attr a = {.value = {8, 0, shown[i].type, shown[i].data}};
        struct nsc_buffer text = {0};

        nsc_axml_value_text(NULL, &a, &text);
        CHECK_STR((char *)text.data, shown[i].text);
        nsc_buffer_free(&text);
    }
    check_parse("debuggable", "true", NSC_AXML_INT_BOOL, UINT32_MAX);
    check_parse("debuggable", "yes", -1, 0);
    check_parse("debuggable", "@0x7f020000", NSC_AXML_REFERENCE, 0x7f020000);
    check_parse("versionCode", "12", NSC_AXML_INT_DEC, 12);
    check_parse("versionCode", "4294967295", NSC_AXML_INT_DEC, UINT32_MAX);
    check_parse("versionCode", "4294967296", -1, 0);
    check_parse("versionName", "12", NSC_AXML_STRING, 0);
    check_parse("value", "12", NSC_AXML_INT_DEC, 12);
    check_parse("value", "string:12", NSC_AXML_STRING, 0);
    check_parse("value", "hex:0x1F", NSC_AXML_INT_HEX, 0x1f);
    check_parse("value", "hex:12", -1, 0);
    check_parse("value", "#f80", NSC_AXML_COLOR_RGB4, 0xffff8800);
    check_parse("value", "#12", NSC_AXML_STRING, 0);
    check_parse("value", "float:1.5", NSC_AXML_FLOAT, 0x3fc00000);
    CHECK_U64(nsc_axml_attr_known("debuggable"), NSC_MANIFEST_DEBUGGABLE);
    CHECK_U64(nsc_axml_attr_known("extractNativeLibs"), NSC_MANIFEST_EXTRACT_NATIVE_LIBS);
    CHECK_U64(nsc_axml_attr_known("no such"), 0);
    CHECK(nsc_axml_attr_name(NSC_MANIFEST_IS_SPLIT_REQUIRED, name, sizeof name));
    CHECK_STR(name, "isSplitRequired");
    CHECK(!nsc_axml_attr_name(0x7f010001, name, sizeof name));
}

int main(void)
{
    test_identity();
    test_set();
    test_places();
    test_manifest();
    test_short_pool();
    test_wrong_counts();
    test_strings();
    test_elements();
    test_refusals();
    test_values();
    test_damage();
    return t_done();
}
