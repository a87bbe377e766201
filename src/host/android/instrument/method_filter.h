/*
 * method_filter.h - which methods are recorded: the options' patterns and kinds.
 *
 * Private to inject/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_METHOD_FILTER_H
#define NSC_ANDROID_INSTRUMENT_METHOD_FILTER_H

#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "util/buffer.h"

/* A method as the options see it; texts are borrowed. */
struct nsc_instrument_method {
    const char *class_name; /* "com.example.Cart" */
    const char *name;       /* "add", as the dex file has it */
    const char *signature;  /* "void com.example.Cart.add(int)" */
    uint32_t access;        /* access flags of the dex file */
    bool has_code;
    uint32_t units; /* of code, 16 bits each */
};

/* Recorded, or why not. Never NSC_INSTRUMENT_LEFT. */
enum nsc_instrument_why nsc_instrument_choose(const struct nsc_instrument_options *options,
                                              const struct nsc_instrument_method *method);

/* Does one of the patterns match the method? Not if there are none. */
bool nsc_instrument_match(const struct nsc_instrument_patterns *patterns, const char *class_name,
                          const char *signature);

/* The class in a pretty signature, NUL terminated, in place of what is in @out. */
void nsc_instrument_class_of(const char *signature, struct nsc_buffer *out);

#endif
