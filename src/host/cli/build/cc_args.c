/* cc_args.c - parses a compiler's command line; see cc_args.h. */
#include "cli/build/cc_args.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESPONSE_DEPTH_MAX 8
#define RESPONSE_BYTES_MAX (16u << 20)

struct reader {
    struct nsc_cc_args *args;
    const char *language; /* -x, NULL or "none" = by file name */
    bool stop_query, stop_assembly, stop_object, relink;
    bool no_std, has_libc, only_headers;
    size_t input_count;
    unsigned depth;
};

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

static bool begins(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* Options whose argument is the next word. */
static bool takes_next(const char *word)
{
    static const char *const options[] = {"-o",
                                          "-x",
                                          "-I",
                                          "-L",
                                          "-D",
                                          "-U",
                                          "-l",
                                          "-T",
                                          "-u",
                                          "-z",
                                          "-e",
                                          "-A",
                                          "-B",
                                          "-F",
                                          "-G",
                                          "-include",
                                          "-imacros",
                                          "-isystem",
                                          "-iquote",
                                          "-idirafter",
                                          "-iprefix",
                                          "-iwithprefix",
                                          "-iwithprefixbefore",
                                          "-isysroot",
                                          "-imultilib",
                                          "-iframework",
                                          "-include-pch",
                                          "-MF",
                                          "-MT",
                                          "-MQ",
                                          "-MJ",
                                          "-Xlinker",
                                          "-Xassembler",
                                          "-Xpreprocessor",
                                          "-Xclang",
                                          "-mllvm",
                                          "-target",
                                          "-arch",
                                          "--param",
                                          "--sysroot",
                                          "-aux-info",
                                          "-dumpbase",
                                          "-dumpbase-ext",
                                          "-dumpdir",
                                          "-wrapper",
                                          "--config",
                                          "-framework",
                                          "-ivfsoverlay",
                                          "-working-directory",
                                          "-serialize-diagnostics",
                                          "--serialize-diagnostics",
                                          "-gcc-toolchain",
                                          "-entry",
                                          "--entry",
                                          "--include",
                                          "--language",
                                          "--output",
                                          "-specs",
                                          "--specs",
                                          "-rpath",
                                          NULL};

    return is_one_of(word, options) || begins(word, "-Xarch_") || begins(word, "-Xopenmp");
}

/* Options that make the compiler print something instead of writing an object. */
static bool is_query(const char *word)
{
    static const char *const options[] = {"-E",
                                          "-M",
                                          "-MM",
                                          "-fsyntax-only",
                                          "-###",
                                          "-dumpversion",
                                          "-dumpfullversion",
                                          "-dumpmachine",
                                          "-dumpspecs",
                                          "--version",
                                          "--help",
                                          "--target-help",
                                          "--analyze",
                                          "--preprocess",
                                          "--dependencies",
                                          "--user-dependencies",
                                          NULL};

    return is_one_of(word, options) || begins(word, "-print-") || begins(word, "--print-") ||
           begins(word, "--help=");
}

static const char *extension(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name != NULL ? name : path, '.');

    return dot != NULL ? dot + 1 : "";
}

enum input_kind { INPUT_OTHER, INPUT_SOURCE, INPUT_HEADER };

static enum input_kind input_kind(const struct reader *r, const char *path)
{
    static const char *const headers[] = {"h",   "hh",  "H",   "hp",  "hxx",
                                          "hpp", "HPP", "h++", "tcc", NULL};
    static const char *const sources[] = {
        "c",   "i",   "ii",  "cc",  "cp",  "cxx", "cpp", "CPP", "c++", "C",   "cppm", "m",
        "mi",  "mm",  "mii", "M",   "f",   "for", "ftn", "F",   "FOR", "f90", "f95",  "f03",
        "f08", "F90", "F95", "F03", "F08", "d",   "adb", "ads", "go",  "bc",  "ll",   NULL};

