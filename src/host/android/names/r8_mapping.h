/*
 * r8_mapping.h - read the mapping file of ProGuard or R8, and look up the original names of
 * obfuscated methods.
 *
 * Called by instrument.c. Hostile input: memory is linear in the text; errors have one line of
 * diagnostic.
 *
 * A method is looked up by its class, name, parameters and return type in the APK, to distinguish
 * overloads. The file has the original types and the obfuscated names of classes, or R8 states the
 * new signature explicitly ("residualsignature"). For inlined methods, the result is the outermost
 * frame: the method that they were inlined into.
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
 * Returns 0 or -errno with @diag: -EBADMSG (not a mapping; the message names the line), -EFBIG
 * (4 GiB or more), -ENOMEM.
 */
int nsc_mapping_read(const char *text, size_t bytes, struct nsc_r8_mapping **out,
                     struct nsc_diag *diag);
void nsc_mapping_free(struct nsc_r8_mapping *m);

struct nsc_mapping_counts {
    uint32_t classes, methods;
    uint32_t ambiguous; /* methods with several originals: the first is taken */
};
void nsc_mapping_count(const struct nsc_r8_mapping *m, struct nsc_mapping_counts *out);

/* A method as in the APK. */
struct nsc_mapping_query {
    const char *holder;     /* "La/b;" */
    const char *name;       /* "a" */
    const char *descriptor; /* "(ILa/c;)V" */
    uint32_t line;          /* one of its lines in the APK, or 0 */
};

enum nsc_mapping_how {
    NSC_MAPPING_NONE = 0,   /* the class is not in the mapping: names are unchanged */
    NSC_MAPPING_CLASS = 1,  /* the class is, but not the method: its name is unchanged */
    NSC_MAPPING_METHOD = 2, /* the method is in the mapping */
};

struct nsc_mapping_found {
    enum nsc_mapping_how how;
    uint32_t others;  /* number of further possible originals */
    const char *file; /* source file, file_bytes long, in the mapping's text; NULL: unknown */
    size_t file_bytes;
    uint32_t line; /* source line of the query's line, or the method's first; 0: unknown */
};

/**
 * nsc_mapping_method - look up the original name of a method.
 * @signature: cleared, then receives "ret pkg.Class.method(args)" and a NUL, for any result; types
 *             in the mapping have their original names.
 * Returns 0, -EINVAL (@query has malformed descriptors) or -ENOMEM.
 */
int nsc_mapping_method(const struct nsc_r8_mapping *m, const struct nsc_mapping_query *query,
                       struct nsc_buffer *signature, struct nsc_mapping_found *found);

#endif
