/* cc_plan.c - hooks, parts and flags; see cc_plan.h. */
#include "cli/build/cc_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nsc_cc_hook_parse(const char *text, enum nsc_cc_hook *hook)
{
    for (enum nsc_cc_hook h = NSC_CC_HOOK_DEFAULT; h <= NSC_CC_HOOK_PATCHABLE; h++) {
        if (strcmp(text, nsc_cc_hook_name(h)) == 0) {
            *hook = h;
            return 0;
        }
    }
    return -EINVAL;
}

const char *nsc_cc_hook_name(enum nsc_cc_hook hook)
{
    switch (hook) {
    case NSC_CC_HOOK_SLEDS:
        return "sleds";
    case NSC_CC_HOOK_HEADER:
        return "header";
    case NSC_CC_HOOK_PATCHABLE:
        return "patchable";
    case NSC_CC_HOOK_DEFAULT:
        break;
    }
    return "default";
}

int nsc_cc_hook_resolve(const struct nsc_cc_compiler *compiler, enum nsc_cc_hook wanted,
                        enum nsc_cc_hook *hook, struct nsc_diag *diag)
{
    bool has_sleds = compiler->family == NSC_CC_CLANG || compiler->isa == NSC_CC_X86_64;

    if (compiler->family == NSC_CC_OTHER)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP, "%s is neither gcc nor clang",
                            compiler->words[0]);
    if (compiler->isa == NSC_CC_ISA_OTHER)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "%s compiles for a machine other than x86-64 and AArch64 Linux",
                            compiler->words[0]);
    if (wanted == NSC_CC_HOOK_SLEDS && !has_sleds)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOTSUP,
                            "gcc has sleds on x86-64 only: use the header hook, or clang");
    if (wanted == NSC_CC_HOOK_DEFAULT)
        *hook = has_sleds ? NSC_CC_HOOK_SLEDS : NSC_CC_HOOK_HEADER;
    else
        *hook = wanted;
    return 0;
}

static bool is_system_directory(const char *path)
{
    static const char *const known[] = {"/lib",
                                        "/usr/lib",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib/aarch64-linux-gnu",
                                        "/usr/lib/aarch64-linux-gnu"};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(path, known[i]) == 0)
            return true;
    return false;
}

static bool is_own_isa(enum nsc_cc_isa isa)
{
#if defined(__x86_64__)
    return isa == NSC_CC_X86_64;
#elif defined(__aarch64__)
    return isa == NSC_CC_AARCH64;
#else
    return isa == NSC_CC_ISA_OTHER;
#endif
}

int nsc_cc_parts_find(const char *libdir, enum nsc_cc_isa isa, struct nsc_cc_parts *out,
                      struct nsc_diag *diag)
{
    const char *isa_name = isa == NSC_CC_AARCH64 ? "aarch64" : "x86_64";
    struct nsc_cc_parts p;
    const struct {
        const char *name;
        char *path;
        size_t bytes;
        bool needed;
    } files[] = {
        {"nanoscope-module.o", p.module, sizeof p.module, true},
        {"libnanoscope.so", p.shared, sizeof p.shared, true},
        {"libnanoscope.a", p.archive, sizeof p.archive, true},
        {"nanoscope_hook.h", p.header, sizeof p.header, true},
        {"nanoscope-gcc.specs", p.gcc_specs, sizeof p.gcc_specs, isa == NSC_CC_X86_64},
        {"nanoscope-gcc.specs.s", p.gcc_sleds, sizeof p.gcc_sleds, isa == NSC_CC_X86_64},
    };

    if ((size_t)snprintf(p.lib, sizeof p.lib, "%s%s%s", libdir, is_own_isa(isa) ? "" : "/",
                         is_own_isa(isa) ? "" : isa_name) >= sizeof p.lib)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENAMETOOLONG, "the path of %s is too long",
                            libdir);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(files[i].path, files[i].bytes, "%s/%s", p.lib, files[i].name);
        if (files[i].needed && access(files[i].path, R_OK) != 0)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOENT, "%s is missing: %s%s",
                                files[i].path,
                                is_own_isa(isa) ? "build or install nanoscope for "
                                                : "run, in nanoscope's source, make target "
                                                  "CROSS=TRIPLE- && make install, for ",
                                isa_name);
    }
    p.system_directory = is_system_directory(p.lib);
    *out = p;
    return 0;
}

