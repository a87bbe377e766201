/*
 * cxx_name.c - see cxx_name.h.
 *
 * One pass copies the name and keeps a stack of the open template argument lists. When a list
 * closes, its arguments are already shortened, so a default is recognized by comparing texts.
 */
#include "symbols/cxx_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* limit of nested lists; deeper names are not changed */
#define ARGS_MAX  8  /* limit of a list with defaults: no standard container has more arguments */

struct list {
    size_t open; /* offset of its '<' in the copy */
    unsigned parentheses;
    size_t argument[ARGS_MAX]; /* offsets of the arguments */
    size_t count;              /* may exceed ARGS_MAX */
};

struct copy {
    char *out; /* has room for the name */
    size_t bytes;
    struct list lists[DEPTH_MAX];
    size_t depth;
    unsigned parentheses; /* number of open ( [ { */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static bool ends_with(const struct copy *c, const char *text)
{
    size_t bytes = strlen(text);

    return c->bytes >= bytes && memcmp(c->out + c->bytes - bytes, text, bytes) == 0;
}

static void put(struct copy *c, const char *text, size_t bytes)
{
    memcpy(c->out + c->bytes, text, bytes);
    c->bytes += bytes;
}

/* ---- Defaults -------------------------------------------------------------------------------- */

/* Default values of the last argument of templates in std; %0 and %1 stand for the first ones. */
static const struct {
    const char *template; /* without std:: */
    const char *text;
} defaults[] = {
    {"vector", "std::allocator<%0>"},
    {"deque", "std::allocator<%0>"},
    {"list", "std::allocator<%0>"},
    {"forward_list", "std::allocator<%0>"},
    {"basic_string", "std::allocator<%0>"},
    {"basic_string", "std::char_traits<%0>"},
    {"basic_string_view", "std::char_traits<%0>"},
    {"basic_stringstream", "std::allocator<%0>"},
    {"basic_ostringstream", "std::allocator<%0>"},
    {"basic_istringstream", "std::allocator<%0>"},
    {"basic_stringbuf", "std::allocator<%0>"},
    {"basic_", "std::char_traits<%0>"}, /* streams and their buffers */
    {"set", "std::allocator<%0>"},
    {"set", "std::less<%0>"},
    {"multiset", "std::allocator<%0>"},
    {"multiset", "std::less<%0>"},
    {"map", "std::allocator<std::pair<%0 const, %1>>"},
    {"map", "std::less<%0>"},
    {"multimap", "std::allocator<std::pair<%0 const, %1>>"},
    {"multimap", "std::less<%0>"},
    {"unordered_set", "std::allocator<%0>"},
    {"unordered_set", "std::equal_to<%0>"},
    {"unordered_set", "std::hash<%0>"},
    {"unordered_multiset", "std::allocator<%0>"},
    {"unordered_multiset", "std::equal_to<%0>"},
    {"unordered_multiset", "std::hash<%0>"},
    {"unordered_map", "std::allocator<std::pair<%0 const, %1>>"},
    {"unordered_map", "std::equal_to<%0>"},
    {"unordered_map", "std::hash<%0>"},
    {"unordered_multimap", "std::allocator<std::pair<%0 const, %1>>"},
    {"unordered_multimap", "std::equal_to<%0>"},
    {"unordered_multimap", "std::hash<%0>"},
    {"unique_ptr", "std::default_delete<%0>"},
    {"stack", "std::deque<%0>"},
    {"queue", "std::deque<%0>"},
    {"priority_queue", "std::less<%0>"},
    {"priority_queue", "std::vector<%0>"},
    /* Base classes in libstdc++. */
    {"_Vector_base", "std::allocator<%0>"},
    {"_Deque_base", "std::allocator<%0>"},
    {"_List_base", "std::allocator<%0>"},
    {"_Rb_tree", "std::allocator<%1>"},
    {"_Rb_tree", "std::less<%0>"},
    {"_Rb_tree", "std::_Select1st<%1>"},
    {"_Rb_tree", "std::_Identity<%1>"},
};

/* An argument's text in the copy, without the comma after it. */
static const char *argument(const struct copy *c, const struct list *l, size_t index, size_t *bytes)
{
    size_t end = index + 1 < l->count ? l->argument[index + 1] - strlen(", ") : c->bytes;

    *bytes = end - l->argument[index];
    return c->out + l->argument[index];
}

/* Whether @text equals @pattern with the first arguments inserted. */
static bool fits(const struct copy *c, const struct list *l, const char *pattern, const char *text,
                 size_t bytes)
{
    const char *end = text + bytes;

    for (; *pattern != '\0'; pattern++) {
        if (pattern[0] == '%') {
            size_t part_bytes;
            const char *part = argument(c, l, (size_t)(*++pattern - '0'), &part_bytes);

            if ((size_t)(end - text) < part_bytes || memcmp(text, part, part_bytes) != 0)
                return false;
            text += part_bytes;
        } else if (text == end || *text++ != *pattern) {
            return false;
        }
    }
    return text == end;
}

/* The template name before a list, without std::, and its length. NULL if it is not in std. */
static const char *std_template(const struct copy *c, const struct list *l, size_t *bytes)
{
    static const char space[] = "std::";
    size_t from = l->open, length = sizeof space - 1;

    while (from > 0 && is_word(c->out[from - 1]))
        from--;
    if (from < length || memcmp(c->out + from - length, space, length) != 0 ||
        (from > length && (is_word(c->out[from - length - 1]) || c->out[from - length - 1] == ':')))
        return NULL;
    *bytes = l->open - from;
    return c->out + from;
}

static bool is_default(const struct copy *c, const struct list *l, const char *name, size_t bytes)
{
    size_t last_bytes;
    const char *last = argument(c, l, l->count - 1, &last_bytes);

    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        size_t length = strlen(defaults[i].template);
        bool whole = defaults[i].template[length - 1] != '_';

        if (bytes < length || (whole && bytes != length) ||
            memcmp(name, defaults[i].template, length) != 0 ||
            (l->count < 3 && strstr(defaults[i].text, "%1") != NULL))
            continue;
        if (fits(c, l, defaults[i].text, last, last_bytes))
            return true;
    }
    return false;
}

