/* test_text.c - Nanoscope's text: what comes in goes out again, and damage is named by its
 * line. */
#include <errno.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tap.h"
#include "unit/rigs/formats_fixture.h"

/* methodA calls methodB, then methodC: the format's own example. */
static const char example[] = "1000:void com.example.Example.methodA()\n"
                              "2000:void com.example.Example.methodB()\n"
                              "3000:POP\n"
                              "4500:int com.example.Example.methodC(java.lang.String, int[])\n"
                              "5000:POP\n"
                              "6000:POP\n";

static struct nsc_diag diag;
static struct nsc_export_result exported;

static struct nsc_trace *open_text(const char *text, size_t bytes)
{
    struct nsc_trace *t = NULL;
    int error = nsc_formats_open(fx_write("in.txt", text, bytes), 0, &t, &diag);

    return error == 0 ? t : NULL;
}

static struct nsc_trace *open_string(const char *text)
{
    return open_text(text, strlen(text));
}

/* Text -> trace -> text. */
static void check_round_trip(const char *text, const char *want, const char *what)
{
    struct nsc_trace *t = open_string(text);

    if (t == NULL ||
        nsc_formats_export(t, "nanoscope", fx_path("out.txt"), NULL, &exported, &diag) != 0) {
        printf("# %s\n", diag.message);
        t_report(0, __FILE__, __LINE__, what);
    } else {
        fx_check_file("out.txt", want, what);
    }
    if (t != NULL)
        nsc_trace_close(t);
    fx_clear();
}

static void test_example(void)
{
    struct nsc_trace *t = open_string(example);
    const struct nsc_event *e;
    struct nsc_cursor *c;
    size_t n = 0;

    CHECK(t != NULL);
    CHECK_STR(diag.message, "");
    CHECK_U64(nsc_trace_info(t)->calls, 3);
    CHECK_U64(nsc_trace_info(t)->thread_count, 1);
    CHECK_U64(nsc_trace_info(t)->function_count, 3);
    CHECK(nsc_trace_clock(t)->identity);
    CHECK_STR(nsc_trace_process(t, 0)->name, "in.txt");
    CHECK_STR(nsc_trace_meta(t, "import.format"), "nanoscope");
    CHECK_U64(nsc_trace_thread(t, 0)->start_ticks, 1000);
    CHECK_U64(nsc_trace_thread(t, 0)->end_ticks, 6000);
    CHECK(nsc_cursor_open(t, 0, 0, &c, &diag) == 0);
    CHECK(nsc_cursor_next(c, &e, &n, &diag) == 1);
    CHECK_U64(n, 6);
    CHECK_STR(nsc_trace_function(t, e[3].function)->name,
              "int com.example.Example.methodC(java.lang.String, int[])");
    CHECK_U64(e[3].ticks, 4500);
    CHECK_U64(e[3].depth, 1);
    CHECK_U64(e[4].kind, NSC_EVENT_EXIT);
    nsc_cursor_close(c);
    nsc_trace_close(t);
    check_round_trip(example, example, "the example comes out as it went in");
}

static void test_round_trips(void)
{
    static const char operators[] = "5:std::map<int, A::B>::operator[](int const&)\n6:POP\n";
    static const char unopened[] = "5:POP\n6:POP\n7:int a()\n8:POP\n9:POP\n";
    static const char open[] = "1:a\n2:b\n3:POP\n4:c\n5:d\n";
    static const char large[] = "4611686018427387903:a\n4611686018427387903:POP\n";
    static const char bytes[] = "1:\xff\xfe<b>&amp;\"\\ \t\n2:POP\n";
    static const char marks[] = "1:frame#meta: x\n1:POP \n1:pop\n2:POP\n2:POP\n2:POP\n";

    check_round_trip(operators, operators, "only the first colon parts");
    check_round_trip(unopened, unopened, "POPs without a call stay");
    check_round_trip(open, open, "calls open at the end get no POP");
    check_round_trip(large, large, "the largest timestamp");
    check_round_trip(bytes, bytes, "bytes that are no UTF-8");
    check_round_trip(marks, marks, "names that look like POP, equal times");
}

static void test_mended(void)
{
    check_round_trip("1:a\r\n2:POP\r\n", "1:a\n2:POP\n", "CR LF");
    check_round_trip("1:a\n2:POP", "1:a\n2:POP\n", "no line end at the end");
    check_round_trip("\n1:a\n\n\n2:POP\n\n", "1:a\n2:POP\n", "empty lines");
    check_round_trip("5:a\n3:b\n4:POP\n6:POP\n", "5:a\n5:b\n5:POP\n6:POP\n", "time goes back");
}

