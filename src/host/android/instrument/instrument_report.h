/*
 * instrument_report.h - results of nsc_instrument_app().
 */
#ifndef NSC_ANDROID_INSTRUMENT_INSTRUMENT_REPORT_H
#define NSC_ANDROID_INSTRUMENT_INSTRUMENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a method is not recorded. */
enum nsc_instrument_why {
    NSC_INSTRUMENT_RECORDED = 0, /* it is recorded */
    NSC_INSTRUMENT_ABSTRACT,     /* no code */
    NSC_INSTRUMENT_NATIVE,       /* native code */
    NSC_INSTRUMENT_FILTERED,     /* by the options only and except */
    NSC_INSTRUMENT_SMALL,        /* by the option min_units */
    NSC_INSTRUMENT_SKIPPED,      /* by the option skip */
    NSC_INSTRUMENT_LEFT,         /* cannot be instrumented: see nsc_instrument_left.reason */
    NSC_INSTRUMENT_WHYS,
};

/* Name of a reason: "recorded", "abstract" ... (static). */
const char *nsc_instrument_why_word(enum nsc_instrument_why why);

struct nsc_instrument_dex {
    char *name; /* "classes2.dex" */
    uint64_t bytes_before, bytes_after;
    uint32_t methods[NSC_INSTRUMENT_WHYS]; /* number of methods by reason */
    uint32_t calls;                        /* recorded call sites */
    uint32_t calls_left; /* selected call sites that could not be recorded: no free register */
    uint32_t held; /* instructions whose exceptions leave a method without exit: monitor held */
    char *left;    /* why the file is unchanged; NULL: it was changed */
};

/* A method that could not be instrumented. */
struct nsc_instrument_left {
    char *signature;
    char *reason;
};

/* A method that is recorded incompletely. */
struct nsc_instrument_part {
    char *signature;
    uint32_t calls_left, held; /* as in nsc_instrument_dex */
};

struct nsc_instrument_library {
    char *path; /* in the APK: "lib/x86_64/libnanoscope-app.so" */
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
    char fingerprint[64]; /* of the method table */
    uint32_t methods[NSC_INSTRUMENT_WHYS];
    uint32_t ids;              /* ids 1 .. ids are in use: methods and called methods */
    uint32_t called;           /* called methods that have an id */
    uint32_t calls;            /* recorded call sites */
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
    uint64_t hook_bytes; /* size of the added dex file */
    char *hook_name;     /* name of the added dex file */
    bool was_debuggable, debuggable;
    struct nsc_instrument_texts permissions; /* added permissions */
    struct nsc_instrument_texts warnings;    /* one line each */
    char *signer_before, *signer; /* SHA-256 of the certificate, in hex; NULL: not signed */
    uint64_t ns;                  /* elapsed time */
};

void nsc_instrument_report_free(struct nsc_instrument_report *report);

/* ---- Private to instrument/. Texts are copied. Each returns 0 or -ENOMEM. -------------------- */

int nsc_instrument_texts_add(struct nsc_instrument_texts *texts, const char *text);
int nsc_instrument_warn(struct nsc_instrument_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append an entry for a dex file to report->dex. */
int nsc_instrument_report_dex(struct nsc_instrument_report *report, const char *name,
                              uint64_t bytes);
int nsc_instrument_report_left(struct nsc_instrument_report *report, const char *signature,
                               const char *reason);
int nsc_instrument_report_part(struct nsc_instrument_report *report, const char *signature,
                               uint32_t calls_left, uint32_t held);
int nsc_instrument_report_library(struct nsc_instrument_report *report, const char *path,
                                  uint64_t bytes, bool stored);
/* Compute the sums over the dex files. */
void nsc_instrument_report_sum(struct nsc_instrument_report *report);

#endif
