/*
 * dex_state.h - what the files of dex/ that hold the model share. Not for other rooms.
 */
#ifndef NSC_ANDROID_DEX_DEX_STATE_H
#define NSC_ANDROID_DEX_DEX_STATE_H

#include "android/dex/dex.h"
#include "base/span.h"

/* Sections of a file, in the order in which they are written. */
enum nsc_dex_kind {
    NSC_DEX_HEADER,
    NSC_DEX_STRING_IDS,
    NSC_DEX_TYPE_IDS,
    NSC_DEX_PROTO_IDS,
    NSC_DEX_FIELD_IDS,
    NSC_DEX_METHOD_IDS,
    NSC_DEX_CLASS_DEFS,
    NSC_DEX_CALL_SITE_IDS,
    NSC_DEX_HANDLES,
    NSC_DEX_DEBUGS,
    NSC_DEX_CODES,
    NSC_DEX_ANNOTATIONS,
    NSC_DEX_SETS,
    NSC_DEX_SET_LISTS,
    NSC_DEX_DIRECTORIES,
    NSC_DEX_LISTS,
    NSC_DEX_ARRAYS,
    NSC_DEX_STRING_DATA,
    NSC_DEX_CLASS_DATA,
    NSC_DEX_HIDDEN,
    NSC_DEX_MAP,
    NSC_DEX_KINDS
};

struct nsc_dex_section_kind {
    uint16_t type;      /* in the map */
    uint8_t align;      /* of each item */
    uint8_t item_bytes; /* the least that an item takes */
    const char *name;
};

/* Defined in kinds.c, by enum nsc_dex_kind. */
extern const struct nsc_dex_section_kind nsc_dex_section_kinds[NSC_DEX_KINDS];

/* Where the header has the pairs {size, offset} of the first tables. */
#define NSC_DEX_HEADER_BYTES     112u
#define NSC_DEX_HEADER_BYTES_41  120u /* with container_size, header_offset */
#define NSC_DEX_HEADER_CHECKSUM  8u
#define NSC_DEX_HEADER_SIGNATURE 12u
#define NSC_DEX_HEADER_FILE_SIZE 32u
#define NSC_DEX_HEADER_TABLES    56u /* strings, types, protos, fields, methods, classes */
#define NSC_DEX_SIGNATURE_BYTES  20u

/* What is sorted: strings, types, protos, fields, methods. */
enum nsc_dex_table {
    NSC_DEX_STRINGS,
    NSC_DEX_TYPES,
    NSC_DEX_PROTOS,
    NSC_DEX_FIELDS,
    NSC_DEX_METHODS,
    NSC_DEX_TABLES
};

/* Elements behind the sorted ones, in the order of their content. */
struct nsc_dex_tail {
    uint32_t *order;
    uint32_t room;
    uint32_t sorted; /* elements of the table before the tail */
};

struct nsc_dex_own {
    struct nsc_dex_arena *chunks; /* newest first */
    struct nsc_dex_tail tails[NSC_DEX_TABLES];
    uint32_t rooms[NSC_DEX_TABLES];
    uint32_t class_room, class_data_room, code_room, debug_room, list_room, set_room;
    uint32_t annotation_room, directory_room;
    uint32_t *debug_slots; /* indices plus one by content; see change.c */
    uint32_t debug_mask;
    uint32_t hidden_classes; /* classes that struct nsc_dex.hidden knows */
    int error;               /* the first addition that failed, as -errno */
    char why[200];
};

/* @bytes of the model's own memory, aligned for anything; NULL without memory. */
void *nsc_dex_alloc(struct nsc_dex *dex, size_t bytes);
/* A copy in that memory; never NULL for 0 bytes. */
void *nsc_dex_copy(struct nsc_dex *dex, const void *data, size_t bytes);
/* A model without anything in it. */
struct nsc_dex *nsc_dex_empty(void);
/* How many elements a table has. */
uint32_t nsc_dex_count(const struct nsc_dex *dex, enum nsc_dex_table table);

/* Remember the first addition that failed. Returns NSC_DEX_NONE. */
uint32_t nsc_dex_fail(struct nsc_dex *dex, int error, const char *what);
/* Room for one more element in a table of the model, whose pointer is at @table; false, and the
 * model knows it, without memory. */
bool nsc_dex_grow(struct nsc_dex *dex, void *table, uint32_t *room, uint32_t count, size_t item);
/* Give code other debug information; what nobody has then is dropped. */
void nsc_dex_set_debug(struct nsc_dex *dex, struct nsc_dex_code_item *code, uint32_t debug);
/* nsc_dex_add_debug() for what must not be found, nor find. */
uint32_t nsc_dex_append_debug(struct nsc_dex *dex, const void *data, size_t bytes);
/* The debug information is about to change: it must not be found by what it was. */
void nsc_dex_forget_debugs(struct nsc_dex *dex);

/* Order of two strings of MUTF-8 by their UTF-16 code units. 0 only if the bytes are the same. */
int nsc_dex_compare_text(const uint8_t *a, const uint8_t *b);
/* Order of two lists, element by element. */
int nsc_dex_compare_lists(const struct nsc_dex_list *a, const struct nsc_dex_list *b);
/* The order of the tables; parameters are compared type by type. */
int nsc_dex_compare_protos(const struct nsc_dex *dex, const struct nsc_dex_proto *a,
                           const struct nsc_dex_proto *b);
int nsc_dex_compare_fields(const struct nsc_dex_field *a, const struct nsc_dex_field *b);
int nsc_dex_compare_methods(const struct nsc_dex_method *a, const struct nsc_dex_method *b);
/* UTF-16 code units of MUTF-8. */
uint32_t nsc_dex_count_units(const uint8_t *text);

/* Go through a blob: understand it, and, where there is an output, write it with other indices. */
struct nsc_dex_pass {
    struct nsc_span in;
    struct nsc_dex_maps maps;
    uint32_t handle_count;
    struct nsc_buffer *out; /* NULL: only look */
    const char *bad;        /* what is wrong; NULL: nothing, or it is cut off (in.bad) */
};

/* All limits and no maps of a model. */
struct nsc_dex_pass nsc_dex_pass_of(const struct nsc_dex *dex, struct nsc_span in);
/* encoded_array, the inner part of an annotation (visibility, then encoded_annotation),
 * debug_info_item. False if it is broken. */
bool nsc_dex_pass_array(struct nsc_dex_pass *p);
bool nsc_dex_pass_annotation(struct nsc_dex_pass *p);
bool nsc_dex_pass_debug(struct nsc_dex_pass *p);

#endif