/* Make room for one more word and the final NULL. */
static bool make_room(struct nsc_cc_words *w)
{
    size_t room = w->room != 0 ? w->room * 2 : 64;
    char **grown;

    if (w->count + 1 < w->room)
        return true;
    grown = reallocarray(w->at, room, sizeof *grown);
    if (grown == NULL) {
        w->failed = true;
        return false;
    }
    w->at = grown;
    w->room = room;
    return true;
}

void nsc_cc_words_end(struct nsc_cc_words *w)
{
    if (make_room(w))
        w->at[w->count] = NULL;
}

void nsc_cc_words_add(struct nsc_cc_words *w, const char *word)
{
    char *copy = strdup(word);

    if (copy == NULL || !make_room(w)) {
        w->failed = true;
        free(copy);
        return;
    }
    w->at[w->count++] = copy;
    w->at[w->count] = NULL;
}

void nsc_cc_words_addf(struct nsc_cc_words *w, const char *format, ...)
{
    char *word = NULL;
    va_list ap;

    va_start(ap, format);
    if (vasprintf(&word, format, ap) < 0)
        word = NULL;
    va_end(ap);
    if (word != NULL)
        nsc_cc_words_add(w, word);
    else
        w->failed = true;
    free(word);
}

void nsc_cc_words_free(struct nsc_cc_words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->at[i]);
    free(w->at);
    *w = (struct nsc_cc_words){0};
}

void nsc_cc_add_compile(struct nsc_cc_words *w, const struct nsc_cc_compiler *compiler,
                        enum nsc_cc_hook hook, const struct nsc_cc_parts *parts, bool by_name)
{
    if (hook == NSC_CC_HOOK_HEADER) {
        nsc_cc_words_add(w, "-finstrument-functions");
        nsc_cc_words_add(w, "-include");
        nsc_cc_words_add(w, parts->header);
    } else if (hook == NSC_CC_HOOK_PATCHABLE) {
        nsc_cc_words_addf(w, "-fpatchable-function-entry=%u", nsc_cc_nops(compiler->isa));
    } else if (compiler->family == NSC_CC_CLANG) {
        nsc_cc_words_add(w, "-fxray-instrument");
        nsc_cc_words_add(w, "-fxray-instruction-threshold=1");
        nsc_cc_words_add(w, "-fnoxray-link-deps");
        if (compiler->isa == NSC_CC_X86_64 && !by_name) {
            nsc_cc_words_add(w, "-fxray-instrumentation-bundle=function-exit");
            /* clang's driver rejects both options together, as both would add entry sleds. XRay
             * instruments only exits here, so -Xclang bypasses the driver. */
            nsc_cc_words_add(w, "-Xclang");
            nsc_cc_words_add(w, "-fpatchable-function-entry=5");
        }
    } else {
        nsc_cc_words_addf(w, "-specs=%s", parts->gcc_specs);
        nsc_cc_words_addf(w, "-Wa,%s", parts->gcc_sleds);
    }
}

void nsc_cc_add_link_first(struct nsc_cc_words *w, const struct nsc_cc_parts *parts)
{
    nsc_cc_words_add(w, parts->module);
}

void nsc_cc_add_link_last(struct nsc_cc_words *w, const struct nsc_cc_parts *parts, bool is_static)
{
    if (is_static) {
        nsc_cc_words_add(w, parts->archive);
        return;
    }
    /* By path: -l would select the archive if the command line leaves -Bstatic in effect. */
    nsc_cc_words_add(w, parts->shared);
    if (!parts->system_directory)
        nsc_cc_words_addf(w, "-Wl,-rpath,%s", parts->lib);
}
