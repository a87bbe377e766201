/*
 * cmd_cc.c - nanoscope cc and nanoscope c++: run the compiler with the flags for a traced program.
 *
 * Replaces the compiler in a build, so it must be indistinguishable from it: it adds words, then
 * executes the compiler with exec. A command that cannot be traced runs unchanged.
 * Reasons: docs/adr/004-compiler-wrapper.md.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/build/cc_args.h"
#include "cli/build/cc_plan.h"
#include "cli/c++_options.h"
#include "cli/cc_options.h"
#include "cli/command.h"

struct patterns {
    const char **at;
    size_t count;
};

struct request {
    enum nsc_cc_hook hook;
    struct patterns files, functions; /* excluded from the trace */
    int verbose;  /* NANOSCOPE_VERBOSE: 1 = print why not traced, 2 = the command too */
    char **words; /* the compiler's own words; ends with NULL */
};

static int set_hook(const struct nsc_cli_args *args, const char *from, const char *value,
                    struct request *r)
{
    if (nsc_cc_hook_parse(value, &r->hook) != 0)
        return nsc_cli_usage(args, "%s is " NSC_CC_HOOK_NAMES ", not '%s'", from, value);
    return 0;
}

/* Handle a word that may be a --nanoscope-* option among the compiler's words. @ours: receives
 * whether it is one. Returns 0 or an exit status after a message. */
static int take_own_word(const struct nsc_cli_args *args, const char *word, struct request *r,
                         bool *ours)
{
    static const char prefix[] = "--nanoscope-";
    const char *name = word + sizeof prefix - 1;
    const char *value = strchr(word, '=');
    size_t bytes;

    *ours = strncmp(word, prefix, sizeof prefix - 1) == 0;
    if (!*ours)
        return 0;
    if (value == NULL)
        return nsc_cli_usage(args, "%s needs a value: %s=...", word, word);
    bytes = (size_t)(value++ - name);
    if (bytes == strlen("hook") && memcmp(name, "hook", bytes) == 0)
        return set_hook(args, "--nanoscope-hook", value, r);
    if (bytes == strlen("exclude-file") && memcmp(name, "exclude-file", bytes) == 0)
        r->files.at[r->files.count++] = value;
    else if (bytes == strlen("exclude-func") && memcmp(name, "exclude-func", bytes) == 0)
        r->functions.at[r->functions.count++] = value;
    else
        return nsc_cli_usage(args, "unknown option %.*s", (int)strcspn(word, "="), word);
    return 0;
}

/* c++ has the options of cc, in the same order. */
_Static_assert((int)NSC_CC_OPT_HOOK == (int)NSC_CXX_OPT_HOOK &&
                   (int)NSC_CC_OPT_EXCLUDE_FILE == (int)NSC_CXX_OPT_EXCLUDE_FILE &&
                   (int)NSC_CC_OPT_EXCLUDE_FUNC == (int)NSC_CXX_OPT_EXCLUDE_FUNC,
               "one implementation for both verbs");

static int read_request(const struct nsc_cli_args *args, struct request *r)
{
    size_t kept = 0;
    int status = 0;
    const char *hook = getenv("NANOSCOPE_HOOK");
    const char *verbose = getenv("NANOSCOPE_VERBOSE");

    r->verbose = verbose != NULL ? atoi(verbose) : 0;
    if (hook != NULL && hook[0] != '\0')
        status = set_hook(args, "NANOSCOPE_HOOK", hook, r);
    for (size_t i = 0; i < args->option_count && status == 0; i++) {
        const char *value = args->options[i].value;

        switch ((enum nsc_cc_option)args->options[i].id) {
        case NSC_CC_OPT_HOOK:
            status = set_hook(args, "--hook", value, r);
            break;
        case NSC_CC_OPT_EXCLUDE_FILE:
            r->files.at[r->files.count++] = value;
            break;
        case NSC_CC_OPT_EXCLUDE_FUNC:
            r->functions.at[r->functions.count++] = value;
            break;
        }
    }
    for (size_t i = 0; i < args->operand_count && status == 0; i++) {
        bool ours = false;

        status = take_own_word(args, args->operands[i], r, &ours);
        if (!ours)
            r->words[kept++] = args->operands[i];
    }
    r->words[kept] = NULL;
    return status;
}

