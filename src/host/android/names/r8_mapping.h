/*
 * r8_mapping.h - the mapping file of ProGuard or R8: from the names that an obfuscator gave to
 * those of the source.
 *
 * Called by instrument.c. Hostile input: memory in proportion to the text, one line of diagnostic.
 *
 * A method is looked for by its class, name, parameters and return type as they are in the APK, so
 * that overloads stay apart: the file has their original types, whose obfuscated names it knows,
 * too, or R8 says outright what became of a signature ("residualsignature"). Where methods were
 * inlined into another, it is the other that is meant: the outermost frame.
 *
 * Source: the ProGuard manual (ReTrace), and R8's "retrace" documentation of mapping files up to
 * version 2.2.
 */
#ifndef NSC_ANDROID_NAMES_R8_MAPPING_H
#define NSC_ANDROID_NAMES_R8_MAPPING_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/diag.h"

struct nsc_r8_mapping;

/**
 * nsc_mapping_read - read a mapping.
 * @text: @bytes of it; borrowed until nsc_mapping_free().
 * @out: receives the mapping.
 * Returns 0 or -errno with @diag: -EBADMSG (no mapping; the message has the line), -EFBIG (4 GiB or
 * more), -ENOMEM.
 */
int nsc_mapping_read(const char *text, size_t bytes, struct nsc_r8_mapping **out,
                     struct nsc_diag *diag);
void nsc_mapping_free(struct nsc_r8_mapping *m);

struct nsc_mapping_counts {
    uint32_t classes, methods;
    uint32_t ambiguous; /* methods that stand for several originals: the first is taken */
};
void nsc_mapping_count(const struct nsc_r8_mapping *m, struct nsc_mapping_counts *out);

/* A method as the APK has it. */
struct nsc_mapping_query {
    const char *holder;     /* "La/b;" */
    const char *name;       /* "a" */
    const char *descriptor; /* "(ILa/c;)V" */
    uint32_t line;          /* one of its lines in the APK, or 0 */
};

enum nsc_mapping_how {
    NSC_MAPPING_NONE = 0,   /* the mapping does not know the class: names are as they are */
    NSC_MAPPING_CLASS = 1,  /* it knows the class, but no such method of it: the name is as it is */
    NSC_MAPPING_METHOD = 2, /* it knows the method */
};

struct nsc_mapping_found {
    enum nsc_mapping_how how;
    uint32_t others;  /* further originals that it may be */
    const char *file; /* source file, file_bytes long and in the mapping's text; NULL: not said */
    size_t file_bytes;
    uint32_t line; /* in that file: that of the query's line, or the method's first; 0: not said */
};

/**
 * nsc_mapping_method - what a method was called in the source.
 * @signature: cleared, then gets "ret pkg.Class.method(args)" and a NUL, whatever is found: types
 *             that are known have their original names.
 * Returns 0, -EINVAL (@query's texts are no descriptors) or -ENOMEM.
 */
int nsc_mapping_method(const struct nsc_r8_mapping *m, const struct nsc_mapping_query *query,
                       struct nsc_buffer *signature, struct nsc_mapping_found *found);

#endif