    if (r->language != NULL) {
        if (begins(r->language, "assembler"))
            return INPUT_OTHER;
        return strstr(r->language, "header") != NULL ? INPUT_HEADER : INPUT_SOURCE;
    }
    if (is_one_of(extension(path), headers))
        return INPUT_HEADER;
    return is_one_of(extension(path), sources) ? INPUT_SOURCE : INPUT_OTHER;
}

static int take_input(struct reader *r, const char *path)
{
    enum input_kind kind = input_kind(r, path);
    struct nsc_cc_args *a = r->args;
    const char **grown;

    r->input_count++;
    r->only_headers &= kind == INPUT_HEADER;
    if (kind == INPUT_OTHER)
        return 0;
    grown = reallocarray(a->sources, a->source_count + 1, sizeof *grown);
    if (grown == NULL)
        return -ENOMEM;
    a->sources = grown;
    a->sources[a->source_count++] = path;
    a->has_source = true;
    return 0;
}

static void set_language(struct reader *r, const char *language)
{
    r->args->language_set = true;
    r->language = strcmp(language, "none") == 0 ? NULL : language;
}

/* Note an option that may conflict with the hooks. */
static void note_unsupported(struct nsc_cc_args *a, const char *word)
{
    static const char *const own_sleds[] = {"-fxray-instrument", "-mnop-mcount", "-mrecord-mcount",
                                            "-mfentry-name=",    "-mno-fentry",  NULL};

    if (strcmp(word, "-m32") == 0 || strcmp(word, "-mx32") == 0 || strcmp(word, "-m16") == 0)
        a->unsupported = "code of another word size (-m32, -mx32, -m16)";
    else if (strcmp(word, "-mcmodel=kernel") == 0 || strcmp(word, "-mcmodel=large") == 0)
        a->unsupported = "this code model (-mcmodel=)";
    else if (strcmp(word, "-D__KERNEL__") == 0 || strcmp(word, "-ffreestanding") == 0)
        a->unsupported = "freestanding code";
    else if (begins(word, "-finstrument-functions"))
        a->own_instrument = true;
    else if (begins(word, "-fpatchable-function-entry="))
        a->own_nops = strchr(word, '=') + 1;
    else if (is_one_of(word, own_sleds))
        a->own_sleds = true;
}

static void take_option(struct reader *r, const char *word)
{
    struct nsc_cc_args *a = r->args;

    if (is_query(word))
        r->stop_query = true;
    else if (strcmp(word, "-S") == 0 || strcmp(word, "--assemble") == 0)
        r->stop_assembly = true;
    else if (strcmp(word, "-c") == 0 || strcmp(word, "--compile") == 0)
        r->stop_object = true;
    else if (strcmp(word, "-r") == 0 || strcmp(word, "-Wl,-r") == 0 ||
             strcmp(word, "-Wl,--relocatable") == 0)
        r->relink = true;
    else if (strcmp(word, "-shared") == 0 || strcmp(word, "--shared") == 0)
        a->shared = true;
    else if (strcmp(word, "-static") == 0 || strcmp(word, "--static") == 0 ||
             strcmp(word, "-static-pie") == 0)
        a->is_static = true;
    else if (strcmp(word, "-nostdlib") == 0 || strcmp(word, "-nodefaultlibs") == 0 ||
             strcmp(word, "-nolibc") == 0)
        r->no_std = true;
    else if (strcmp(word, "-lc") == 0)
        r->has_libc = true;
    else if (begins(word, "-l"))
        r->input_count++;
    else if (strcmp(word, "-pipe") == 0)
        a->hidden_pipe |= r->depth != 0;
    else if (begins(word, "--target="))
        a->target = word + strlen("--target=");
    else if (begins(word, "-x"))
        set_language(r, word + 2);
    else
        note_unsupported(a, word);
}

/* Handle an option whose argument is the next word. */
static void take_pair(struct reader *r, const char *option, const char *value)
{
    if (strcmp(option, "-x") == 0 || strcmp(option, "--language") == 0)
        set_language(r, value);
    else if (strcmp(option, "-target") == 0)
        r->args->target = value;
    else if (strcmp(option, "-l") == 0)
        r->has_libc |= strcmp(value, "c") == 0;
    else if (strcmp(option, "-D") == 0 && strcmp(value, "__KERNEL__") == 0)
        note_unsupported(r->args, "-D__KERNEL__");
    if (strcmp(option, "-l") == 0)
        r->input_count++;
}