/* After a list has closed: replace std::basic_string<char> by std::string, and so on. */
static void use_typedef(struct copy *c, const struct list *l, const char *name)
{
    static const char basic[] = "basic_";
    char *at = c->out + (name - c->out); /* the same address, writable */
    size_t prefix = sizeof basic - 1, length = l->open - (size_t)(at - c->out);

    if (length <= prefix || memcmp(at, basic, prefix) != 0)
        return;
    if (ends_with(c, "<char>") && c->bytes - l->open == strlen("<char>")) {
        memmove(at, at + prefix, length - prefix);
    } else if (ends_with(c, "<wchar_t>") && c->bytes - l->open == strlen("<wchar_t>")) {
        memmove(at + 1, at + prefix, length - prefix);
        *at++ = 'w';
    } else {
        return;
    }
    c->bytes = (size_t)(at - c->out) + length - prefix;
}

static void close_list(struct copy *c)
{
    const struct list *open = &c->lists[--c->depth];
    struct list l = *open;
    size_t bytes;
    const char *name = std_template(c, &l, &bytes);

    if (ends_with(c, " ") && !ends_with(c, ", ")) /* of "> >" */
        c->bytes--;
    while (name != NULL && l.count > 1 && l.count <= ARGS_MAX && is_default(c, &l, name, bytes))
        c->bytes = l.argument[--l.count] - strlen(", ");
    put(c, ">", 1);
    if (name != NULL)
        use_typedef(c, &l, name);
}

/* ---- Copying --------------------------------------------------------------------------------- */

