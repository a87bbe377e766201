/*
 * category.c - rules that assign functions to categories; see category.h.
 *
 * Rules come from a user's file, names from a trace: both are untrusted and checked.
 */
#include "analyze/functions/category.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"
#include "util/text/pattern.h"

#define CATEGORY_BYTES_MAX 200u
#define BY_MODULE          "@module" /* the category is named after the function's module */

enum kind { KIND_PREFIX, KIND_NAME, KIND_MODULE, KIND_FILE, KINDS };

static const char *const kind_names[KINDS] = {"prefix", "name", "module", "file"};

struct rule {
    enum kind kind;
    char *prefix;              /* KIND_PREFIX */
    struct nsc_pattern *match; /* the other kinds */
    char *category;
};

struct nsc_category_rules {
    struct rule *rules;
    uint32_t count, room;
};

const char *nsc_category_ready_rules(void)
{
    return "# Own code: each program and library is a category.\n"
           "module * -> @module\n"
           "\n"
           "# System libraries.\n"
           "module /lib/* -> system libraries\n"
           "module /lib32/* -> system libraries\n"
           "module /lib64/* -> system libraries\n"
           "module /usr/lib/* -> system libraries\n"
           "module /usr/lib32/* -> system libraries\n"
           "module /usr/lib64/* -> system libraries\n"
           "module /system/* -> system libraries\n"
           "module /apex/* -> system libraries\n"
           "module libc.so* -> libc\n"
           "module libc-*.so -> libc\n"
           "module libm.so* -> libc\n"
           "module libpthread.so* -> libc\n"
           "module libdl.so* -> libc\n"
           "module librt.so* -> libc\n"
           "module ld-linux*.so* -> libc\n"
           "module ld-musl-*.so* -> libc\n"
           "\n"
           "# What is compiled in from elsewhere.\n"
           "file */third_party/* -> third party\n"
           "file */third-party/* -> third party\n"
           "file */thirdparty/* -> third party\n"
           "file */3rdparty/* -> third party\n"
           "file */vendor/* -> third party\n"
           "\n"
           "# C++ standard library, also where templates made it part of a program.\n"
           "module libstdc++.so* -> C++ standard library\n"
           "module libc++.so* -> C++ standard library\n"
           "module libc++abi.so* -> C++ standard library\n"
           "module libgcc_s.so* -> C++ standard library\n"
           "prefix std:: -> C++ standard library\n"
           "prefix __gnu_cxx:: -> C++ standard library\n"
           "prefix __cxxabiv1:: -> C++ standard library\n"
           "prefix operator new -> C++ standard library\n"
           "prefix operator delete -> C++ standard library\n"
           "\n"
           "# Java and Android, by package.\n"
           "prefix java. -> Java platform\n"
           "prefix javax. -> Java platform\n"
           "prefix jdk. -> Java platform\n"
           "prefix sun. -> Java platform\n"
           "prefix com.sun. -> Java platform\n"
           "prefix libcore. -> Java platform\n"
           "prefix dalvik. -> Java platform\n"
           "prefix android. -> Android\n"
           "prefix com.android. -> Android\n"
           "prefix android.support. -> AndroidX\n"
           "prefix androidx. -> AndroidX\n"
           "prefix kotlin. -> Kotlin\n"
           "prefix kotlinx. -> Kotlin\n"
           "prefix rx. -> RxJava\n"
           "prefix io.reactivex. -> RxJava\n";
}

/* ---- Reading rules --------------------------------------------------------------------------- */

static void free_rule(struct rule *rule)
{
    free(rule->prefix);
    nsc_pattern_free(rule->match);
    free(rule->category);
}

static void forget_rules(struct nsc_category_rules *rules)
{
    while (rules->count > 0)
        free_rule(&rules->rules[--rules->count]);
}

void nsc_category_rules_free(struct nsc_category_rules *rules)
{
    if (!rules)
        return;
    forget_rules(rules);
    free(rules->rules);
    free(rules);
}

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r");
    length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL)
        length--;
    text[length] = '\0';
    return text;
}