/* Why this command must run unchanged; NULL if it can be traced. */
static const char *reason_against(const struct nsc_cc_args *a, const struct nsc_cc_compiler *c,
                                  enum nsc_cc_hook hook)
{
    if (a->unsupported != NULL)
        return a->unsupported;
    if (a->no_libraries && a->stage == NSC_CC_LINK)
        return "linked without the C library (-nostdlib)";
    if (hook == NSC_CC_HOOK_HEADER)
        return a->own_instrument ? "the program brings its own -finstrument-functions" : NULL;
    if (a->own_sleds)
        return "the program brings its own sleds";
    if (c->family != NSC_CC_GCC || hook == NSC_CC_HOOK_PATCHABLE)
        return NULL;
    if (a->hidden_pipe)
        return "gcc sleds do not work with -pipe, which a response file asks for";
    /* The command that assembles the output later cannot know that it needs sleds. */
    if (a->stage == NSC_CC_ASSEMBLY)
        return "gcc sleds are made by the assembler (-S): use the header hook";
    return NULL;
}

static bool is_excluded(const struct patterns *p, const char *path)
{
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; i < p->count; i++)
        if (fnmatch(p->at[i], path, 0) == 0 ||
            (slash != NULL && fnmatch(p->at[i], slash + 1, 0) == 0))
            return true;
    return false;
}

/* Decide whether to compile the sources with hooks. Returns 0 or an exit status after a message. */
static int decide_sources(const struct nsc_cli_args *args, const struct nsc_cc_args *a,
                          const struct patterns *files, bool *hooked)
{
    size_t excluded = 0;

    for (size_t i = 0; i < a->source_count; i++)
        excluded += is_excluded(files, a->sources[i]) ? 1 : 0;
    if (excluded != 0 && excluded != a->source_count)
        return nsc_cli_usage(args,
                             "--exclude-file leaves out only some of the %zu files of one command: "
                             "compile them one by one",
                             a->source_count);
    *hooked = a->has_source && excluded == 0;
    return 0;
}

/* gcc matches parts of names, so only a pattern like '*text*' has an equivalent. */
static int add_gcc_function_list(const struct nsc_cli_args *args, const struct patterns *functions,
                                 struct nsc_cc_words *out)
{
    for (size_t i = 0; i < functions->count; i++) {
        const char *glob = functions->at[i];
        size_t bytes = strlen(glob);
        char list[512];
        size_t n = 0;

        if (bytes < 3 || glob[0] != '*' || glob[bytes - 1] != '*' || bytes * 2 > sizeof list ||
            memchr(glob + 1, '*', bytes - 2) != NULL || strpbrk(glob, "?[\\") != NULL)
            return nsc_cli_usage(args,
                                 "gcc leaves out functions by a part of their name only, written "
                                 "--exclude-func='*part*', not '%s'",
                                 glob);
        for (size_t k = 1; k + 1 < bytes; k++) {
            if (glob[k] == ',')
                list[n++] = '\\';
            list[n++] = glob[k];
        }
        nsc_cc_words_addf(out, "-finstrument-functions-exclude-function-list=%.*s", (int)n, list);
    }
    return 0;
}

/* clang reads its list from a file. A memfd needs no cleanup after exec. */
static int add_clang_function_list(const struct patterns *functions, struct nsc_cc_words *out)
{
    int fd = memfd_create("nanoscope-exclude", 0);

    if (fd < 0 || dprintf(fd, "[never]\n") < 0)
        return nsc_cli_error("cannot write the list of functions to leave out: %s",
                             strerror(errno));
    for (size_t i = 0; i < functions->count; i++)
        if (dprintf(fd, "fun:%s\n", functions->at[i]) < 0)
            return nsc_cli_error("cannot write the list of functions to leave out: %s",
                                 strerror(errno));
    /* -Xclang bypasses the driver, which would add the file to dependency lists (-MD). */
    nsc_cc_words_add(out, "-Xclang");
    nsc_cc_words_addf(out, "-fxray-attr-list=/proc/self/fd/%d", fd);
    return 0;
}

static int add_function_list(const struct nsc_cli_args *args, const struct patterns *functions,
                             const struct nsc_cc_compiler *c, enum nsc_cc_hook hook,
                             struct nsc_cc_words *out)
{
    if (functions->count == 0)
        return 0;
    if (c->family == NSC_CC_CLANG && hook == NSC_CC_HOOK_SLEDS)
        return add_clang_function_list(functions, out);
    if (c->family == NSC_CC_GCC && hook == NSC_CC_HOOK_HEADER)
        return add_gcc_function_list(args, functions, out);
    return nsc_cli_usage(args,
                         "%s with the %s hook cannot leave out functions by name: mark them "
                         "NANOSCOPE_NOTRACE, or record with -N",
                         c->family == NSC_CC_CLANG ? "clang" : "gcc", nsc_cc_hook_name(hook));
}

