/* test_ctf_export.c - the language of CTF's metadata, and fields of any width and order. */
#include <errno.h>
#include <sys/stat.h>

#include "formats/ctf/ctf_decode.h"
#include "tap.h"
#include "unit/rigs/formats_fixture.h"

#define HEAD                                                                                       \
    "/* CTF 1.8 */\n"                                                                              \
    "typealias integer { size = 8; } := u8;\n"                                                     \
    "typealias integer { size = 32; align = 8; } := unsigned long int;\n"                          \
    "trace { major = 1; minor = 8; byte_order = be; };\n"

static struct ctf_trace trace;
static struct nsc_diag diag;

static int parse(const char *text)
{
    diag = (struct nsc_diag){0};
    return nsc_ctf_parse(text, "metadata", &trace, &diag);
}

static const struct ctf_field *field(const struct ctf_type *type, unsigned index)
{
    const struct ctf_field *f = type->fields;

    while (index-- > 0)
        f = f->next;
    return f;
}

static void test_types(void)
{
    const struct ctf_type *fields;

    CHECK(parse(HEAD "clock { name = c; freq = 1000; offset_s = 2; offset = 0x10; };\n"
                     "struct inner { u8 a; u8 b[3]; } align(32);\n"
                     "stream { id = 4; };\n"
                     "event { name = \"e\\\"\\101\"; id = 2; stream_id = 4; fields := struct {\n"
                     "  unsigned long int wide;\n"
                     "  integer { size = 3; signed = true; map = clock.c.value; } narrow;\n"
                     "  enum : u8 { A, B = 5, \"c d\" = 7 ... 9 } choice;\n"
                     "  variant <choice> { string A; struct inner B; } v;\n"
                     "  floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; } real;\n"
                     "  u8 count; u8 list[count][2];\n"
                     "}; };\n") == 0);
    CHECK_STR(diag.message, "");
    CHECK_U64(trace.streams->event_count, 1);
    CHECK_STR(nsc_ctf_event(trace.streams, 2)->name, "e\"A");
    CHECK(nsc_ctf_event(trace.streams, 3) == NULL);
    fields = nsc_ctf_event(trace.streams, 2)->fields;
    CHECK_U64(fields->align, 8);
    CHECK_U64(field(fields, 0)->type->size, 32);
    CHECK_U64(field(fields, 0)->type->order, CTF_BIG);
    CHECK_U64(field(fields, 1)->type->align, 1);
    CHECK(field(fields, 1)->type->is_signed);
    CHECK_U64(field(fields, 1)->type->clock->frequency, 1000);
    CHECK(field(fields, 1)->type->clock->offset == 16);
    CHECK_STR(nsc_ctf_label(field(fields, 2)->type, 0)->name, "A");
    CHECK_STR(nsc_ctf_label(field(fields, 2)->type, 5)->name, "B");
    CHECK_STR(nsc_ctf_label(field(fields, 2)->type, 8)->name, "c d");
    CHECK(nsc_ctf_label(field(fields, 2)->type, 6) == NULL);
    CHECK(field(fields, 3)->type->target == field(fields, 2));
    CHECK_U64(field(field(fields, 3)->type, 1)->type->align, 32);
    CHECK_U64(field(fields, 4)->type->size, 64);
    CHECK_U64(field(fields, 4)->type->order, CTF_LITTLE);
    CHECK_U64(field(fields, 6)->type->kind, CTF_SEQUENCE);
    CHECK(field(fields, 6)->type->target == field(fields, 5));
    CHECK_U64(field(fields, 6)->type->inner->length, 2);
    nsc_ctf_free(&trace);
}

static void check_refused(const char *text, int error, const char *part)
{
    int got = parse(text);

    CHECK_U64((unsigned)-got, (unsigned)error);
    if (!t_report(strstr(diag.message, part) != NULL, __FILE__, __LINE__, part))
        printf("#   got \"%s\"\n", diag.message);
    nsc_ctf_free(&trace);
}

