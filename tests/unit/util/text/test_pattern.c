/* Name patterns: globs, regular expressions, and which part of a C++ name they look at. */
#include <errno.h>

#include "tap.h"
#include "util/text/pattern.h"

static bool matches(const char *pattern, const char *name)
{
    struct nsc_pattern *m = NULL;
    struct nsc_diag diag;
    bool yes;

    if (nsc_pattern_compile(pattern, &m, &diag) < 0) {
        printf("# %s\n", diag.message);
        return false;
    }
    yes = nsc_pattern_test(m, name);
    nsc_pattern_free(m);
    return yes;
}

static void globs(void)
{
    CHECK(matches("main", "main"));
    CHECK(!matches("main", "domain"));
    CHECK(!matches("main", "main2"));
    CHECK(matches("*", ""));
    CHECK(matches("lua*", "luaV_execute"));
    CHECK(matches("*_execute", "luaV_execute"));
    CHECK(!matches("*_execut", "luaV_execute"));
    CHECK(matches("a*b*c", "a-b-b-c"));
    CHECK(!matches("a*b*c", "a-c-b"));
    CHECK(matches("l?a", "lua"));
    CHECK(!matches("l?a", "la"));
    CHECK(matches("x[0-9]y", "x7y"));
    CHECK(!matches("x[!0-9]y", "x7y"));
    CHECK(matches("x[]]y", "x]y"));
    CHECK(matches("x[a-]y", "x-y"));
    CHECK(matches("operator\\*", "operator*"));
    CHECK(!matches("operator\\*", "operator*=="));
    CHECK(matches("*a*a*a*a*a*a*a*a*b",
                  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    CHECK(!matches("*a*a*a*a*a*a*a*a*b",
                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static bool matches_path(const char *pattern, const char *path)
{
    struct nsc_pattern *m = NULL;
    struct nsc_diag diag;
    bool yes = nsc_pattern_compile(pattern, &m, &diag) == 0 && nsc_pattern_test_path(m, path);

    nsc_pattern_free(m);
    return yes;
}

static void paths(void)
{
    CHECK(matches_path("/a/b.c", "/a/b.c"));
    CHECK(matches_path("b.c", "/a/b.c"));
    CHECK(matches_path("a/*.c", "/x/a/b.c"));
    CHECK(matches_path("/x/*.c", "/x/a/b.c"));
    CHECK(!matches_path("b.c", "/a/bb.c"));
    CHECK(!matches_path("a/b", "/a/b.c"));
    CHECK(matches_path("/^.a.b/", "/a/b.c"));
    CHECK(!matches_path("/^b/", "/a/b.c"));
}

static void regexes(void)
{
    struct nsc_pattern *m = NULL;
    struct nsc_diag diag = {0};

    CHECK(matches("/^lua[VG]_/", "luaV_execute"));
    CHECK(matches("/exec/", "luaV_execute"));
    CHECK(!matches("/^exec/", "luaV_execute"));
    CHECK(matches("/a|b+/", "xbbx"));
    CHECK(nsc_pattern_compile("/a(/", &m, &diag) == -EINVAL);
    CHECK(m == NULL);
    CHECK(strstr(diag.message, "/a(/") != NULL);
    CHECK(nsc_pattern_compile("//", &m, &diag) == -EINVAL);
    CHECK(nsc_pattern_compile("", &m, &diag) == -EINVAL);
    CHECK(nsc_pattern_compile("ab[c", &m, &diag) == -EINVAL);
    CHECK_U64(diag.offset, 2);
    CHECK(nsc_pattern_compile("ab\\", &m, NULL) == -EINVAL);
    /* A lone slash or a path-like glob is no regular expression. */
    CHECK(matches("/", "/"));
    CHECK(matches("/a", "/a"));
}

static void check_span(const char *name, const char *want)
{
    size_t start = 99, length = 99;
    char got[200];

    nsc_pattern_name_span(name, &start, &length);
    snprintf(got, sizeof got, "%.*s", (int)length, name + start);
    CHECK_STR(got, want);
}

static void cplusplus(void)
{
    check_span("main", "main");
    check_span("f(int)", "f");
    check_span("ns::f(int) const", "ns::f");
    check_span("void ns::f<int>(int)", "ns::f<int>");
    check_span("void ns::f<void (*)(int)>(int)", "ns::f<void (*)(int)>");
    check_span("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
    check_span("A::operator()(int) const", "A::operator()");
    check_span("operator<<(std::ostream&, A)", "operator<<");
    check_span("bool operator< <int>(A)", "operator< <int>");
    check_span("A::operator bool() const", "A::operator bool");
    check_span("operator new(unsigned long)", "operator new");
    check_span("f(int) [clone .part.0]", "f");
    check_span("f.part.0", "f.part.0");
    check_span("main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()");
    check_span("", "");
    CHECK(matches("ns::f", "ns::f(int)"));
    CHECK(matches("ns::*", "void ns::f<int>(int)"));
    CHECK(matches("ns::f<int>(int)", "void ns::f<int>(int)"));
    CHECK(matches("void *", "void ns::f<int>(int)"));
    CHECK(!matches("f", "ns::f(int)"));
    CHECK(matches("*::f", "ns::f(int)"));
}

/* The C library would take all memory for them. */
static void repetitions(void)
{
    static const char *const refused[] = {"/a++/",     "/a*{2}/",
                                          "/a{2}{3}/", "/(a{99}){99}/",
                                          "/a{9999}/", "/(((((((((a)+)+)+)+)+)+)+)+)+/"};
    static const char *const taken[] = {"/operator\\+\\+/", "/.*?get/", "/(ab)+c{3,5}/",
                                        "/[+*{]+x/"};
    struct nsc_pattern *m;
    struct nsc_diag diag;
    size_t i;

    for (i = 0; i < sizeof refused / sizeof refused[0]; i++)
        CHECK(nsc_pattern_compile(refused[i], &m, &diag) == -EINVAL);
    for (i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        CHECK(nsc_pattern_compile(taken[i], &m, &diag) == 0);
        nsc_pattern_free(m);
    }
}

int main(void)
{
    globs();
    regexes();
    paths();
    cplusplus();
    repetitions();
    return t_done();
}