/* Check the program's own N or N,M: N nops, M of them before the entry, where calls do not execute
 * them. Returns 0 or an exit status after a message. */
static int check_nops(const struct nsc_cli_args *args, const char *numbers, unsigned least)
{
    char *end;
    unsigned long all = strtoul(numbers, &end, 10);

    if (all >= least && (*end != ',' || strtoul(end + 1, NULL, 10) == 0))
        return 0;
    return nsc_cli_usage(args,
                         "the patchable hook needs nops behind a function's entry: "
                         "-fpatchable-function-entry=%u or more and none before it, not %s",
                         least, numbers);
}

/* Append the arguments of a traced command to @out. Returns 0 or an exit status after a message. */
static int add_traced(const struct nsc_cli_args *args, const struct request *r, char *const *words,
                      const struct nsc_cc_args *a, const struct nsc_cc_compiler *c,
                      enum nsc_cc_hook hook, struct nsc_cc_words *out)
{
    struct nsc_cc_parts parts;
    struct nsc_diag diag;
    char libdir[4096], includedir[4096];
    bool hooked = false;
    bool gcc_sleds = c->family == NSC_CC_GCC && hook == NSC_CC_HOOK_SLEDS;
    /* With -flto the link compiles, and gcc makes its sleds after that. */
    bool relinks = a->stage == NSC_CC_LINK || a->stage == NSC_CC_RELINK;
    int status = nsc_cli_libdir(libdir, sizeof libdir);

    if (status == 0)
        status = nsc_cli_includedir(includedir, sizeof includedir);
    if (status != 0)
        return nsc_cli_error("cannot find nanoscope's own libraries: %s", strerror(-status));
    if (nsc_cc_parts_find(libdir, c->isa, &parts, &diag) != 0)
        return nsc_cli_fail(&diag);
    status = decide_sources(args, a, &r->files, &hooked);
    if (status == 0 && hooked)
        status = add_function_list(args, &r->functions, c, hook, out);
    if (status == 0 && hooked && hook == NSC_CC_HOOK_PATCHABLE && a->own_nops != NULL)
        status = check_nops(args, a->own_nops, nsc_cc_nops(c->isa));
    if (status != 0)
        return status;
    if (a->stage == NSC_CC_LINK)
        nsc_cc_add_link_first(out, &parts);
    if (hooked ||
        (relinks && !a->has_source && c->family == NSC_CC_GCC && hook == NSC_CC_HOOK_SLEDS))
        nsc_cc_add_compile(out, c, hook, &parts, r->functions.count != 0);
    /* For nanoscope/nanoscope.h. The last folder searched, so that it hides no other header. */
    if (a->has_source) {
        nsc_cc_words_add(out, "-idirafter");
        nsc_cc_words_add(out, includedir);
    }
    for (char *const *word = words; *word != NULL; word++)
        if (!gcc_sleds || strcmp(*word, "-pipe") != 0) /* see nanoscope-gcc.specs */
            nsc_cc_words_add(out, *word);
    if (a->stage == NSC_CC_LINK) {
        if (a->language_set)
            nsc_cc_words_add(out, "-xnone");
        nsc_cc_add_link_last(out, &parts, a->is_static);
    }
    return 0;
}

static void tell_command(const struct nsc_cc_words *w)
{
    fputs("nanoscope:", stderr);
    for (size_t i = 0; i < w->count; i++)
        fprintf(stderr, " %s", w->at[i]);
    fputc('\n', stderr);
}

/* Returns only on failure. */
static int become(char *const *words)
{
    int error;

    execvp(words[0], words);
    error = errno;
    nsc_cli_error("cannot run the compiler '%s': %s (set NANOSCOPE_CC or NANOSCOPE_CXX)", words[0],
                  strerror(error));
    return error == ENOENT ? NSC_CLI_NOT_FOUND : NSC_CLI_NOT_EXECUTABLE;
}

/*
 * Choose the hook of the command. *against: receives why the command is not traced, or NULL; the
 * text may be in @diag. Returns 0 or an exit status after a message.
 */