static void test_refused(void)
{
    static char nested[64 * 1024];
    size_t used = 0;

    check_refused("", EBADMSG, "no stream is described");
    check_refused(HEAD "stream { id = ; };", EBADMSG, "line 5: a value expected");
    check_refused(HEAD "stream { event.header := struct { u9 x; }; };", EBADMSG,
                  "line 5: unknown type \"u9\"");
    check_refused(HEAD "stream { id = 0; }", EBADMSG, "\";\" expected");
    check_refused(HEAD "event { name = \"x", EBADMSG, "a string that does not end");
    check_refused(HEAD "typealias integer { size = 65; } := a;", ENOTSUP, "1 to 64 bits");
    check_refused(HEAD "typealias integer { size = 8; align = 3; } := a;", EBADMSG,
                  "no power of two");
    check_refused(HEAD "typealias integer { align = 8; } := a;", EBADMSG, "without a size");
    check_refused(HEAD "typealias floating_point { exp_dig = 9; mant_dig = 56; } := f;", ENOTSUP,
                  "32 or 64 bits");
    check_refused(HEAD "clock { freq = 0; };", EBADMSG, "stands still");
    check_refused(HEAD "stream { event.header := u8; };", EBADMSG, "else than a structure");
    check_refused(HEAD "stream { id = 99999999999999999999; };", EBADMSG, "too large");
    check_refused(HEAD "stream { event.header := struct { u8 later[n]; u8 n; }; };", EBADMSG,
                  "no field before that is called \"n\"");
    check_refused(HEAD "stream { event.header := struct { variant { u8 a; } v; }; };", EBADMSG,
                  "a variant without a choice");
    check_refused("trace { major = 2; };", ENOTSUP, "1.8 is");
    check_refused("wrong", EBADMSG, "line 1: neither");
    check_refused(HEAD "stream { id = 1; }; stream { id = 2; }; stream { id = 1; };", EBADMSG,
                  "two classes of streams with one id");
    for (int i = 0; i < 5000; i++)
        used += (size_t)snprintf(nested + used, sizeof nested - used, "struct { ");
    check_refused(nested, EBADMSG, "inside one another");
    used = (size_t)snprintf(nested, sizeof nested, HEAD "struct s0 { u8 a; };\n");
    for (int i = 1; i < 1000; i++)
        used += (size_t)snprintf(nested + used, sizeof nested - used,
                                 "struct s%d { struct s%d a; };\n", i, i - 1);
    check_refused(nested, EBADMSG, "inside one another");
}

/* An event of one byte's number, then @fields. */
static struct ctf_values values;

static int decode(const char *order, const char *fields, const uint8_t *data, size_t bytes)
{
    char text[2048];
    struct ctf_stream s = {.trace = &trace};
    int more;

    snprintf(text, sizeof text,
             "/* CTF 1.8 */ typealias integer { size = 8; } := u8; trace { byte_order = %s; };\n"
             "stream { event.header := struct { u8 id; }; };\n"
             "event { name = x; id = 7; fields := struct { %s }; };",
             order, fields);
    CHECK(parse(text) == 0);
    CHECK(nsc_paged_file_open(NULL, fx_write("stream", (const char *)data, bytes), &s.file,
                              &diag) == 0);
    more = nsc_ctf_next(&s, &values); /* the packet */
    if (more == 1)
        more = nsc_ctf_next(&s, &values);
    if (more == 1)
        more = nsc_ctf_take(&s, &values);
    nsc_paged_file_close(s.file);
    nsc_ctf_free(&trace);
    return more;
}