static void check_warning(const char *text, uint64_t calls, const char *part)
{
    struct nsc_trace *t = open_string(text);

    if (t == NULL) {
        printf("# %s\n", diag.message);
        t_report(0, __FILE__, __LINE__, part);
        return;
    }
    CHECK_U64(nsc_trace_info(t)->calls, calls);
    if (!t_report(strstr(diag.message, part) != NULL, __FILE__, __LINE__, part))
        printf("#   got \"%s\"\n", diag.message);
    nsc_trace_close(t);
}

static void check_refused(const char *text, size_t bytes, int error, const char *part)
{
    struct nsc_trace *t = NULL;
    int got = nsc_formats_open(fx_write("in.txt", text, bytes), 0, &t, &diag);

    CHECK_U64((unsigned)-got, (unsigned)error);
    if (!t_report(strstr(diag.message, part) != NULL, __FILE__, __LINE__, part))
        printf("#   got \"%s\"\n", diag.message);
    if (t != NULL)
        nsc_trace_close(t);
}

static void test_damage(void)
{
    static const char long_head[] = "1:a\n2:";
    size_t bytes = sizeof long_head + (1 << 20) + 16;
    char *text = malloc(bytes);

    check_warning("1:a\n2:b\nnonsense\n3:POP\n", 2, "line 3 is not");
    check_warning("1:a\n2:b\n-3:POP\n", 2, "line 3 is not");
    check_warning("1:a\n12\n", 1, "line 2 is not");
    check_warning("1:a\n12:\n", 1, "line 2 has no signature");
    check_warning("1:a\n4611686018427387904:b\n", 1, "line 2 has a timestamp beyond");
    check_warning("1:a\n99999999999999999999999:b\n", 1, "line 2 has a timestamp beyond");
    check_warning("5:a\n3:b\n1:POP\n", 2, "line 2 goes back in time, as do 2 in all");
    check_warning("1:a\n\n2:POP\n", 1, "empty lines skipped: 1, the first is line 2");
    check_refused("1:a\0b\n", 6, EBADMSG, "line 1 holds a NUL byte");
    check_refused("", 0, EPROTO, "(empty)");
    check_refused("hello world\n", 12, EPROTO, "other text");
    check_refused("[{\"a\":\"X\"}]\n", 12, EPROTO, "JSON, but no trace of Chrome's");
    check_refused("\x7f"
                  "ELF\2\1\1",
                  7, EPROTO, "ELF");
    check_refused("12\n", 3, EPROTO, "accepted: ");
    memset(text, 'x', bytes);
    memcpy(text, long_head, sizeof long_head - 1);
    text[bytes - 1] = '\0';
    check_warning(text, 1, "line 2 is longer than 1 MiB");
    free(text);
    fx_clear();
}

/* A line of nearly a megabyte is a line. */
static void test_long_line(void)
{
    size_t bytes = 1000000;
    char *text = malloc(bytes + 16);

    memset(text, 'n', bytes);
    memcpy(text, "1:", 2);
    memcpy(text + bytes, "\n2:POP\n", 8);
    check_round_trip(text, text, "a name of a million bytes");
    free(text);
}

static void test_set(void)
{
    struct nsc_trace *t;

    fx_write("app.txt", "10:main\n20:POP\n", 15);
    fx_write("app.txt.77", "11:worker\n12:POP\n", 17);
    fx_write("app.txt.9", "13:first\n14:POP\n", 16);
    fx_write("app.txt.9.1", "15:coroutine\n16:POP\n", 20);
    fx_write("app.txt.8", "no trace\n", 9);
    fx_write("app.txt.77.bak", "1:a\n", 4);
    fx_write("app.txt.timer", "1, 2, 3\n", 8);
    CHECK(nsc_formats_open(fx_path("app.txt"), 0, &t, &diag) == 0);
    CHECK(strstr(diag.message, "app.txt.timer: line 1 is not nine numbers") != NULL);
    CHECK(strstr(diag.message, "1 more") != NULL);
    CHECK_U64(nsc_trace_info(t)->thread_count, 4);
    CHECK_U64(nsc_trace_thread(t, 0)->tid, 1);
    CHECK_U64(nsc_trace_thread(t, 1)->tid, 9);
    CHECK_U64(nsc_trace_thread(t, 2)->stack, 1);
    CHECK_U64(nsc_trace_thread(t, 3)->tid, 77);
    fx_clear();
    CHECK(nsc_formats_export(t, "nanoscope", fx_path("o.txt"), NULL, &exported, &diag) == 0);
    nsc_trace_close(t);
    CHECK_U64(exported.files, 6);
    CHECK_U64(exported.threads, 3); /* one of them with a further stack */
    CHECK_U64(exported.calls, 4);
    CHECK_U64(exported.notes.count, 0);
    fx_check_file("o.txt", "10:main\n20:POP\n", "first thread");
    fx_check_file("o.txt.77", "11:worker\n12:POP\n", "a further thread");
    fx_check_file("o.txt.9", "13:first\n14:POP\n", "another");
    fx_check_file("o.txt.9.1", "15:coroutine\n16:POP\n", "its second stack");
    fx_check_file("o.txt.timer", "", "no samples");
    fx_check_file("o.txt.state", "", "no states");
    CHECK_U64(fx_clear(), 6);
}