static int decide_hook(const struct request *r, const struct nsc_cc_args *a,
                       struct nsc_cc_compiler *c, enum nsc_cc_hook *hook, struct nsc_diag *diag,
                       const char **against)
{
    int error;

    nsc_cc_compiler_recognise(c, a->target);
    error = nsc_cc_hook_resolve(c, r->hook, hook, diag);
    if (error == 0) {
        *against = reason_against(a, c, *hook);
        return 0;
    }
    *against = diag->message;
    /* A hook that the user named and the compiler lacks is an error. A compiler without any hook is
     * not: it may build the build's own tools. */
    if (c->family == NSC_CC_OTHER || c->isa == NSC_CC_ISA_OTHER)
        return 0;
    return nsc_cli_fail(diag);
}

/* Append the arguments @words and the added flags to @out, which has the compiler's name. Returns 0
 * or an exit status after a message. */
static int plan_words(const struct nsc_cli_args *args, const struct request *r, char *const *words,
                      struct nsc_cc_compiler *c, struct nsc_cc_words *out)
{
    struct nsc_cc_args a;
    struct nsc_diag diag = {.message = ""};
    enum nsc_cc_hook hook = NSC_CC_HOOK_DEFAULT;
    const char *against = NULL;
    int status = 0;

    if (nsc_cc_args_read(words, &a) != 0)
        return nsc_cli_error("out of memory");
    if (a.stage != NSC_CC_QUERY)
        status = decide_hook(r, &a, c, &hook, &diag, &against);
    if (status == 0 && a.stage != NSC_CC_QUERY && against == NULL) {
        status = add_traced(args, r, words, &a, c, hook, out);
    } else if (status == 0) {
        if (against != NULL && r->verbose > 0)
            nsc_cli_warn("not traced: %s", against);
        for (char *const *word = words; *word != NULL; word++)
            nsc_cc_words_add(out, *word);
    }
    nsc_cc_args_free(&a);
    return status;
}

static int plan(const struct nsc_cli_args *args, const struct request *r, const char *command,
                struct nsc_cc_words *out)
{
    struct nsc_cc_compiler c;
    struct nsc_cc_words all = {0};
    struct nsc_diag diag;
    int status;

    if (nsc_cc_compiler_split(command, &c, &diag) != 0)
        return nsc_cli_fail(&diag);
    for (size_t i = 0; i < c.first_argument; i++)
        nsc_cc_words_add(out, c.words[i]);
    /* Arguments in the compiler's command are handled like those of the command line. */
    for (size_t i = c.first_argument; i < c.word_count; i++)
        nsc_cc_words_add(&all, c.words[i]);
    for (char **word = r->words; *word != NULL; word++)
        nsc_cc_words_add(&all, *word);
    nsc_cc_words_end(&all);
    if (all.at != NULL && !all.failed)
        status = plan_words(args, r, all.at, &c, out);
    else
        status = nsc_cli_error("out of memory");
    nsc_cc_words_free(&all);
    return status;
}

/* Does not return if the compiler could be started. */
static int run_request(const struct nsc_cli_args *args, struct request *r, const char *command)
{
    struct nsc_cc_words words = {0};
    int status = read_request(args, r);

    if (status == 0)
        status = plan(args, r, command, &words);
    if (status == 0 && r->verbose > 1)
        tell_command(&words);
    if (status == 0 && words.at != NULL && !words.failed)
        status = become(words.at);
    else if (status == 0)
        status = nsc_cli_error("out of memory");
    nsc_cc_words_free(&words);
    return status;
}

static int run(const struct nsc_cli_args *args, const char *variable, const char *default_command)
{
    const char *command = secure_getenv(variable);
    size_t room = args->operand_count + args->option_count + 1;
    struct request r = {
        .files.at = calloc(room, sizeof(char *)),
        .functions.at = calloc(room, sizeof(char *)),
        .words = calloc(room, sizeof(char *)),
    };
    int status;

    if (command == NULL || command[0] == '\0')
        command = default_command;
    if (r.files.at != NULL && r.functions.at != NULL && r.words != NULL)
        status = run_request(args, &r, command);
    else
        status = nsc_cli_error("out of memory");
    free(r.files.at);
    free(r.functions.at);
    free(r.words);
    return status;
}

int nsc_cmd_cc(const struct nsc_cli_args *args)
{
    return run(args, "NANOSCOPE_CC", "cc");
}

int nsc_cmd_cxx(const struct nsc_cli_args *args)
{
    return run(args, "NANOSCOPE_CXX", "c++");
}
