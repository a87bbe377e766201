/*
 * dex_state.h - internals of the model, shared by the files of dex/. Private to dex/.
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
    uint8_t item_bytes; /* minimum size of an item */
    const char *name;
};

/* Defined in kinds.c, by enum nsc_dex_kind. */
extern const struct nsc_dex_section_kind nsc_dex_section_kinds[NSC_DEX_KINDS];

/* Sizes and offsets in the header. TABLES: pairs {size, offset} of the first tables. */
#define NSC_DEX_HEADER_BYTES     112u
#define NSC_DEX_HEADER_BYTES_41  120u /* with container_size, header_offset */
#define NSC_DEX_HEADER_CHECKSUM  8u
#define NSC_DEX_HEADER_SIGNATURE 12u
#define NSC_DEX_HEADER_FILE_SIZE 32u
#define NSC_DEX_HEADER_TABLES    56u /* strings, types, protos, fields, methods, classes */
#define NSC_DEX_SIGNATURE_BYTES  20u

/* The sorted tables. */
enum nsc_dex_table {
    NSC_DEX_STRINGS,
    NSC_DEX_TYPES,
    NSC_DEX_PROTOS,
    NSC_DEX_FIELDS,
    NSC_DEX_METHODS,
    NSC_DEX_TABLES
};

/* Index of the unsorted elements at the end of a table, ordered by content. */
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
    uint32_t *debug_slots; /* hash table by content of index + 1; see change.c */
    uint32_t debug_mask;
    uint32_t hidden_classes; /* number of classes that struct nsc_dex.hidden covers */
    int error;               /* of the first failed addition, as -errno */
    char why[200];
};

/* Allocate @bytes of the model's own memory, aligned for any type. NULL if out of memory. */
void *nsc_dex_alloc(struct nsc_dex *dex, size_t bytes);
/* Copy into that memory; never NULL for 0 bytes. */
void *nsc_dex_copy(struct nsc_dex *dex, const void *data, size_t bytes);
/* Create a model without elements. */
struct nsc_dex *nsc_dex_empty(void);
/* Number of elements of a table. */
uint32_t nsc_dex_count(const struct nsc_dex *dex, enum nsc_dex_table table);

/* Latch the error of the first failed addition. Returns NSC_DEX_NONE. */
uint32_t nsc_dex_fail(struct nsc_dex *dex, int error, const char *what);
/* Make room for one more element in a table of the model; @table points to the table's pointer.
 * Returns false, with the error latched, if out of memory. */
bool nsc_dex_grow(struct nsc_dex *dex, void *table, uint32_t *room, uint32_t count, size_t item);
/* Replace the debug information of a code item; drop the old one if it has no other user. */
void nsc_dex_set_debug(struct nsc_dex *dex, struct nsc_dex_code_item *code, uint32_t debug);
/* nsc_dex_add_debug() without deduplication, now and later. */
uint32_t nsc_dex_append_debug(struct nsc_dex *dex, const void *data, size_t bytes);
/* Clear the hash table of debug information, before its contents change. */
void nsc_dex_forget_debugs(struct nsc_dex *dex);

/* Compare two MUTF-8 strings by their UTF-16 code units. 0 only if the bytes are equal. */
int nsc_dex_compare_text(const uint8_t *a, const uint8_t *b);
/* Compare two lists element by element. */
int nsc_dex_compare_lists(const struct nsc_dex_list *a, const struct nsc_dex_list *b);
/* Compare by the order of the tables; parameters are compared type by type. */
int nsc_dex_compare_protos(const struct nsc_dex *dex, const struct nsc_dex_proto *a,
                           const struct nsc_dex_proto *b);
int nsc_dex_compare_fields(const struct nsc_dex_field *a, const struct nsc_dex_field *b);
int nsc_dex_compare_methods(const struct nsc_dex_method *a, const struct nsc_dex_method *b);
/* Number of UTF-16 code units of MUTF-8 text. */
uint32_t nsc_dex_count_units(const uint8_t *text);

/* A pass over a blob: parse it and, if there is an output, write it with new indices. */
struct nsc_dex_pass {
    struct nsc_span in;
    struct nsc_dex_maps maps;
    uint32_t handle_count;
    struct nsc_buffer *out; /* NULL: only check */
    const char *bad;        /* the fault; NULL: none, or truncated input (in.bad) */
};

/* Begin a pass with the table limits of a model and without maps. */
struct nsc_dex_pass nsc_dex_pass_of(const struct nsc_dex *dex, struct nsc_span in);
/* Pass over an encoded_array; an annotation (visibility, then encoded_annotation); a
 * debug_info_item. Return false if it is malformed. */
bool nsc_dex_pass_array(struct nsc_dex_pass *p);
bool nsc_dex_pass_annotation(struct nsc_dex_pass *p);
bool nsc_dex_pass_debug(struct nsc_dex_pass *p);

#endif