/* What an earlier export left behind is named, not taken away. */
static void test_strangers(void)
{
    struct nsc_trace *t = open_string(example);

    fx_write("o.txt.5", "1:a\n", 4);
    CHECK(nsc_formats_export(t, "nanoscope", fx_path("o.txt"), NULL, &exported, &diag) == 0);
    CHECK_U64(exported.notes.count, 1);
    CHECK(strstr(exported.notes.line[0], "o.txt.5 is not of this export") != NULL);
    nsc_trace_close(t);
    fx_clear();
}

static void gzip(const char *name, const char *text, size_t bytes, size_t keep)
{
    gzFile f = gzopen(fx_path(name), "wb");
    char *all;
    size_t size = 0;

    gzwrite(f, text, (unsigned)bytes);
    gzclose(f);
    all = fx_read(name, &size);
    fx_write(name, all, keep < size ? keep : size);
    free(all);
}

static void test_gzip(void)
{
    struct nsc_trace *t;
    char *many = NULL;
    size_t bytes;
    FILE *f = open_memstream(&many, &bytes);

    gzip("a.txt.gz", example, sizeof example - 1, SIZE_MAX);
    gzip("a.txt.3.gz", "1:a\n2:POP\n", 10, SIZE_MAX);
    CHECK(nsc_formats_open(fx_path("a.txt.gz"), 0, &t, &diag) == 0);
    CHECK_U64(nsc_trace_info(t)->calls, 4);
    CHECK(nsc_formats_export(t, "nanoscope", fx_path("b.txt.gz"), NULL, &exported, &diag) == 0);
    nsc_trace_close(t);
    CHECK(access(fx_path("b.txt.3.gz"), R_OK) == 0);
    CHECK(nsc_formats_open(fx_path("b.txt.gz"), 0, &t, &diag) == 0);
    CHECK_U64(nsc_trace_info(t)->calls, 4);
    nsc_trace_close(t);

    for (unsigned i = 0; i < 20000; i++)
        fprintf(f, "%u:f%u\n%u:POP\n", i * 2, i * 7919 % 1000, i * 2 + 1);
    fclose(f);
    gzip("cut.gz", many, bytes, 20000);
    CHECK(nsc_formats_open(fx_path("cut.gz"), 0, &t, &diag) == 0);
    CHECK(strstr(diag.message, "damaged gzip data") != NULL);
    CHECK(nsc_trace_info(t)->calls > 1000);
    CHECK(nsc_trace_info(t)->calls < 20000);
    nsc_trace_close(t);
    gzip("cut.gz", many, bytes, 12);
    CHECK(nsc_formats_open(fx_path("cut.gz"), 0, &t, &diag) == -EBADMSG);
    free(many);
    fx_clear();
}

static void test_targets(void)
{
    struct nsc_trace *t = open_string(example);

    CHECK(symlink("elsewhere", fx_path("link.txt")) == 0);
    CHECK(nsc_formats_export(t, "nanoscope", fx_path("link.txt"), NULL, &exported, &diag) ==
          -ELOOP);
    CHECK(access(fx_path("elsewhere"), F_OK) != 0);
    CHECK(nsc_formats_export(t, "nanoscope", fx_path("none/x.txt"), NULL, &exported, &diag) ==
          -ENOENT);
    CHECK(nsc_formats_export(t, "nanoscope", fx_folder, NULL, &exported, &diag) == -EISDIR);
    CHECK(nsc_formats_export(t, "nothing", fx_path("x"), NULL, &exported, &diag) == -EINVAL);
    /* link.txt and in.txt: nothing half-written is left */
    CHECK_U64(fx_clear(), 2);
    nsc_trace_close(t);
}

