/*
 * instrument_options.h - options of nsc_instrument_app().
 */
#ifndef NSC_ANDROID_INSTRUMENT_INSTRUMENT_OPTIONS_H
#define NSC_ANDROID_INSTRUMENT_INSTRUMENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/text/pattern.h"

struct nsc_crypto_key;

/* Kinds of methods that can be excluded: bits of nsc_instrument_options.skip. */
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
    const char *output;    /* replaced if it exists */
    const char *side_file; /* output path of the method table; NULL: none */
    const char *libraries; /* folder with ABI/libnanoscope-app.so */
    struct nsc_instrument_patterns only, except, calls;
    uint32_t min_units;  /* exclude methods with less code (in 16-bit code units) */
    unsigned skip;       /* enum nsc_instrument_skip */
    const char *mapping; /* a mapping file of ProGuard or R8; or NULL */
    bool keep_debuggable;
    const char *const *permissions; /* full names */
    size_t permission_count;
    const struct nsc_crypto_key *key;
    /* Called periodically: @done of @total bytes of dex files. May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

#endif
