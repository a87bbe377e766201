/*
 * cc_args.h - parse a compiler's command line to find out what the compiler will do.
 *
 * Used by cmd_cc.c to decide what to add. Understands gcc's and clang's options as far as that
 * decision needs it; never changes the words. Does not print or exit.
 */
#ifndef NSC_CLI_BUILD_CC_ARGS_H
#define NSC_CLI_BUILD_CC_ARGS_H

#include <stdbool.h>
#include <stddef.h>

/* The stage after which the compiler stops. */
enum nsc_cc_stage {
    NSC_CC_QUERY, /* prints something (--version, -print-*, -E, -M, -fsyntax-only) or has no input
                   */
    NSC_CC_ASSEMBLY, /* -S */
    NSC_CC_OBJECT,   /* -c, or a precompiled header */
    NSC_CC_RELINK,   /* -r: a partial link */
    NSC_CC_LINK,
};

struct nsc_cc_args {
    enum nsc_cc_stage stage;
    bool has_source;   /* some input is compiled (not only assembled or linked) */
    bool language_set; /* -x was given: later inputs are taken as source files */
    bool shared;       /* -shared */
    bool is_static;    /* -static or -static-pie */
    bool no_libraries; /* -nostdlib, -nodefaultlibs or -nolibc, and no -lc */
    /* Why this command cannot be traced, as text for a message; NULL if it can. */
    const char *unsupported;
    bool hidden_pipe;     /* -pipe in a response file */
    bool own_instrument;  /* -finstrument-functions is the program's own */
    const char *own_nops; /* value of the program's own -fpatchable-function-entry=, or NULL */
    bool own_sleds; /* -fxray-instrument, -mnop-mcount, -mrecord-mcount, ...: the program's own */
    const char *target;   /* clang's --target, or NULL */
    const char **sources; /* inputs that are compiled; borrowed words, or from response files */
    size_t source_count;
    char **owned; /* words of response files */
    size_t owned_count;
};

/**
 * nsc_cc_args_read - parse the words after the compiler's name.
 * @words: ends with NULL; borrowed until nsc_cc_args_free().
 * @out: filled on success.
 *
 * @response files are read (they may hold options and inputs); one that cannot be read counts as
 * an input, as it does for the compiler. Returns 0 or -ENOMEM.
 */
int nsc_cc_args_read(char *const *words, struct nsc_cc_args *out);
void nsc_cc_args_free(struct nsc_cc_args *args);

#endif
