/*
 * test_table.c - tables, CSV and JSON with names that were made to do harm.
 */
#include "tap.h"
#include "util/text/escape.h"
#include "util/text/json_writer.h"
#include "util/text/table.h"

static char *written;
static size_t written_bytes;

static FILE *capture(void)
{
    return open_memstream(&written, &written_bytes);
}

static void check_written(FILE *f, const char *want)
{
    fclose(f);
    CHECK_STR(written, want);
    free(written);
}

static void check_text(const char *text, const char *want)
{
    FILE *f = capture();
    size_t columns = nsc_text_put(f, text);

    CHECK_U64(columns, nsc_text_width(text));
    check_written(f, want);
}

static void check_csv(const char *text, const char *want)
{
    FILE *f = capture();

    nsc_text_put_csv(f, text, false);
    check_written(f, want);
}

static void check_json(const char *text, const char *want)
{
    FILE *f = capture();

    nsc_text_put_json(f, text);
    check_written(f, want);
}

static void test_text(void)
{
    check_text("main", "main");
    check_text("", "");
    check_text("a\nb\tc\rd", "a\\nb\\tc\\rd");
    check_text("\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f");
    check_text("\xc2\x9b"
               "31m",
               "\\u009b31m"); /* C1 control sequence introducer */
    check_text("\xff\xc3(", "\\xff\\xc3(");
    check_text("\xc0\x80", "\\xc0\\x80");          /* overlong */
    check_text("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogate */
    check_text("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    check_text("\xe2\x82", "\\xe2\\x82"); /* cut off */
    check_text("pay\xe2\x80\xaeload", "pay\\u202eload");
    check_text("\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac");
    CHECK_U64(nsc_text_width("\xc3\xa9"), 1);
}

static void test_csv(void)
{
    check_csv("plain", "plain");
    check_csv("a,b", "\"a,b\"");
    check_csv("say \"hi\"", "\"say \"\"hi\"\"\"");
    check_csv("two\nlines", "\"two\nlines\"");
    check_csv(" led", "\" led\"");
    check_csv("\xff", "\xff");
}

static void test_json(void)
{
    check_json("</script><!--", "\"<\\/script>\\u003c!--\"");
    check_json("a<b>::c</d", "\"a<b>::c<\\/d\"");
    check_json("q\"b\\", "\"q\\\"b\\\\\"");
    check_json("\x01\n\x7f", "\"\\u0001\\u000a\\u007f\"");
    check_json("\xff"
               "a\xe2\x82",
               "\"\\ufffda\\ufffd\\ufffd\"");
    check_json("\xe2\x80\xa8", "\"\\u2028\"");
}

static void test_json_writer(void)
{
    struct nsc_json j;
    FILE *f = capture();

    nsc_json_begin(&j, f, false);
    nsc_json_u64(&j, "n", UINT64_MAX);
    nsc_json_open_array(&j, "list");
    nsc_json_i64(&j, NULL, -1);
    nsc_json_open_object(&j, NULL);
    nsc_json_close_object(&j);
    nsc_json_close_array(&j);
    nsc_json_real(&j, "r", 1.0 / 3, 3);
    nsc_json_bool(&j, "b", true);
    nsc_json_null(&j, "z");
    nsc_json_end(&j);
    check_written(f, "{\n  \"n\": 18446744073709551615,\n  \"list\": [\n    -1,\n    {}\n  ],\n"
                     "  \"r\": 0.333,\n  \"b\": true,\n  \"z\": null\n}\n");

    f = capture();
    nsc_json_begin(&j, f, true);
    nsc_json_text(&j, "a", "b");
    nsc_json_text(&j, "n", NULL);
    nsc_json_open_array(&j, "c");
    nsc_json_close_array(&j);
    nsc_json_end(&j);
    check_written(f, "{\"a\":\"b\",\"n\":null,\"c\":[]}\n");
}

static const struct nsc_table_column columns[] = {
    {"function", "FUNCTION", NSC_TABLE_TEXT, NSC_TABLE_LAST},
    {"calls", "CALLS", NSC_TABLE_COUNT, 0},
    {"total_ns", "TOTAL", NSC_TABLE_NS, 0},
    {"where", "WHERE", NSC_TABLE_TEXT, NSC_TABLE_NO_CSV},
};

static struct nsc_table *sample(void)
{
    struct nsc_table *t = nsc_table_new(columns, 4);

    nsc_table_add_text(t, "main");
    nsc_table_add(t, 1);
    nsc_table_add(t, 1234567);
    nsc_table_add_text(t, "x");
    nsc_table_add_text(t, "op\n\"(a, b)\"");
    nsc_table_add(t, 12345);
    nsc_table_add_nothing(t);
    nsc_table_add_text(t, "long one");
    return t;
}

static void test_table(void)
{
    struct nsc_table *t = sample();
    struct nsc_json j;
    FILE *f = capture();

    CHECK_U64(nsc_table_rows(t), 2);
    CHECK(nsc_table_write(t, NSC_TABLE_ALIGNED, f) == 0);
    check_written(f, " CALLS     TOTAL  WHERE     FUNCTION\n"
                     "     1  1.235 ms  x         main\n"
                     "12,345         -  long one  op\\n\"(a, b)\"\n");
    f = capture();
    CHECK(nsc_table_write(t, NSC_TABLE_CSV, f) == 0);
    check_written(f, "function,calls,total_ns\nmain,1,1234567\n\"op\n\"\"(a, b)\"\"\",12345,\n");
    f = capture();
    j = (struct nsc_json){.out = f, .compact = true};
    CHECK(nsc_table_write_json(t, &j, NULL) == 0);
    check_written(f, "[{\"function\":\"main\",\"calls\":1,\"total_ns\":1234567,\"where\":\"x\"},"
                     "{\"function\":\"op\\u000a\\\"(a, b)\\\"\",\"calls\":12345,\"total_ns\":null,"
                     "\"where\":\"long one\"}]");
    nsc_table_free(t);

    t = nsc_table_new(columns, 4);
    f = capture();
    CHECK(nsc_table_write(t, NSC_TABLE_ALIGNED, f) == 0);
    check_written(f, "CALLS  TOTAL  WHERE  FUNCTION\n");
    nsc_table_free(t);
}

/* A text of very many columns moves its own row, and no other. */
static void test_wide(void)
{
    static const struct nsc_table_column heads[] = {{"a", "A", NSC_TABLE_TEXT, 0},
                                                    {"b", "B", NSC_TABLE_TEXT, 0},
                                                    {"c", "C", NSC_TABLE_TEXT, 0}};
    struct nsc_table *t = nsc_table_new(heads, 3);
    char wide[66], padded[65], want[512];
    FILE *f = capture();

    memset(wide, 'w', sizeof(wide) - 1);
    wide[sizeof(wide) - 1] = 0;
    memset(padded, 'p', sizeof(padded) - 1);
    padded[sizeof(padded) - 1] = 0;
    nsc_table_add_text(t, wide);
    nsc_table_add_text(t, padded);
    nsc_table_add_text(t, "1");
    nsc_table_add_text(t, "four");
    nsc_table_add_text(t, "b");
    nsc_table_add_text(t, "2");
    CHECK(nsc_table_write(t, NSC_TABLE_ALIGNED, f) == 0);
    snprintf(want, sizeof(want), "A     %-64s  C\n%s  %s  1\nfour  %-64s  2\n", "B", wide, padded,
             "b");
    check_written(f, want);
    nsc_table_free(t);
}

int main(void)
{
    test_wide();
    test_text();
    test_csv();
    test_json();
    test_json_writer();
    test_table();
    return t_done();
}