static void test_bits(void)
{
    static const char odd[] = "integer { size = 3; } a; integer { size = 13; signed = 1; } b;"
                              "integer { size = 64; align = 1; } c;";
    /* little: a = 5, b = -2, c from bit 16 on */
    static const uint8_t little[] = {7, 0xf5, 0xff, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t big[] = {7, 0xbf, 0xfe, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t shifted[] = {7, 0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};

    CHECK(decode("le", odd, little, sizeof little) == 0);
    CHECK_U64(values.count, 3);
    CHECK_U64(values.leaves[0].number, 5);
    CHECK_U64(values.leaves[1].number, (uint64_t)-2);
    CHECK_U64(values.leaves[2].number, 0x0807060504030201u);
    CHECK(decode("be", odd, big, sizeof big) == 0);
    CHECK_U64(values.leaves[0].number, 5);
    CHECK_U64(values.leaves[1].number, (uint64_t)-2);
    CHECK_U64(values.leaves[2].number, 0x0102030405060708u);
    CHECK(decode("le", "integer { size = 1; } a; integer { size = 64; align = 1; } b;", shifted,
                 sizeof shifted) == 0);
    CHECK_U64(values.leaves[0].number, 1);
    CHECK_U64(values.leaves[1].number, 0xffffffffffffffc0u);
    CHECK(decode("be", "integer { size = 1; } a; integer { size = 64; align = 1; } b;", shifted,
                 sizeof shifted) == 0);
    CHECK_U64(values.leaves[0].number, 1);
    CHECK_U64(values.leaves[1].number, 0x03fffffffffffffeu);
    CHECK(decode("be", odd, big, sizeof big - 1) == -EBADMSG);
}

static void test_values(void)
{
    /* the structure begins where its largest alignment says */
    static const uint8_t data[] = {7, 0, 0, 0, 2, 'a', 'b', 'x', 'y', 0, 0, 0, 0, 0, 0, 0x3f, 1, 9};
    static const uint8_t endless[] = {7, 'a', 'b', 'c'};
    static const uint8_t many[] = {7, 0xff, 1, 2};

    CHECK(decode("le",
                 "u8 n; u8 bytes[n]; string text; floating_point { exp_dig = 8; mant_dig = 24; "
                 "align = 32; } real; enum : u8 { one = 1 } kind; variant <kind> { u8 one; } v;",
                 data, sizeof data) == 0);
    CHECK_U64(values.count, 6);
    CHECK_U64(values.leaves[1].bytes, 2);
    CHECK(memcmp(values.leaves[1].text, "ab", 2) == 0);
    CHECK_STR(values.leaves[2].text, "xy");
    CHECK(values.leaves[3].kind == CTF_REAL && values.leaves[3].real == 0.5);
    CHECK_U64(values.leaves[5].number, 9);
    CHECK(decode("le", "string text;", endless, sizeof endless) == -EBADMSG);
    CHECK(decode("le", "u8 n; u8 bytes[n];", many, sizeof many) == -EBADMSG);
    CHECK(decode("le", "u8 n; struct {} nothing[n]; struct {} more[4000000000];", many,
                 sizeof many) == -EBADMSG); /* more values than an event may have */
    CHECK(decode("le", "struct {} nothing;", many, sizeof many) == 0);
    CHECK(decode("le", "enum : u8 { one = 1 } kind; variant <kind> { u8 one; } v;", many,
                 sizeof many) == -EBADMSG);
}

/* The first of two labels of one value does not hide the second; below zero is below. */
static void test_labels(void)
{
    const struct ctf_type *type;
    char text[4096];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        HEAD "typealias integer { size = 16; signed = true; } := i16;\n"
             "stream { id = 0; event.header := struct { enum : i16 { all = -400 ... 400, "
             "low = -300 ... -290, zero = 0, around = -5 ... 5");

    for (int i = 0; i < 100; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, ", l%d = %d", i, 10 * i + 10);
    snprintf(text + used, sizeof text - used, " } e; }; };");
    CHECK(parse(text) == 0);
    CHECK_STR(diag.message, "");
    type = trace.streams->event_header->fields->type;
    CHECK_STR(nsc_ctf_label(type, 0)->name, "zero");
    CHECK_STR(nsc_ctf_label(type, 3)->name, "around");
    CHECK_STR(nsc_ctf_label(type, (uint64_t)-4)->name, "around");
    CHECK_STR(nsc_ctf_label(type, (uint64_t)-295)->name, "low");
    CHECK_STR(nsc_ctf_label(type, (uint64_t)-400)->name, "all");
    CHECK_STR(nsc_ctf_label(type, 395)->name, "all");
    CHECK_STR(nsc_ctf_label(type, 400)->name, "l39");
    CHECK_STR(nsc_ctf_label(type, 990)->name, "l98");
    CHECK(nsc_ctf_label(type, (uint64_t)-401) == NULL);
    CHECK(nsc_ctf_label(type, 991) == NULL);
    nsc_ctf_free(&trace);
}

/* Few bytes that say of many values: their number has a bound. */
static void check_work(const char *fields)
{
    static uint8_t data[2048] = {0};
    struct ctf_stream s = {.trace = &trace};
    char text[2048];
    int more;

    snprintf(text, sizeof text,
             "/* CTF 1.8 */ typealias integer { size = 8; } := u8;\n"
             "stream { event.header := struct { u8 id; }; };\n"
             "event { name = x; id = 0; fields := struct { %s }; };",
             fields);
    CHECK(parse(text) == 0);
    CHECK(nsc_paged_file_open(NULL, fx_write("stream", (const char *)data, sizeof data), &s.file,
                              &diag) == 0);
    while ((more = nsc_ctf_next(&s, &values)) == 1)
        if (s.event != NULL && nsc_ctf_take(&s, &values) != 0)
            break;
    CHECK(s.wrong != NULL && strstr(s.wrong, "values without any bits") != NULL);
    if (!CHECK(s.all_steps < 1000000))
        printf("# %llu steps: %s\n", (unsigned long long)s.all_steps, fields);
    nsc_paged_file_close(s.file);
    nsc_ctf_free(&trace);
}

static void test_work(void)
{
    check_work("struct {} nothing[1000000];");
    check_work("struct { struct { u8 none[0][7]; } a[1000]; } nothing[900];");
    check_work("u8 n; struct {} a[100000]; u8 never[n];");
    check_work("u8 n; struct { string text[n]; } nothing[20000];");
}

int main(void)
{
    fx_begin();
    values.text = malloc(CTF_TEXT);
    test_types();
    test_refused();
    test_bits();
    test_values();
    test_labels();
    test_work();
    free(values.text);
    fx_end();
    return t_done();
}
