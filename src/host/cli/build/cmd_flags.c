/* cmd_flags.c - nanoscope flags: print the flags that nanoscope cc adds, for builds without it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/build/cc_plan.h"
#include "cli/command.h"
#include "cli/flags_options.h"

struct request {
    bool compile, link; /* what to print; both if neither was given */
    bool cxx, is_static;
    enum nsc_cc_hook hook;
    const char *compiler; /* NULL: from the environment */
};

static int read_request(const struct nsc_cli_args *args, struct request *r)
{
    for (size_t i = 0; i < args->option_count; i++) {
        const char *value = args->options[i].value;

        switch ((enum nsc_flags_option)args->options[i].id) {
        case NSC_FLAGS_OPT_CXXFLAGS:
            r->cxx = true;
            r->compile = true;
            break;
        case NSC_FLAGS_OPT_CFLAGS:
            r->compile = true;
            break;
        case NSC_FLAGS_OPT_LDFLAGS:
            r->link = true;
            break;
        case NSC_FLAGS_OPT_STATIC:
            r->is_static = true;
            break;
        case NSC_FLAGS_OPT_HOOK:
            if (nsc_cc_hook_parse(value, &r->hook) != 0)
                return nsc_cli_usage(args, "--hook is " NSC_CC_HOOK_NAMES ", not '%s'", value);
            break;
        case NSC_FLAGS_OPT_COMPILER:
            r->compiler = value;
            break;
        }
    }
    if (args->operand_count != 0)
        return nsc_cli_usage(args, "unexpected argument '%s'", args->operands[0]);
    if (!r->compile && !r->link)
        r->compile = r->link = true;
    return 0;
}

static const char *compiler_of(const struct request *r)
{
    const char *command = secure_getenv(r->cxx ? "NANOSCOPE_CXX" : "NANOSCOPE_CC");

    if (r->compiler != NULL)
        return r->compiler;
    return command != NULL && command[0] != '\0' ? command : r->cxx ? "c++" : "cc";
}

/* Print one word, quoted for a shell if necessary. */
static void put_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_=,./+:@%";

    if (word[strspn(word, plain)] == '\0') {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    }
    putchar('\'');
}

int nsc_cmd_flags(const struct nsc_cli_args *args)
{
    struct request r = {.hook = NSC_CC_HOOK_DEFAULT};
    struct nsc_cc_words words = {0};
    struct nsc_cc_compiler compiler;
    struct nsc_cc_parts parts;
    struct nsc_diag diag;
    enum nsc_cc_hook hook = NSC_CC_HOOK_DEFAULT;
    char libdir[4096];
    int status = read_request(args, &r);

    if (status != 0)
        return status;
    if (nsc_cli_libdir(libdir, sizeof libdir) != 0)
        return nsc_cli_error("cannot find nanoscope's own libraries");
    if (nsc_cc_compiler_split(compiler_of(&r), &compiler, &diag) != 0)
        return nsc_cli_fail(&diag);
    nsc_cc_compiler_recognise(&compiler, NULL);
    if (nsc_cc_hook_resolve(&compiler, r.hook, &hook, &diag) != 0 ||
        nsc_cc_parts_find(libdir, compiler.isa, &parts, &diag) != 0)
        return nsc_cli_fail(&diag);
    if (r.compile || (compiler.family == NSC_CC_GCC && hook == NSC_CC_HOOK_SLEDS))
        nsc_cc_add_compile(&words, &compiler, hook, &parts, false);
    if (r.link) {
        nsc_cc_add_link_first(&words, &parts);
        nsc_cc_add_link_last(&words, &parts, r.is_static);
    }
    for (size_t i = 0; i < words.count; i++) {
        if (i != 0)
            putchar(' ');
        put_word(words.at[i]);
    }
    putchar('\n');
    if (words.failed)
        status = nsc_cli_error("out of memory");
    nsc_cc_words_free(&words);
    return status;
}