static int take_words(struct reader *r, char *const *words);

/* Split @text the way compilers split a response file; words go to @out (NULL terminated). */
static size_t split_response(char *text, char **out)
{
    size_t count = 0;
    char *to = text;

    for (;;) {
        char quote = '\0';

        while (isspace((unsigned char)*text))
            text++;
        if (*text == '\0')
            break;
        out[count++] = to;
        for (; *text != '\0' && (quote != '\0' || !isspace((unsigned char)*text)); text++) {
            if (*text == '\\' && text[1] != '\0')
                *to++ = *++text;
            else if (quote == '\0' && (*text == '"' || *text == '\''))
                quote = *text;
            else if (quote != '\0' && *text == quote)
                quote = '\0';
            else
                *to++ = *text;
        }
        if (*text != '\0')
            text++;
        *to++ = '\0';
    }
    out[count] = NULL;
    return count;
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t used = 0;
    size_t room = 0;

    if (f == NULL)
        return NULL;
    for (;;) {
        char *grown = used + 1 < room ? text : realloc(text, room += 65536);

        if (grown == NULL || room > RESPONSE_BYTES_MAX) {
            free(grown != NULL ? grown : text);
            text = NULL;
            break;
        }
        text = grown;
        used += fread(text + used, 1, room - used - 1, f);
        text[used] = '\0';
        if (feof(f) || ferror(f))
            break;
    }
    fclose(f);
    return text;
}

static int take_response(struct reader *r, const char *word)
{
    struct nsc_cc_args *a = r->args;
    char *text = r->depth < RESPONSE_DEPTH_MAX ? read_text(word + 1) : NULL;
    char **owned;
    char **words;
    int error;

    if (text == NULL)
        return take_input(r, word);
    owned = reallocarray(a->owned, a->owned_count + 1, sizeof *owned);
    /* At most one word per two bytes, and the final NULL. */
    words = calloc(strlen(text) / 2 + 2, sizeof *words);
    if (owned != NULL) {
        a->owned = owned;
        a->owned[a->owned_count++] = text;
    } else {
        free(text);
    }
    if (owned == NULL || words == NULL) {
        free(words);
        return -ENOMEM;
    }
    split_response(text, words);
    r->depth++;
    error = take_words(r, words);
    r->depth--;
    free(words);
    return error;
}

static int take_words(struct reader *r, char *const *words)
{
    int error = 0;

    for (; *words != NULL && error == 0; words++) {
        const char *word = *words;

        if (word[0] == '@')
            error = take_response(r, word);
        else if (word[0] != '-' || word[1] == '\0')
            error = take_input(r, word);
        else if (takes_next(word) && words[1] != NULL)
            take_pair(r, word, *++words);
        else
            take_option(r, word);
    }
    return error;
}

int nsc_cc_args_read(char *const *words, struct nsc_cc_args *out)
{
    struct nsc_cc_args args = {0};
    struct reader r = {.args = &args, .only_headers = true};
    int error = take_words(&r, words);

    if (error != 0) {
        nsc_cc_args_free(&args);
        return error;
    }
    args.no_libraries = r.no_std && !r.has_libc;
    if (r.stop_query || r.input_count == 0)
        args.stage = NSC_CC_QUERY;
    else if (r.stop_assembly)
        args.stage = NSC_CC_ASSEMBLY;
    else if (r.stop_object || (r.only_headers && args.has_source))
        args.stage = NSC_CC_OBJECT;
    else
        args.stage = r.relink ? NSC_CC_RELINK : NSC_CC_LINK;
    *out = args;
    return 0;
}

void nsc_cc_args_free(struct nsc_cc_args *args)
{
    for (size_t i = 0; i < args->owned_count; i++)
        free(args->owned[i]);
    free(args->owned);
    free(args->sources);
    *args = (struct nsc_cc_args){0};
}
