/* test_uftrace.c - records of uftrace: depths, gaps, arguments between them, events. */
#include <sys/stat.h>

#include "base/span.h"
#include "tap.h"
#include "unit/rigs/formats_fixture.h"

enum { ENTRY, EXIT, LOST, EVENT, MORE = 4 };

#define MAIN 0x400010u
#define LEAF 0x400020u

static uint8_t data[4096];
static size_t bytes;

static void put(uint64_t ns, unsigned kind, unsigned depth, uint64_t address)
{
    nsc_span_put64(data + bytes, ns);
    nsc_span_put64(data + bytes + 8,
                   (kind & 3) | (kind & MORE) | 5u << 3 | (uint64_t)depth << 6 | address << 16);
    bytes += 16;
}

/* @count words of 8 bytes behind a record. */
static void put_words(unsigned count, const uint64_t *words)
{
    for (unsigned i = 0; i < count; i++, bytes += 8)
        nsc_span_put64(data + bytes, words[i]);
}

static void make_folder(void)
{
    static const char rest[] = "exename:/bin/a\nelapsed_time:0.001 sec\n";
    static const char tasks[] = "SESS timestamp=0.000001000 pid=1 sid=00aa exename=\"/bin/a\"\n"
                                "TASK timestamp=0.000001000 tid=1 pid=1\n";
    static const char map[] = "000000400000-000000401000 r-xp 00000000 00:00 0   /bin/a\n";
    static const char symbols[] = "# path name: /bin/a\n0000000000000010 T main\n"
                                  "0000000000000020 T leaf\n0000000000000030 ? __sym_end\n";
    uint8_t info[40 + sizeof rest] = "Ftrace!";

    info[8] = 4;
    info[12] = 40;
    info[14] = 1;
    info[15] = 2;
    info[16] = 1u << 5;
    memcpy(info + 40, rest, sizeof rest);
    mkdir(fx_path("d"), 0700);
    fx_write("d/info", (const char *)info, sizeof info - 1);
    fx_write("d/task.txt", tasks, sizeof tasks - 1);
    fx_write("d/sid-00aa.map", map, sizeof map - 1);
    fx_write("d/a.sym", symbols, sizeof symbols - 1);
}

/* The calls of thread 1 as text: "name start-end depth bound, ...", by their ends. */
static const char *calls_of(const char **warning)
{
    static char text[1024];
    static struct nsc_diag diag;
    const struct nsc_event *e;
    struct nsc_trace *t = NULL;
    struct nsc_cursor *c;
    size_t n, used = 0;
    uint64_t starts[64];

    text[0] = '\0';
    *warning = "";
    fx_write("d/1.dat", (const char *)data, bytes);
    bytes = 0;
    if (nsc_formats_open(fx_path("d"), 0, &t, &diag) != 0) {
        printf("# %s\n", diag.message);
        return "refused";
    }
    *warning = diag.message;
    if (nsc_cursor_open(t, 0, 0, &c, NULL) == 0) {
        while (nsc_cursor_next(c, &e, &n, NULL) == 1)
            for (size_t i = 0; i < n; i++) {
                uint64_t start = e[i].depth < 64 ? starts[e[i].depth] : 0;

                if (e[i].kind == NSC_EVENT_ENTER)
                    starts[e[i].depth % 64] = e[i].ticks;
                else if (e[i].kind == NSC_EVENT_LOST)
                    used += (size_t)snprintf(text + used, sizeof text - used, "lost %u; ",
                                             (unsigned)e[i].value);
                else
                    used += (size_t)snprintf(text + used, sizeof text - used, "%s %u-%u%s; ",
                                             nsc_trace_function(t, e[i].function)->name,
                                             e[i].kind == NSC_EVENT_LATE_EXIT ? 0 : (unsigned)start,
                                             (unsigned)e[i].ticks,
                                             e[i].kind == NSC_EVENT_UNWIND ? "!" : "");
            }
        nsc_cursor_close(c);
    }
    nsc_trace_close(t);
    return text;
}

