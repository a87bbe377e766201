/*
 * cc_plan.h - which compiler, which hook, which words to add. The one place that knows the flags:
 * used by cc, c++, flags and doctor. Runs the compiler only to ask what it is. Does not print.
 */
#ifndef NSC_CLI_BUILD_CC_PLAN_H
#define NSC_CLI_BUILD_CC_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"

enum nsc_cc_family { NSC_CC_OTHER, NSC_CC_GCC, NSC_CC_CLANG };
enum nsc_cc_isa { NSC_CC_ISA_OTHER, NSC_CC_X86_64, NSC_CC_AARCH64 };
enum nsc_cc_hook {
    NSC_CC_HOOK_DEFAULT,
    NSC_CC_HOOK_SLEDS,
    NSC_CC_HOOK_HEADER,
    NSC_CC_HOOK_PATCHABLE,
};
/* For messages about an option that takes one. */
#define NSC_CC_HOOK_NAMES "sleds, header, patchable or default"

#define NSC_CC_COMMAND_WORDS 16

/* A compiler's command, e.g. "ccache gcc" or "clang --target=aarch64-linux-gnu". */
struct nsc_cc_compiler {
    char text[1024];
    char *words[NSC_CC_COMMAND_WORDS + 1]; /* into text; ends with NULL */
    size_t word_count;
    size_t
        first_argument; /* words[first_argument - 1] is the compiler, those before it launch it */
    enum nsc_cc_family family;
    enum nsc_cc_isa isa;
};

/**
 * nsc_cc_compiler_split - split a compiler's command.
 * @command: words separated by blanks.
 * @out: filled but for family and isa.
 * Returns 0, -EINVAL (no word, or too many) or -ELOOP (it is nanoscope itself), @diag filled.
 */
int nsc_cc_compiler_split(const char *command, struct nsc_cc_compiler *out, struct nsc_diag *diag);

/**
 * nsc_cc_compiler_recognise - fill in family and isa; OTHER where they are not known.
 * @target: overrides the target it would have by itself (a triple); NULL: as its command says.
 *
 * By name where the name says enough (following symbolic links, as /usr/bin/cc needs), otherwise
 * by asking the preprocessor, which costs about 10 ms.
 */
void nsc_cc_compiler_recognise(struct nsc_cc_compiler *compiler, const char *target);

/* One of NSC_CC_HOOK_NAMES into @hook. Returns 0 or -EINVAL. */
int nsc_cc_hook_parse(const char *text, enum nsc_cc_hook *hook);
const char *nsc_cc_hook_name(enum nsc_cc_hook hook);

/**
 * nsc_cc_hook_resolve - the hook that @compiler will use.
 * @wanted: NSC_CC_HOOK_DEFAULT means sleds where there are any, else the header.
 * Returns 0, or -ENOTSUP with @diag filled if it has no such hook.
 */
int nsc_cc_hook_resolve(const struct nsc_cc_compiler *compiler, enum nsc_cc_hook wanted,
                        enum nsc_cc_hook *hook, struct nsc_diag *diag);

/* Where the parts lie that are linked into, or included by, a traced program. */
struct nsc_cc_parts {
    char lib[4096];        /* folder of the target's libraries */
    char module[4224];     /* nanoscope-module.o */
    char shared[4224];     /* libnanoscope.so */
    char archive[4224];    /* libnanoscope.a */
    char gcc_specs[4224];  /* nanoscope-gcc.specs: the compiler's part of gcc sleds */
    char gcc_sleds[4224];  /* nanoscope-gcc.specs.s: the assembler's */
    char header[4224];     /* nanoscope_hook.h */
    bool system_directory; /* the dynamic linker looks there by itself */
};

/**
 * nsc_cc_parts_find - find the parts for @isa and see that they are there.
 * @libdir: of this nanoscope. Parts for another machine than nanoscope's own lie in @libdir/<isa>/.
 * Returns 0, or -ENOENT with @diag naming what is missing.
 */
int nsc_cc_parts_find(const char *libdir, enum nsc_cc_isa isa, struct nsc_cc_parts *out,
                      struct nsc_diag *diag);

/* A growing list of words, for execv(). Words are copied. */
struct nsc_cc_words {
    char **at; /* ends with NULL */
    size_t count, room;
    bool failed; /* no memory: at is incomplete */
};

void nsc_cc_words_add(struct nsc_cc_words *w, const char *word);
__attribute__((format(printf, 2, 3))) void nsc_cc_words_addf(struct nsc_cc_words *w,
                                                             const char *format, ...);
/* Makes an empty list end with NULL, too. */
void nsc_cc_words_end(struct nsc_cc_words *w);
void nsc_cc_words_free(struct nsc_cc_words *w);

/* What the patchable hook asks for, -fpatchable-function-entry=: on AArch64 one instruction is
 * enough. */
static inline unsigned nsc_cc_nops(enum nsc_cc_isa isa)
{
    return isa == NSC_CC_AARCH64 ? 1 : 5;
}

/**
 * nsc_cc_add_compile - what makes the compiler emit @hook.
 * @by_name: functions are left out by name, which of clang's sleds only XRay's can: entries are
 * XRay's, too, then, and cost more (docs/adr/003-sleds.md).
 */
void nsc_cc_add_compile(struct nsc_cc_words *w, const struct nsc_cc_compiler *compiler,
                        enum nsc_cc_hook hook, const struct nsc_cc_parts *parts, bool by_name);
/* What a link needs before its first input, and after its last one. gcc takes the compile flags
 * again, since with -flto it is the link that compiles. */
void nsc_cc_add_link_first(struct nsc_cc_words *w, const struct nsc_cc_parts *parts);
void nsc_cc_add_link_last(struct nsc_cc_words *w, const struct nsc_cc_parts *parts, bool is_static);

#endif