/* Split "KIND PATTERN -> CATEGORY" at the last arrow, as names may contain one. */
static bool cut_rule(char *line, char **kind, char **pattern, char **category)
{
    char *arrow = NULL, *after;

    for (char *at = line; (at = strstr(at, " -> ")) != NULL; at++)
        arrow = at;
    after = line + strcspn(line, " \t");
    if (arrow == NULL || after >= arrow)
        return false;
    *arrow = *after = '\0';
    *kind = line;
    *pattern = trim(after + 1);
    *category = trim(arrow + 4);
    return **pattern != '\0' && **category != '\0';
}

static int bad_line(struct nsc_diag *diag, uint32_t number, const char *what, const char *why)
{
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EINVAL, "line %u: %s%.300s", number, what, why);
}

static int make_rule(struct rule *rule, const char *kind, const char *pattern, const char *category,
                     uint32_t line, struct nsc_diag *diag)
{
    struct nsc_diag cause = {.offset = NSC_DIAG_NO_OFFSET};
    int error = 0;

    while (rule->kind < KINDS && strcmp(kind_names[rule->kind], kind) != 0)
        rule->kind++;
    if (rule->kind == KINDS)
        return bad_line(diag, line, "a rule begins with prefix, name, module or file, not with ",
                        kind);
    if (strlen(category) > CATEGORY_BYTES_MAX)
        return bad_line(diag, line, "the category's name is too long: ", category);
    rule->category = strdup(category);
    if (rule->kind == KIND_PREFIX)
        rule->prefix = strdup(pattern);
    else
        error = nsc_pattern_compile(pattern, &rule->match, &cause);
    if (error == -EINVAL)
        return bad_line(diag, line, "", cause.message);
    return error != 0 || !rule->category || (rule->kind == KIND_PREFIX && !rule->prefix) ? -ENOMEM
                                                                                         : 0;
}

static int add_rule(struct nsc_category_rules *rules, char *line, uint32_t number,
                    struct nsc_diag *diag)
{
    char *kind, *pattern, *category;
    struct rule *grown, rule = {0};
    int error;

    if (rules->count == NSC_CATEGORY_RULES_MAX)
        return bad_line(diag, number, "there are more than 4096 rules", "");
    if (!cut_rule(line, &kind, &pattern, &category))
        return bad_line(diag, number,
                        "a rule is KIND PATTERN -> CATEGORY, as in: prefix std:: -> C++ library",
                        "");
    error = make_rule(&rule, kind, pattern, category, number, diag);
    grown =
        error == 0 ? nsc_array_grow(rules->rules, &rules->room, rules->count, sizeof rule) : NULL;
    if (grown == NULL) {
        free_rule(&rule);
        return error != 0 ? error : -ENOMEM;
    }
    rules->rules = grown;
    rules->rules[rules->count++] = rule;
    return 0;
}

static int read_rules(struct nsc_category_rules *rules, char *text, struct nsc_diag *diag)
{
    char *line, *rest = text;
    uint32_t number = 0;
    int error = 0;

    while (error == 0 && (line = strsep(&rest, "\n")) != NULL) {
        number++;
        line = trim(line);
        if (*line == '\0' || *line == '#')
            continue;
        if (strcmp(line, "reset") == 0)
            forget_rules(rules);
        else
            error = add_rule(rules, line, number, diag);
    }
    return error;
}

/* @text: not terminated. */
static int read_text(struct nsc_category_rules *rules, const char *text, size_t bytes,
                     struct nsc_diag *diag)
{
    const char *nul = memchr(text, '\0', bytes);
    char *copy;
    int error;