static void test_depths(void)
{
    const char *warning;

    put(1000, ENTRY, 0, MAIN);
    put(1100, ENTRY, 1, LEAF + 4);
    put(1200, EXIT, 1, LEAF + 4);
    put(1300, EXIT, 0, MAIN);
    CHECK_STR(calls_of(&warning), "leaf 1100-1200; main 1000-1300; ");
    CHECK_STR(warning, "");
    /* longjmp from below: the next entry says how far */
    put(1000, ENTRY, 0, MAIN);
    put(1100, ENTRY, 1, LEAF);
    put(1200, ENTRY, 2, LEAF);
    put(1300, ENTRY, 1, LEAF);
    put(1400, EXIT, 0, MAIN);
    CHECK_STR(calls_of(&warning),
              "leaf 1200-1300!; leaf 1100-1300!; leaf 1300-1400!; main 1000-1400; ");
    /* a child process returns from what its parent called */
    put(1000, EXIT, 1, LEAF);
    put(1100, ENTRY, 1, LEAF);
    put(1200, EXIT, 1, LEAF);
    CHECK_STR(calls_of(&warning), "leaf 0-1000; leaf 1100-1200; ");
    put(1000, ENTRY, 0, MAIN);
    put(1100, LOST, 0, 5);
    put(1200, EXIT, 2, LEAF);
    put(1300, EXIT, 0, MAIN);
    CHECK_STR(calls_of(&warning), "lost 5; leaf 0-1200; main 1000-1300; ");
}

static void test_arguments(void)
{
    /* words that pass for a time, for a record's second half, for both in turn */
    uint64_t lookalike[] = {1150, 5u << 3 | 1u << 6 | (uint64_t)0x123456 << 16, 1250, 1260, 0};
    const char *warning;

    put(1000, ENTRY | MORE, 0, MAIN);
    put_words(5, lookalike);
    put(1100, ENTRY | MORE, 1, LEAF);
    put_words(1, lookalike);
    put(1200, EXIT | MORE, 1, LEAF);
    put_words(2, lookalike + 2);
    put(1300, EXIT | MORE, 0, MAIN);
    put_words(3, lookalike);
    CHECK_STR(calls_of(&warning), "leaf 1100-1200; main 1000-1300; ");
    CHECK_STR(warning, "");
    put(1000, ENTRY | MORE, 0, MAIN);
    memset(data + bytes, 0xff, 2000);
    bytes += 2000;
    CHECK_STR(calls_of(&warning), "main 1000-1000!; ");
    CHECK(strstr(warning, "byte 16: arguments of a call whose end cannot be told") != NULL);
}

static void test_damage(void)
{
    const char *warning;

    put(1000, ENTRY, 0, MAIN);
    put(900, EXIT, 0, MAIN);
    CHECK_STR(calls_of(&warning), "main 1000-1000; ");
    CHECK(strstr(warning, "byte 16 goes back in time, as do 1 in all") != NULL);
    put(1000, ENTRY, 0, MAIN);
    data[24] = 0;
    bytes = 32;
    CHECK_STR(calls_of(&warning), "main 1000-1000!; ");
    CHECK(strstr(warning, "1.dat: byte 16: no record of uftrace") != NULL);
    put(1000, ENTRY, 0, 0x7000000);
    put(1100, EXIT, 0, 0x7000000);
    CHECK_STR(calls_of(&warning), "0x7000000 1000-1100; ");
}

int main(void)
{
    fx_begin();
    make_folder();
    test_depths();
    test_arguments();
    test_damage();
    for (const char *const *name =
             (const char *const[]){"info", "task.txt", "sid-00aa.map", "a.sym", "1.dat", NULL};
         *name != NULL; name++) {
        char path[64];

        snprintf(path, sizeof path, "d/%s", *name);
        unlink(fx_path(path));
    }
    rmdir(fx_path("d"));
    fx_end();
    return t_done();
}
