/*
 * method_filter.h - select the methods that are recorded, by the options' patterns and kinds.
 *
 * Private to instrument/.
 */
#ifndef NSC_ANDROID_INSTRUMENT_METHOD_FILTER_H
#define NSC_ANDROID_INSTRUMENT_METHOD_FILTER_H

#include "android/instrument/instrument_options.h"
#include "android/instrument/instrument_report.h"
#include "util/buffer.h"

/* Properties of a method that the options refer to; texts are borrowed. */
struct nsc_instrument_method {
    const char *class_name; /* "com.example.Cart" */
    const char *name;       /* "add", as in the dex file */
    const char *signature;  /* "void com.example.Cart.add(int)" */
    uint32_t access;        /* access flags of the dex file */
    bool has_code;
    uint32_t units; /* size of its code in 16-bit units */
};

/* Decide whether a method is recorded, or why not. Never returns NSC_INSTRUMENT_LEFT. */
enum nsc_instrument_why nsc_instrument_choose(const struct nsc_instrument_options *options,
                                              const struct nsc_instrument_method *method);

/* Whether one of the patterns matches the method; false if there are none. */
bool nsc_instrument_match(const struct nsc_instrument_patterns *patterns, const char *class_name,
                          const char *signature);

/* Extract the class name of a pretty signature. Replaces the contents of @out; NUL terminated. */
void nsc_instrument_class_of(const char *signature, struct nsc_buffer *out);

#endif
