/* test_category.c - which rule decides on a function's category, and what is no rule. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/functions/category.h"
#include "tap.h"
#include "trace/write/writer.h"

static char folder[] = "/tmp/nsc-test-category-XXXXXX";
static char path[64];

static const char *const modules[] = {"/opt/app/bin/app", "/usr/lib/libz.so.1",
                                      "/lib/x86_64-linux-gnu/libc.so.6"};

/* Name, module (-1: none), file, category by the ready rules. */
static const struct {
    const char *name;
    int module;
    const char *file, *category;
} functions[] = {
    {"main", 0, "", "app"},
    {"void std::sort<int*>(int*, int*)", 0, "", "C++ standard library"},
    {"my::std::sort()", 0, "", "app"},
    {"operator new(unsigned long)", 0, "", "C++ standard library"},
    {"deflate", 1, "", "system libraries"},
    {"malloc", 2, "", "libc"},
    {"json::parse(char const*)", 0, "/src/third_party/json/parse.cc", "third party"},
    {"void java.util.ArrayList.add(java.lang.Object)", -1, "", "Java platform"},
    {"java.lang.Object java.util.List.get(int)", -1, "", "Java platform"},
    {"void androidx.app.A.b()", -1, "", "AndroidX"},
    {"void android.support.A.b()", -1, "", "AndroidX"},
    {"void com.android.A.<init>(int)", -1, "", "Android"},
    {"void rx.Observable.subscribe()", -1, "", "RxJava"},
    {"kotlin.Unit com.example.A.b()", -1, "", "other"},
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

static struct nsc_trace *make_trace(void)
{
    struct nsc_writer_options options = {.size = sizeof options, .overwrite = true};
    struct nsc_diag diag = {0};
    struct nsc_trace *t = NULL;
    struct nsc_writer *w;
    uint32_t id;

    if (nsc_writer_create(path, &options, &w, &diag) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        nsc_writer_add_module(w, &(struct nsc_module){.path = modules[i]}, &id);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        struct nsc_function f = {.name = functions[i].name,
                                 .symbol = functions[i].name,
                                 .file = functions[i].file,
                                 .module = functions[i].module < 0 ? NSC_NO_ID
                                                                   : (uint32_t)functions[i].module};

        nsc_writer_add_function(w, &f, &id);
    }
    if (nsc_writer_finish(w, &diag) != 0 || nsc_trace_open(path, 0, &t, &diag) != 0)
        printf("# %s\n", diag.message);
    return t;
}

/* The category that rules give to a function; "" if they are none. */
static const char *sorted(const struct nsc_trace *t, const char *rules, uint32_t function)
{
    static char name[256];
    struct nsc_category_rules *r;
    struct nsc_categories c;

    name[0] = '\0';
    if (nsc_category_rules_read(rules, rules ? strlen(rules) : 0, &r, NULL) != 0)
        return name;
    if (nsc_categories_make(r, t, &c) == 0) {
        snprintf(name, sizeof name, "%s", c.names[c.of_function[function]]);
        nsc_categories_free(&c);
    }
    nsc_category_rules_free(r);
    return name;
}

static void test_rules(const struct nsc_trace *t)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        CHECK_STR(sorted(t, NULL, i), functions[i].category);
    CHECK_STR(sorted(t, "name main -> a\nname m* -> b", 0), "b");
    CHECK_STR(sorted(t, "name m* -> b\n  name  /^main$/  ->  a b  \r\n", 0), "a b");
    CHECK_STR(sorted(t, "module app -> mine", 0), "mine");
    CHECK_STR(sorted(t, "module bin/app -> mine", 0), "mine");
    CHECK_STR(sorted(t, "module ap -> mine", 0), "app");
    CHECK_STR(sorted(t, "file json/*.cc -> json", 6), "json");
    CHECK_STR(sorted(t, "prefix json:: -> json", 6), "json");
    CHECK_STR(sorted(t, "reset", 1), "other");
    CHECK_STR(sorted(t, "reset\nmodule * -> @module", 4), "libz.so.1");
    CHECK_STR(sorted(t, "name main -> @module", 0), "app");
    CHECK_STR(sorted(t, "prefix operator-> -> -> arrow", 0), "app");
    CHECK_STR(sorted(t, "# only a comment", 0), "app");
}

/* One category more than there is room for: "other". */
static void test_many(const struct nsc_trace *t)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct nsc_category_rules *r;
    struct nsc_diag diag = {0};

    for (uint32_t i = 0; i < NSC_CATEGORY_RULES_MAX; i++)
        fprintf(out, "name main -> %u\n", i);
    fclose(out);
    CHECK(nsc_category_rules_read(text, bytes, &r, &diag) == -EINVAL);
    CHECK(strstr(diag.message, "there are more than 4096 rules") != NULL);
    text[bytes / 2] = '\0';
    *strrchr(text, '\n') = '\0';
    CHECK(strlen(sorted(t, text, 0)) > 0);
    free(text);
}

static void test_errors(void)
{
    static const char *const bad[] = {
        "prefix x",     "prefix -> y",   "-> y",          "x", "prefix x->y", "prefix x -> ",
        "names x -> y", "name /(/ -> y", "name [a -> y\n"};
    struct nsc_category_rules *r;
    char longest[300];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct nsc_diag diag = {0};

        CHECK(nsc_category_rules_read(bad[i], strlen(bad[i]), &r, &diag) == -EINVAL &&
              strncmp(diag.message, "line 1: ", 8) == 0);
    }
    memset(longest, 'x', sizeof longest);
    memcpy(longest, "name x -> ", 10);
    CHECK(nsc_category_rules_read(longest, sizeof longest, &r, NULL) == -EINVAL);
    CHECK(nsc_category_rules_read("name\0x -> y", 11, &r, NULL) == -EINVAL);
}

int main(void)
{
    struct nsc_trace *t;

    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/a.nst", folder);
    t = make_trace();
    CHECK(t != NULL);
    if (t != NULL) {
        test_rules(t);
        test_many(t);
    }
    test_errors();
    nsc_trace_close(t);
    unlink(path);
    rmdir(folder);
    return t_done();
}
