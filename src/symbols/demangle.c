/* demangle.c - nsc_symbols_demangle() of symbols.h: C++ names by libstdc++'s demangler, in a child.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/isolate.h"
#include "symbols/symbols.h"

#define NAME_BYTES_MAX  16384 /* longer linker names stay as they are */
#define CHILD_BYTES_MAX (256u << 20)

/* From libstdc++, which has no C header: see the Itanium C++ ABI, section 3.4. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming) */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

struct job {
    const char *const *symbols; /* all names that were asked for */
    const size_t *which;        /* those that are C++ names */
    char **out;
    char *last; /* in the child: the answer that is being sent */
};

/* std::string as people write it, in place: whole, it hides what a table of names is about. */
static void shorten_strings(char *name)
{
    static const char *const strings[] = {
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
        "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >",
    };
    static const char simple[] = "std::string";
    size_t i;

    for (i = 0; i < sizeof strings / sizeof *strings; i++) {
        size_t bytes = strlen(strings[i]);
        char *at = name;

        while ((at = strstr(at, strings[i])) != NULL) {
            const char *rest = at + bytes;

            if (rest[0] == ' ' && rest[1] == '>') /* stood between two '>' */
                rest++;
            at = (char *)memcpy(at, simple, sizeof simple - 1) + sizeof simple - 1;
            memmove(at, rest, strlen(rest) + 1);
        }
    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the shape that nsc_isolate_run() calls. */
static bool demangle_one(void *context, size_t index, uint32_t *number, const char **text,
                         size_t *text_bytes)
{
    struct job *job = context;
    int status;

    (void)number;
    free(job->last);
    job->last = __cxa_demangle(job->symbols[job->which[index]], NULL, NULL, &status);
    if (job->last == NULL)
        return false;
    shorten_strings(job->last);
    *text = job->last;
    *text_bytes = strlen(job->last);
    return true;
}

static void take_one(void *context, size_t index, uint32_t number, const char *text,
                     size_t text_bytes)
{
    struct job *job = context;
    char *copy;

    (void)number;
    if (text_bytes == 0)
        return;
    copy = strdup(text);
    if (copy != NULL) { /* else the linker name stays */
        free(job->out[job->which[index]]);
        job->out[job->which[index]] = copy;
    }
}

int nsc_symbols_demangle(const char *const *symbols, size_t count, char **out)
{
    size_t *which = malloc((count + 1) * sizeof *which), mangled = 0;
    char **names = calloc(count + 1, sizeof *names);
    bool whole = which != NULL && names != NULL;

    for (size_t i = 0; i < count && whole; i++) {
        names[i] = strdup(symbols[i]);
        whole = names[i] != NULL;
        if (strncmp(symbols[i], "_Z", 2) == 0 && strlen(symbols[i]) <= NAME_BYTES_MAX)
            which[mangled++] = i;
    }
    if (whole && mangled > 0) {
        struct job job = {symbols, which, names, NULL};
        struct nsc_isolate_task task = {
            .context = &job,
            .count = mangled,
            .memory_bytes = CHILD_BYTES_MAX,
            .answer = demangle_one,
            .take = take_one,
        };
        nsc_isolate_run(&task);
    }
    for (size_t i = 0; i < count && names != NULL; i++) {
        if (whole)
            out[i] = names[i];
        else
            free(names[i]);
    }
    free(names);
    free(which);
    return whole ? 0 : -ENOMEM;
}