/* Length of the operator symbol at @at, which follows the word `operator`. */
static size_t operator_sign(const char *at)
{
    static const char *const signs[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"};

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

/* Length of text to omit at @at: an inline namespace or an ABI tag; 0 if none. */
static size_t noise(const struct copy *c, const char *at)
{
    static const char *const spaces[] = {"__cxx11::", "__1::"};
    static const char tag[] = "[abi:cxx11]";

    if (strncmp(at, tag, sizeof tag - 1) == 0)
        return sizeof tag - 1;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (ends_with(c, "std::") && strncmp(at, spaces[i], strlen(spaces[i])) == 0)
            return strlen(spaces[i]);
    return 0;
}

static bool open_list(struct copy *c)
{
    struct list *l = &c->lists[c->depth];

    if (c->depth == DEPTH_MAX)
        return false;
    c->depth++;
    l->open = c->bytes;
    l->parentheses = c->parentheses;
    put(c, "<", 1);
    l->argument[0] = c->bytes;
    l->count = 1;
    return true;
}

/* Copy one character that is not part of a word. Returns false if the brackets do not match. */
static bool take_sign(struct copy *c, const char *at)
{
    struct list *l = c->depth > 0 ? &c->lists[c->depth - 1] : NULL;
    bool inside = l != NULL && l->parentheses == c->parentheses;

    if (*at == '<')
        return open_list(c);
    if (*at == '>' && inside) {
        close_list(c);
        return true;
    }
    if (strchr("([{", *at) != NULL) {
        c->parentheses++;
    } else if (strchr(")]}", *at) != NULL) {
        if (c->parentheses == 0 || inside)
            return false;
        c->parentheses--;
    }
    put(c, at, 1);
    if (at[0] == ' ' && inside && ends_with(c, ", ")) {
        if (l->count < ARGS_MAX)
            l->argument[l->count] = c->bytes;
        l->count++;
    }
    return true;
}

/* Copy and shorten the name. Returns false if it is malformed. */
static bool copy_name(struct copy *c, const char *name)
{
    static const char word_operator[] = "operator";

    for (const char *at = name; *at != '\0';) {
        bool begins = at == name || !is_word(at[-1]);
        size_t bytes = noise(c, at);

        if (bytes > 0) {
            at += bytes;
            continue;
        }
        if (begins && strncmp(at, word_operator, sizeof word_operator - 1) == 0 &&
            !is_word(at[sizeof word_operator - 1])) {
            bytes = sizeof word_operator - 1;
            bytes += operator_sign(at + bytes);
        } else if (strncmp(at, "->", 2) == 0) {
            bytes = 2;
        } else {
            while (is_word(at[bytes]))
                bytes++;
        }
        if (bytes > 0)
            put(c, at, bytes);
        else if (!take_sign(c, at++))
            return false;
        at += bytes;
    }
    return c->depth == 0 && c->parentheses == 0;
}

void nsc_cxx_name_shorten(char *name)
{
    struct copy c = {.out = malloc(strlen(name) + 1)};

    if (c.out != NULL && copy_name(&c, name)) {
        memcpy(name, c.out, c.bytes);
        name[c.bytes] = '\0';
    }
    free(c.out);
}

const char *nsc_cxx_name_global(const char *symbol, const char **key)
{
    static const struct {
        const char *prefix, *meaning;
    } kinds[] = {
        {"_GLOBAL__sub_I_", "global constructors"},
        {"_GLOBAL__sub_D_", "global destructors"},
        {"_GLOBAL__I_", "global constructors"},
        {"_GLOBAL__D_", "global destructors"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t bytes = strlen(kinds[i].prefix);

        if (strncmp(symbol, kinds[i].prefix, bytes) == 0 && symbol[bytes] != '\0') {
            *key = symbol + bytes;
            return kinds[i].meaning;
        }
    }
    return NULL;
}
