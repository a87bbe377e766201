/*
 * r8_mapping_state.h - a mapping in memory, shared by r8_mapping.c (lookup) and r8_mapping_read.c.
 */
#ifndef NSC_ANDROID_NAMES_R8_MAPPING_STATE_H
#define NSC_ANDROID_NAMES_R8_MAPPING_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NSC_MAPPING_NO UINT32_MAX

/* A substring of the text. */
struct nsc_mapping_part {
    const char *at;
    uint32_t bytes;
};

struct nsc_mapping_class {
    struct nsc_mapping_part original, obfuscated; /* "a.b.C" */
    struct nsc_mapping_part file;                 /* source file; at NULL: unknown */
};

/* A range of lines in the APK, and the lines in the source. */
struct nsc_mapping_range {
    uint32_t first, last;         /* in the APK; both 0: unknown */
    uint32_t source, source_last; /* source 0: unknown; source_last 0: one line for all */
    uint32_t next;                /* next range of the method, or NSC_MAPPING_NO */
};

/* A method: its obfuscated name in its class, and its original. */
struct nsc_mapping_method {
    uint32_t class;                     /* class that contains it in the APK */
    struct nsc_mapping_part name;       /* obfuscated name */
    struct nsc_mapping_part ret;        /* original return type */
    struct nsc_mapping_part holder;     /* original class; at NULL: that of `class` */
    struct nsc_mapping_part original;   /* original name */
    struct nsc_mapping_part args;       /* original types between the parentheses */
    struct nsc_mapping_part descriptor; /* in the APK, as stated by R8; at NULL: not stated */
    uint32_t ranges, last_range;        /* NSC_MAPPING_NO: none */
    uint32_t others;                    /* number of further methods with the same name and
                                           descriptor */
    uint32_t other;                     /* the next of them, or NSC_MAPPING_NO */
    uint64_t hash;                      /* key in the table in use: by_then, later by_now */
};

/* An open-addressing hash table: slots hold an index, or NSC_MAPPING_NO. */
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
    struct nsc_mapping_table by_now; /* methods, by class, name and descriptor in the APK */
};

static inline bool nsc_mapping_same(struct nsc_mapping_part a, struct nsc_mapping_part b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

/* Find a class by its original or obfuscated name. Returns its index or NSC_MAPPING_NO. */
uint32_t nsc_mapping_class_find(const struct nsc_r8_mapping *m, bool by_original,
                                struct nsc_mapping_part name);

/**
 * nsc_mapping_key - hash a method by class, name and descriptor in the APK. Types in the mapping
 * are hashed by class index, not by name, so no obfuscated descriptor needs to be built.
 * @descriptor: "(ILa/b;)V". @key: untouched on failure.
 * Returns 0, -EINVAL (malformed descriptor) or -ENOMEM.
 */
int nsc_mapping_key(const struct nsc_r8_mapping *m, uint32_t class, struct nsc_mapping_part name,
                    struct nsc_mapping_part descriptor, uint64_t *key);
/* The same for a method of the mapping: by the descriptor that R8 states, or by original types. */
int nsc_mapping_key_of(const struct nsc_r8_mapping *m, const struct nsc_mapping_method *method,
                       uint64_t *key);

/* Make room in a table for one more entry. Returns false if out of memory. @hash_of: returns the
 * hash of an index in the table. */
bool nsc_mapping_table_grow(struct nsc_mapping_table *t, const struct nsc_r8_mapping *m,
                            uint64_t (*hash_of)(const struct nsc_r8_mapping *m, uint32_t index));

#endif
