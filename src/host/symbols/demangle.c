/* demangle.c - nsc_symbols_demangle() of symbols.h: run libstdc++'s demangler in a child. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/cxx_name.h"
#include "symbols/isolated_child.h"
#include "symbols/symbols.h"

#define NAME_BYTES_MAX  16384 /* longer linker symbols are not demangled */
#define CHILD_BYTES_MAX (256u << 20)
#define TIME_MS         120000

/* From libstdc++, which has no C header. Source: Itanium C++ ABI, section 3.4. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-*,readability-identifier-naming) */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *bytes, int *status);

struct job {
    const char *const *symbols; /* all requested symbols */
    const size_t *which;        /* indexes of the C++ names among them */
    char **out;
    char *last; /* in the child: the last answer, kept until it has been sent */
};

/* Build "global constructors of x.cc", or "... of" a symbol of the file. */
static char *name_global(const char *meaning, const char *key)
{
    int status;
    char *readable = strncmp(key, "_Z", 2) == 0 ? __cxa_demangle(key, NULL, NULL, &status) : NULL;
    char *name = NULL;
    int n;

    if (readable != NULL)
        nsc_cxx_name_shorten(readable);
    n = asprintf(&name, "%s %s %s", meaning, strchr(key, '.') != NULL ? "of" : "keyed to",
                 readable != NULL ? readable : key);
    free(readable);
    return n < 0 ? NULL : name;
}

static char *readable_name(const char *symbol)
{
    const char *key, *meaning = nsc_cxx_name_global(symbol, &key);
    char *name;
    int status;

    if (meaning != NULL)
        return name_global(meaning, key);
    name = __cxa_demangle(symbol, NULL, NULL, &status);
    if (name != NULL)
        nsc_cxx_name_shorten(name);
    return name;
}

/* Its signature is fixed by struct nsc_isolate_task. */
/* NOLINTNEXTLINE(readability-non-const-parameter) */
static bool demangle_one(void *context, size_t index, uint32_t *number, const char **text,
                         size_t *text_bytes)
{
    struct job *job = context;

    (void)number;
    free(job->last);
    job->last = readable_name(job->symbols[job->which[index]]);
    if (job->last == NULL)
        return false;
    *text = job->last;
    *text_bytes = strlen(job->last);
    return true;
}

/* The child needs no files: if it is root, it becomes the overflow user, which owns none. */
static void drop_user(void *context)
{
    const struct nsc_credentials overflow = nsc_credentials_of_user(65534, 65534);

    (void)context;
    if (nsc_credentials_are_foreign(&overflow))
        (void)nsc_credentials_assume(&overflow); /* fails in a user namespace without that user */
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
    if (copy != NULL) { /* else keep the linker symbol */
        free(job->out[job->which[index]]);
        job->out[job->which[index]] = copy;
    }
}

static bool is_cxx(const char *symbol)
{
    const char *key;

    return strncmp(symbol, "_Z", 2) == 0 || nsc_cxx_name_global(symbol, &key) != NULL;
}

int nsc_symbols_demangle(const char *const *symbols, size_t count, char **out)
{
    size_t *which = malloc((count + 1) * sizeof *which), mangled = 0;
    char **names = calloc(count + 1, sizeof *names);
    bool whole = which != NULL && names != NULL;

    for (size_t i = 0; i < count && whole; i++) {
        names[i] = strdup(symbols[i]);
        whole = names[i] != NULL;
        if (is_cxx(symbols[i]) && strlen(symbols[i]) <= NAME_BYTES_MAX)
            which[mangled++] = i;
    }
    if (whole && mangled > 0) {
        struct job job = {symbols, which, names, NULL};
        struct nsc_isolate_task task = {
            .context = &job,
            .count = mangled,
            .memory_bytes = CHILD_BYTES_MAX,
            .time_ms = TIME_MS,
            .fds = {-1, -1},
            .open = drop_user,
            .answer = demangle_one,
            .take = take_one,
        };
        nsc_isolated_child_run(&task);
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