static void test_import(void)
{
    struct nsc_import_options options = {.size = sizeof options, .name = "my app"};
    struct nsc_import_result result;
    struct nsc_trace *t;

    fx_write("in.txt", example, sizeof example - 1);
    CHECK(nsc_formats_import(fx_path("in.txt"), fx_path("x.nst"), &options, &result, &diag) == 0);
    CHECK_U64(result.calls, 3);
    CHECK_U64(result.threads, 1);
    CHECK_STR(result.format, "nanoscope");
    CHECK(nsc_formats_import(fx_path("in.txt"), fx_path("x.nst"), &options, &result, &diag) ==
          -EEXIST);
    CHECK(nsc_formats_import(fx_path("x.nst"), fx_path("y.nst"), NULL, &result, &diag) == -EINVAL);
    CHECK(nsc_formats_open(fx_path("x.nst"), 0, &t, &diag) == 0);
    CHECK_STR(nsc_trace_process(t, 0)->name, "my app");
    nsc_trace_close(t);
    CHECK(nsc_formats_import(fx_path("none"), fx_path("y.nst"), NULL, &result, &diag) == -ENOENT);
    CHECK_U64(fx_clear(), 2);
}

static void test_names(void)
{
    char *name;

    CHECK_STR(nsc_formats_guess("x.txt"), "nanoscope");
    CHECK_STR(nsc_formats_guess("x.json.gz"), "chrome");
    CHECK_STR(nsc_formats_guess("a/x.perfetto-trace"), "perfetto");
    CHECK(nsc_formats_guess("x.nst") == NULL);
    CHECK(nsc_formats_guess(".txt") == NULL);
    CHECK_STR(name = nsc_formats_output_name("/a/b/out.txt.gz", ".nst"), "out.nst");
    free(name);
    CHECK_STR(name = nsc_formats_output_name("x.json.gz", ".nst"), "x.nst");
    free(name);
    CHECK_STR(name = nsc_formats_output_name("prog.nst", ".pftrace"), "prog.pftrace");
    free(name);
}

/* Whether a file is taken for one of the format: then a recording may replace it. */
static bool is_of(const char *text, size_t bytes, const char *format)
{
    return nsc_formats_is_of(fx_write("in", text, bytes), format);
}

static void test_own(void)
{
    static const char json[] = "{\"traceEvents\":[\n", folded[] = "main;parse 1700\nmain 3\n";
    static const char packet[] = "\n\2\120\1\n\2\120\2", lines[] = "\n\nother words\n";
    char *text = malloc(3 << 12);

    CHECK(is_of("10:main\n12:0x4711\n20:POP\n", 25, "nanoscope"));
    CHECK(is_of("", 0, "nanoscope") && is_of("", 0, "perfetto"));
    CHECK(!is_of("12:00 standup\n13:00 lunch\n", 26, "nanoscope"));
    CHECK(!is_of("12:a\nwords\n", 11, "nanoscope"));
    CHECK(!is_of("12:no line end", 14, "nanoscope"));
    CHECK(is_of(json, sizeof json - 1, "chrome") && !is_of("{\"name\":1}", 10, "chrome"));
    CHECK(is_of(folded, sizeof folded - 1, "folded") && !is_of(" 17\n", 4, "folded"));
    CHECK(!is_of("int main(void);\n", 16, "folded") && !is_of("a 1\0\n", 6, "folded"));
    CHECK(is_of(packet, sizeof packet - 1, "perfetto"));
    CHECK(!is_of(lines, sizeof lines - 1, "perfetto") && !is_of("\n\377", 2, "perfetto"));
    CHECK(!is_of("10:main\n", 8, "no such format"));
    CHECK(!nsc_formats_is_of(fx_path("none"), "nanoscope"));
    /* More than is looked at, cut within a line. */
    for (size_t i = 0; i < 3 << 12; i += 8)
        memcpy(text + i, "10:main\n", 8);
    CHECK(is_of(text, 3 << 12, "nanoscope"));
    free(text);
    fx_clear();
}

int main(void)
{
    fx_begin();
    test_example();
    test_own();
    test_round_trips();
    test_mended();
    test_damage();
    test_long_line();
    test_set();
    test_strangers();
    test_gzip();
    test_targets();
    test_import();
    test_names();
    fx_end();
    return t_done();
}
