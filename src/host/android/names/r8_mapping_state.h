/*
 * r8_mapping_state.h - a mapping in memory; between r8_mapping.c (look up) and r8_mapping_read.c.
 */
#ifndef NSC_ANDROID_NAMES_R8_MAPPING_STATE_H
#define NSC_ANDROID_NAMES_R8_MAPPING_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NSC_MAPPING_NO UINT32_MAX

/* A part of the text. */
struct nsc_mapping_part {
    const char *at;
    uint32_t bytes;
};

struct nsc_mapping_class {
    struct nsc_mapping_part original, obfuscated; /* "a.b.C" */
    struct nsc_mapping_part file;                 /* source file; at NULL: not said */
};

/* Lines of the APK, and what they are in the source. */
struct nsc_mapping_range {
    uint32_t first, last;         /* in the APK; both 0: not said */
    uint32_t source, source_last; /* source 0: not said; source_last 0: one line for all */
    uint32_t next;                /* of the same method, or NSC_MAPPING_NO */
};

/* An original method that a name in a class stands for. */
struct nsc_mapping_method {
    uint32_t class;                     /* where it is now */
    struct nsc_mapping_part name;       /* as it is now */
    struct nsc_mapping_part ret;        /* as they were: type, */
    struct nsc_mapping_part holder;     /* class, if it is another one; at NULL: the same */
    struct nsc_mapping_part original;   /* name, */
    struct nsc_mapping_part args;       /* types between the parentheses */
    struct nsc_mapping_part descriptor; /* what R8 says that it is now; at NULL: nothing */
    uint32_t ranges, last_range;        /* NSC_MAPPING_NO: none */
    uint32_t others;                    /* further ones with the same name and descriptor */
    uint32_t other;                     /* the next of them, or NSC_MAPPING_NO */
    uint64_t hash;                      /* of the table that is being used */
};

/* A table of hashes: slots hold an index, or NSC_MAPPING_NO. */
struct nsc_mapping_table {
    uint32_t *slots;
    uint32_t mask; /* slots - 1; 0: no slots yet */
    uint32_t used;
};

struct nsc_r8_mapping {
    uint64_t seed;
    struct nsc_mapping_class *classes;
    uint32_t class_count, class_room;
    struct nsc_mapping_method *methods;
    uint32_t method_count, method_room;
    struct nsc_mapping_range *ranges;
    uint32_t range_count, range_room;
    uint32_t ambiguous;
    struct nsc_mapping_table by_original, by_obfuscated; /* classes */
    struct nsc_mapping_table by_now; /* methods, by class, name and descriptor as they are now */
};

static inline bool nsc_mapping_same(struct nsc_mapping_part a, struct nsc_mapping_part b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

/* The class of that name, or NSC_MAPPING_NO. */
uint32_t nsc_mapping_class_find(const struct nsc_r8_mapping *m, bool by_original,
                                struct nsc_mapping_part name);

/**
 * nsc_mapping_key - hash of a method as it is now. Types that the mapping knows count as classes,
 * not by their names, so that it takes no more than the text.
 * @descriptor: "(ILa/b;)V". @key: untouched if it is none.
 * Returns 0, -EINVAL (no descriptor) or -ENOMEM.
 */
int nsc_mapping_key(const struct nsc_r8_mapping *m, uint32_t class, struct nsc_mapping_part name,
                    struct nsc_mapping_part descriptor, uint64_t *key);
/* The same of a method of the file: as R8 says, or from its original types. */
int nsc_mapping_key_of(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                       uint64_t *key);

/* Make room in a table for one more: false when there is no memory. @hash_of gives the hash of an
 * index that is in it. */
bool nsc_mapping_table_grow(struct nsc_mapping_table *t, const struct nsc_r8_mapping *m,
                            uint64_t (*hash_of)(const struct nsc_r8_mapping *m, uint32_t index));

#endif