    if (nul != NULL)
        return nsc_diag_set(diag, (uint64_t)(nul - text), EINVAL,
                            "the file holds a zero byte: rules are lines of text");
    copy = malloc(bytes + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    error = read_rules(rules, copy, diag);
    free(copy);
    return error;
}

int nsc_category_rules_read(const char *text, size_t bytes, struct nsc_category_rules **out,
                            struct nsc_diag *diag)
{
    const char *ready = nsc_category_ready_rules();
    struct nsc_category_rules *rules = calloc(1, sizeof(*rules));
    int error = rules ? read_text(rules, ready, strlen(ready), diag) : -ENOMEM;

    if (error == 0 && text)
        error = read_text(rules, text, bytes, diag);
    if (error == 0) {
        *out = rules;
        return 0;
    }
    nsc_category_rules_free(rules);
    if (error == -ENOMEM)
        nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the rules");
    return error;
}

/* ---- Categories of functions ----------------------------------------------------------------- */

static bool fits(const struct rule *rule, const struct nsc_function *f, const char *module)
{
    size_t start, length;

    switch (rule->kind) {
    case KIND_PREFIX:
        nsc_pattern_name_span(f->name, &start, &length);
        return strlen(rule->prefix) <= length &&
               strncmp(f->name + start, rule->prefix, strlen(rule->prefix)) == 0;
    case KIND_NAME:
        return nsc_pattern_test(rule->match, f->name);
    case KIND_MODULE:
        return module != NULL && nsc_pattern_test_path(rule->match, module);
    case KIND_FILE:
        return f->file[0] != '\0' && nsc_pattern_test_path(rule->match, f->file);
    case KINDS:
        break;
    }
    return false;
}

/* The name of a function's category; NULL if no rule matches. */
static const char *category_of(const struct nsc_category_rules *rules, const struct nsc_trace *t,
                               const struct nsc_function *f)
{
    const char *module = f->module != NSC_NO_ID ? nsc_trace_module(t, f->module)->path : NULL;
    const char *slash;

    for (uint32_t i = rules->count; i-- > 0;) {
        if (!fits(&rules->rules[i], f, module))
            continue;
        if (strcmp(rules->rules[i].category, BY_MODULE) != 0)
            return rules->rules[i].category;
        slash = module != NULL ? strrchr(module, '/') : NULL;
        return slash != NULL && slash[1] != '\0' ? slash + 1 : module;
    }
    return NULL;
}

/* Find a category by name, or add it if there is room. Returns its number or -ENOMEM. */
static int number_of(struct nsc_categories *c, const char *name)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->names[i], name) == 0)
            return (int)i;
    if (c->count == NSC_CATEGORIES_MAX)
        return NSC_CATEGORY_OTHER;
    c->names[c->count] = strdup(name);
    if (!c->names[c->count])
        return -ENOMEM;
    return (int)c->count++;
}

int nsc_categories_make(const struct nsc_category_rules *rules, const struct nsc_trace *t,
                        struct nsc_categories *out)
{
    uint32_t functions = nsc_trace_info(t)->function_count;
    struct nsc_categories c = {.names = calloc(NSC_CATEGORIES_MAX, sizeof(*c.names)),
                               .of_function = calloc(functions + 1u, 1)};
    int number = !c.names || !c.of_function ? -ENOMEM : number_of(&c, "other");

    for (uint32_t i = 0; i < functions && number >= 0; i++) {
        const char *name =
            nsc_trace_canonical(t, i) == i ? category_of(rules, t, nsc_trace_function(t, i)) : NULL;

        if (name == NULL)
            continue;
        number = number_of(&c, name);
        c.of_function[i] = (uint8_t)(number >= 0 ? number : 0);
    }
    if (number < 0) {
        nsc_categories_free(&c);
        return number;
    }
    for (uint32_t i = 0; i < functions; i++)
        c.of_function[i] = c.of_function[nsc_trace_canonical(t, i)];
    *out = c;
    return 0;
}

void nsc_categories_free(struct nsc_categories *c)
{
    for (uint32_t i = 0; c->names && i < c->count; i++)
        free(c->names[i]);
    free(c->names);
    free(c->of_function);
    *c = (struct nsc_categories){0};
}
