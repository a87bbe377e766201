/* test_method_table.c - the table of methods: what is written is read, and what is damaged is
 * refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "android/names/method_table.h"
#include "tap.h"
#include "util/now.h"

#define BUILD "0123456789abcdef0123456789abcdef"
#define HEAD  "nanoscope methods 1\nbuild " BUILD "\n"

static struct nsc_methods_writer two(void)
{
    struct nsc_methods_writer w;

    nsc_methods_writer_begin(&w);
    CHECK_U64(nsc_methods_writer_add(&w, "void a.B.c(int, java.lang.String[])", "B.java", 12), 1);
    CHECK_U64(nsc_methods_writer_add(&w, "int a.B.<clinit>()\t\n\x7f", NULL, 0), 2);
    CHECK(nsc_methods_writer_end(&w) == 0);
    return w;
}

static void check_round(void)
{
    struct nsc_methods_writer w = two(), again = two();
    struct nsc_methods *m = NULL;
    struct nsc_method method;
    struct nsc_diag diag;

    CHECK_STR(w.build, again.build);
    CHECK(nsc_methods_read((char *)w.text.data, w.text.used, "table", &m, &diag) == 0);
    CHECK_U64(nsc_methods_count(m), 2);
    CHECK_STR(nsc_methods_build(m), w.build);
    CHECK(nsc_methods_get(m, 1, &method) == 0);
    CHECK_STR(method.signature, "void a.B.c(int, java.lang.String[])");
    CHECK_STR(method.file, "B.java");
    CHECK_U64(method.line, 12);
    CHECK(nsc_methods_get(m, 2, &method) == 0);
    CHECK_STR(method.signature, "int a.B.<clinit>()???");
    CHECK_STR(method.file, "");
    CHECK_U64(method.line, 0);
    CHECK(nsc_methods_get(m, 0, &method) == -ENOENT);
    CHECK(nsc_methods_get(m, 3, &method) == -ENOENT);
    CHECK(nsc_methods_get(m, UINT32_MAX, &method) == -ENOENT);
    nsc_methods_free(m);
    nsc_methods_writer_free(&again);
    nsc_methods_writer_begin(&again);
    nsc_methods_writer_add(&again, "void a.B.c(int, java.lang.String[])", "B.java", 13);
    CHECK(nsc_methods_writer_end(&again) == 0);
    CHECK(strcmp(w.build, again.build) != 0); /* another table, another fingerprint */
    nsc_methods_writer_free(&again);
    nsc_methods_writer_free(&w);
}

static void check_refused(const char *text, size_t bytes, const char *why)
{
    struct nsc_methods *m = NULL;
    struct nsc_diag diag = {.message = ""};

    CHECK(nsc_methods_read(text, bytes, "t", &m, &diag) == -EBADMSG);
    CHECK(m == NULL);
    if (!CHECK(strstr(diag.message, why) != NULL))
        printf("# %s\n", diag.message);
}

#define REFUSED(text, why) check_refused(text, sizeof text - 1, why)

static void check_damage(void)
{
    REFUSED("", "no table of methods");
    REFUSED("nanoscope methods 2\n", "no table of methods");
    REFUSED("nanoscope methods 1\n", "line 2");
    REFUSED("nanoscope methods 1\nbuild 12\n", "line 2");
    REFUSED(HEAD "2\tvoid a()\t\t0\n", "line 3: its id");
    REFUSED(HEAD "1\tvoid a()\t\t0\n1\tvoid b()\t\t0\n", "line 4: its id");
    REFUSED(HEAD "-1\tvoid a()\t\t0\n", "line 3: its id");
    REFUSED(HEAD "1\tvoid a()\t0\n", "line 3: no method");
    REFUSED(HEAD "1\t\t\t0\n", "line 3: no signature");
    REFUSED(HEAD "1\tvoid a()\t\t\n", "line 3: its source line");
    REFUSED(HEAD "1\tvoid a()\t\t4294967296\n", "line 3: its source line");
    REFUSED(HEAD "1\tvoid a()\t\t1x\n", "line 3: its source line");
    REFUSED(HEAD "1\tvoid\0a()\t\t1\n", "line 3: a NUL byte");
    REFUSED(HEAD "\n", "line 3: no method");
}

static void check_forms(void)
{
    static const char crlf[] =
        "nanoscope methods 1\r\nbuild " BUILD "\r\n1\tvoid a()\tA.kt\t4294967295";
    struct nsc_methods *m = NULL;
    struct nsc_method method;

    CHECK(nsc_methods_read(HEAD, sizeof HEAD - 1, "t", &m, NULL) == 0);
    CHECK_U64(nsc_methods_count(m), 0);
    nsc_methods_free(m);
    CHECK(nsc_methods_read(crlf, sizeof crlf - 1, "t", &m, NULL) == 0);
    CHECK_STR(nsc_methods_build(m), BUILD);
    CHECK(nsc_methods_get(m, 1, &method) == 0);
    CHECK_STR(method.file, "A.kt");
    CHECK_U64(method.line, UINT32_MAX);
    nsc_methods_free(m);
}

static void check_files(void)
{
    char path[] = "/tmp/nsc-methods-XXXXXX";
    int fd = mkstemp(path);
    struct nsc_methods *m = NULL;
    struct nsc_diag diag = {.message = ""};

    CHECK(fd >= 0 && write(fd, HEAD, sizeof HEAD - 1) == (ssize_t)sizeof HEAD - 1);
    close(fd);
    CHECK(nsc_methods_open(open(path, O_RDONLY | O_CLOEXEC), path, &m, &diag) == 0);
    nsc_methods_free(m);
    unlink(path);
    m = NULL;
    CHECK(nsc_methods_open(open("/", O_RDONLY | O_CLOEXEC), "/", &m, &diag) == -EISDIR);
    CHECK(m == NULL && strstr(diag.message, "/") != NULL);
}

/* 100,000 methods in less than 50 ms, in the best of five rounds. */
static void check_speed(void)
{
    struct nsc_methods_writer w;
    struct nsc_methods *m = NULL;
    struct nsc_method method;
    uint64_t best = UINT64_MAX;
    char name[128];

    nsc_methods_writer_begin(&w);
    for (uint32_t i = 1; i <= 100000; i++) {
        snprintf(name, sizeof name, "void com.example.some.package.Class%u.method%u(int, long)",
                 i / 10, i);
        nsc_methods_writer_add(&w, name, "Class.java", i);
    }
    CHECK(nsc_methods_writer_end(&w) == 0);
    for (int round = 0; round < 5; round++) {
        uint64_t start = nsc_now_ns(), took;

        nsc_methods_free(m);
        if (nsc_methods_read((char *)w.text.data, w.text.used, "t", &m, NULL) != 0)
            abort();
        took = nsc_now_ns() - start;
        best = took < best ? took : best;
    }
    printf("# read in %llu us\n", (unsigned long long)best / 1000);
    CHECK(T_SANITIZED || best < 50000000);
    CHECK(nsc_methods_get(m, 100000, &method) == 0);
    CHECK_STR(method.signature, "void com.example.some.package.Class10000.method100000(int, long)");
    nsc_methods_free(m);
    nsc_methods_writer_free(&w);
}

int main(void)
{
    check_round();
    check_damage();
    check_forms();
    check_files();
    check_speed();
    return t_done();
}
