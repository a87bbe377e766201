/*
 * instrument.h - an Android app in, the same app out, whose methods call our hooks.
 *
 * Called by cli/ (`nanoscope inject`). Puts together what dex/, axml/ and apk/ can do. Must not
 * print.
 */
#ifndef NSC_ANDROID_INSTRUMENT_INSTRUMENT_H
#define NSC_ANDROID_INSTRUMENT_INSTRUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"
#include "util/text/pattern.h"

struct nsc_crypto_key;

/* Kinds of methods that can be left out: bits of nsc_instrument_options.skip. */
enum nsc_instrument_skip {
    NSC_INSTRUMENT_SKIP_INIT = 1u,
    NSC_INSTRUMENT_SKIP_CLINIT = 2u,
    NSC_INSTRUMENT_SKIP_FINALIZE = 4u,
    NSC_INSTRUMENT_SKIP_SYNTHETIC = 8u, /* ACC_SYNTHETIC or ACC_BRIDGE */
};

/* Patterns, borrowed. */
struct nsc_instrument_patterns {
    const struct nsc_pattern *const *at;
    size_t count;
};

struct nsc_instrument_options {
    size_t size; /* sizeof this structure */
    const char *input;
    const char *output;    /* replaced if it is there */
    const char *side_file; /* the table of methods; NULL: none */
    const char *libraries; /* folder that holds ABI/libnanoscope-app.so */
    struct nsc_instrument_patterns only, except, calls;
    uint32_t min_units;  /* methods with less code (in 16-bit units) are left out */
    unsigned skip;       /* enum nsc_instrument_skip */
    const char *mapping; /* a file of ProGuard's or R8's; or NULL */
    bool keep_debuggable;
    const char *const *permissions; /* full names */
    size_t permission_count;
    const struct nsc_crypto_key *key;
    /* Called now and then: @done of @total bytes of dex. May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

/* Why a method is not recorded. */
enum nsc_instrument_why {
    NSC_INSTRUMENT_RECORDED = 0, /* it is */
    NSC_INSTRUMENT_ABSTRACT,     /* no code */
    NSC_INSTRUMENT_NATIVE,       /* code that is not ours to rewrite */
    NSC_INSTRUMENT_FILTERED,     /* only, except */
    NSC_INSTRUMENT_SMALL,        /* min_units */
    NSC_INSTRUMENT_SKIPPED,      /* skip */
    NSC_INSTRUMENT_LEFT,         /* cannot be rewritten: nsc_instrument_left tells why */
    NSC_INSTRUMENT_WHYS,
};

/* The word for it: "recorded", "abstract" ... (static). */
const char *nsc_instrument_why_word(enum nsc_instrument_why why);

struct nsc_instrument_dex {
    char *name; /* "classes2.dex" */
    uint64_t bytes_before, bytes_after;
    uint32_t methods[NSC_INSTRUMENT_WHYS]; /* how many, by reason */
    uint32_t calls;                        /* call sites that are timed */
    uint32_t calls_left; /* that should be and are not: no register is free there */
    uint32_t held; /* instructions whose exceptions leave a method unseen: it holds a monitor */
    char *left;    /* why nothing in it was changed; NULL: it was */
};

/* A method that could not be rewritten. */
struct nsc_instrument_left {
    char *signature;
    char *reason;
};

/* A method of which not all is recorded. */
struct nsc_instrument_part {
    char *signature;
    uint32_t calls_left, held; /* as in nsc_instrument_dex */
};

struct nsc_instrument_library {
    char *path; /* in the app: "lib/x86_64/libnanoscope-app.so" */
    uint64_t bytes;
    bool stored; /* else deflated */
};

struct nsc_instrument_texts {
    char **at;
    size_t count;
    uint32_t room;
};

struct nsc_instrument_report {
    char *package;        /* "com.example.app" */
    char fingerprint[64]; /* of the table of methods */
    uint32_t methods[NSC_INSTRUMENT_WHYS];
    uint32_t ids;              /* 1 .. ids are in use: methods and called methods */
    uint32_t called;           /* called methods that have an id */
    uint32_t calls;            /* call sites that are timed */
    uint32_t calls_left, held; /* as in nsc_instrument_dex */
    struct nsc_instrument_dex *dex;
    size_t dex_count;
    uint32_t dex_room;
    struct nsc_instrument_left *left;
    size_t left_count;
    uint32_t left_room;
    struct nsc_instrument_part *parts;
    size_t part_count;
    uint32_t part_room;
    struct nsc_instrument_library *libraries;
    size_t library_count;
    uint32_t library_room;
    uint64_t bytes_before, bytes_after; /* of the APK */
    uint64_t dex_bytes_before, dex_bytes_after;
    uint64_t hook_bytes; /* of the dex file that was added */
    char *hook_name;     /* its name */
    bool was_debuggable, debuggable;
    struct nsc_instrument_texts permissions; /* that were added */
    struct nsc_instrument_texts warnings;    /* a line each */
    char *signer_before, *signer; /* SHA-256 of the certificate, in hex; NULL: was not signed */
    uint64_t ns;                  /* that it took */
};

/**
 * nsc_instrument - rewrite an app.
 * @report: receives what was done; release with nsc_instrument_report_free() in any case.
 *
 * Nothing appears under the names of the outputs before all is well. Returns 0 or -errno with
 * @diag: what nsc_apk_*(), nsc_dex_*() and nsc_axml_*() return, and -EINVAL (no app that can be
 * rewritten), -EALREADY (it is rewritten already), -ENOENT (no library for it).
 * Context: any thread. Memory: the largest dex file four times over, at most.
 */
int nsc_instrument_app(const struct nsc_instrument_options *options,
                       struct nsc_instrument_report *report, struct nsc_diag *diag);
void nsc_instrument_report_free(struct nsc_instrument_report *report);

#endif
