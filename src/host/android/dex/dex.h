/*
 * dex.h - model of a DEX file: read, add references, settle indices, hook code, write.
 *
 * Called by instrument/ and cli/. The model holds all items of a file, used or not, and writes all
 * of them. It holds no offsets: writing lays out the file again.
 *
 * Versions 035 to 041. A container of version 041 with several dex files is refused: they may share
 * data, which would need a common layout. A container with a single dex is read.
 *
 *     struct nsc_dex *dex;
 *
 *     if (nsc_dex_read(bytes, size, &dex, &diag) != 0) ...       borrows the bytes
 *     nsc_dex_add_method(dex, "Ldev/nanoscope/Hooks;", "enter", "(I)V");
 *     if (nsc_dex_settle(dex, &diag) != 0) ...                   now all indices are final
 *     enter = nsc_dex_add_method(dex, "Ldev/nanoscope/Hooks;", "enter", "(I)V");
 *     for (struct nsc_dex_walk w = {0}; nsc_dex_walk_next(dex, &w);)
 *         ... nsc_dex_set_code(dex, w.member, data, bytes, debug)
 *     if (nsc_dex_write(dex, &buffer, &diag) != 0) ...
 *     nsc_dex_free(dex);
 *
 * An index refers to an element of the table of its kind; NSC_DEX_NONE means none. Functions that
 * return an index return NSC_DEX_NONE on failure and latch the error in the model. nsc_dex_settle()
 * and nsc_dex_write() then fail with it, so a caller can check once after all additions.
 *
 * Source: the Dalvik executable format (source.android.com, dex-format).
 */
#ifndef NSC_ANDROID_DEX_DEX_H
#define NSC_ANDROID_DEX_DEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "android/bytecode/index_maps.h"
#include "util/buffer.h"
#include "util/diag.h"

#define NSC_DEX_ID_MAX 65536u /* types, protos, fields, methods: 16-bit indices in code */
#define NSC_DEX_OLDEST 35u
#define NSC_DEX_NEWEST 41u

enum nsc_dex_access {
    NSC_DEX_PUBLIC = 0x1,
    NSC_DEX_PRIVATE = 0x2,
    NSC_DEX_PROTECTED = 0x4,
    NSC_DEX_STATIC = 0x8,
    NSC_DEX_FINAL = 0x10,
    NSC_DEX_SYNCHRONIZED = 0x20,
    NSC_DEX_BRIDGE = 0x40,
    NSC_DEX_VARARGS = 0x80,
    NSC_DEX_NATIVE = 0x100,
    NSC_DEX_INTERFACE = 0x200,
    NSC_DEX_ABSTRACT = 0x400,
    NSC_DEX_STRICT = 0x800,
    NSC_DEX_SYNTHETIC = 0x1000,
    NSC_DEX_ANNOTATION = 0x2000,
    NSC_DEX_ENUM = 0x4000,
    NSC_DEX_CONSTRUCTOR = 0x10000,
    NSC_DEX_DECLARED_SYNCHRONIZED = 0x20000,
};

enum nsc_dex_visibility {
    NSC_DEX_BUILD = 0,
    NSC_DEX_RUNTIME = 1,
    NSC_DEX_SYSTEM = 2,
};

/* An uninterpreted item, in the bytes of the file or in the model's own memory. */
struct nsc_dex_blob {
    const uint8_t *data;
    uint32_t bytes;
    uint32_t users; /* debug information: number of code items that use it. Without users its data
                       is NULL and it is not written */
};

/* MUTF-8; a NUL follows the last byte. */
struct nsc_dex_string {
    const uint8_t *data;
    uint32_t bytes; /* without the NUL */
    uint32_t units; /* UTF-16 code units, as stated in the file */
};

struct nsc_dex_proto {
    uint32_t shorty;     /* string */
    uint32_t returns;    /* type */
    uint32_t parameters; /* index in lists[]; NSC_DEX_NONE: no parameters */
};

struct nsc_dex_field {
    uint32_t holder; /* type: the class in the reference */
    uint32_t type;   /* type */
    uint32_t name;   /* string */
};

struct nsc_dex_method {
    uint32_t holder; /* type */
    uint32_t proto;
    uint32_t name; /* string */
};

struct nsc_dex_handle {
    uint16_t kind; /* 0 to 3: of a field, 4 to 8: of a method */
    uint16_t unused[2];
    uint32_t member; /* field or method */
};

/* A list of indices: types, or annotations of a set, or sets of a set list. */
struct nsc_dex_list {
    uint32_t *items;
    uint32_t count;
};

/* Annotations of a field, a method or a method's parameters. */
struct nsc_dex_annotated {
    uint32_t member;      /* field or method */
    uint32_t annotations; /* sets[]; for parameters set_lists[] */
};

struct nsc_dex_directory {
    struct nsc_dex_annotated *items; /* fields, then methods, then parameters */
    uint32_t fields, methods, parameters;
    uint32_t class_set; /* sets[], or NSC_DEX_NONE */
};

/* A field or method defined by a class. */
struct nsc_dex_member {
    uint32_t index;  /* fields[] or methods[] */
    uint32_t access; /* enum nsc_dex_access */
    uint32_t code;   /* codes[]; NSC_DEX_NONE: field, or method without code */
};

struct nsc_dex_class_data {
    struct nsc_dex_member *members; /* in the order of the following counts */
    uint32_t static_fields, instance_fields, direct_methods, virtual_methods;
};

struct nsc_dex_class {
    uint32_t type;
    uint32_t access;     /* enum nsc_dex_access */
    uint32_t superclass; /* type; NSC_DEX_NONE for Object */
    uint32_t interfaces; /* lists[] of types */
    uint32_t source;     /* string */
    uint32_t directory;  /* directories[] */
    uint32_t data;       /* class_data[] */
    uint32_t values;     /* arrays[]: initial values of static fields */
};

/*
 * A code item in file format. The instructions' indices are always those of the model's tables.
 * Its field debug_info_off is ignored; see `debug`.
 */
struct nsc_dex_code_item {
    const uint8_t *data;
    uint32_t bytes; /* >= 16; up to the last handler's end, without padding */
    uint32_t debug; /* debugs[]; several code items may share one */
    uint32_t users; /* number of methods with this code */
};

/* Memory that lives as long as the model; see nsc_dex_alloc(). */
struct nsc_dex_arena;

struct nsc_dex {
    uint32_t version;     /* 35 to 41 */
    bool checksum_ok;     /* the Adler-32 was correct */
    bool signature_ok;    /* the SHA-1 was correct; in real files it often is not */
    uint64_t loose_bytes; /* number of non-zero bytes outside of all items; they are not written */
    uint64_t file_bytes;  /* of the file that was read */

    struct nsc_dex_string *strings;
    uint32_t *types; /* strings[]: descriptors */
    struct nsc_dex_proto *protos;
    struct nsc_dex_field *fields;
    struct nsc_dex_method *methods;
    struct nsc_dex_class *classes;
    uint32_t *call_sites; /* arrays[] */
    struct nsc_dex_handle *handles;
    struct nsc_dex_list *lists;       /* of types */
    struct nsc_dex_list *set_lists;   /* of sets[]; NSC_DEX_NONE: parameter without annotations */
    struct nsc_dex_list *sets;        /* of annotations[] */
    struct nsc_dex_blob *annotations; /* visibility, then encoded_annotation */
    struct nsc_dex_directory *directories;
    struct nsc_dex_class_data *class_data;
    struct nsc_dex_code_item *codes;
    struct nsc_dex_blob *debugs; /* debug_info_item */
    struct nsc_dex_blob *arrays; /* encoded_array */
    struct nsc_dex_blob hidden;  /* hiddenapi_class_data_item; 0 bytes: none */

    uint32_t string_count, type_count, proto_count, field_count, method_count, class_count;
    uint32_t call_site_count, handle_count, list_count, set_list_count, set_count;
    uint32_t annotation_count, directory_count, class_data_count, code_count, debug_count;
    uint32_t array_count;

    struct nsc_dex_own *own; /* private to dex/ */
};

/* ---- read, write ------------------------------------------------------------------------------
 */

/**
 * nsc_dex_read - read a file.
 * @data: the whole file, @bytes; borrowed until nsc_dex_free().
 * @out: receives the model; release with nsc_dex_free(). Untouched on failure.
 *
 * For any input, memory is linear in @bytes and time is O(n log n). A wrong checksum is not an
 * error: see checksum_ok and signature_ok.
 * Returns 0, -EBADMSG (not a DEX file, or malformed), -ENOTSUP (unknown version or section, or a
 * container of several files) or -ENOMEM, with @diag.
 */
int nsc_dex_read(const void *data, size_t bytes, struct nsc_dex **out, struct nsc_diag *diag);
void nsc_dex_free(struct nsc_dex *dex);

/**
 * nsc_dex_write - lay out the file and append it to @out.
 *
 * Indices must be final (nsc_dex_settle()). Returns 0, -EOVERFLOW (beyond 4 GiB), -EINVAL (not
 * settled), the error of an earlier addition, or -ENOMEM, with @diag; on failure the contents of
 * @out are unchanged.
 */
int nsc_dex_write(struct nsc_dex *dex, struct nsc_buffer *out, struct nsc_diag *diag);

/* ---- add --------------------------------------------------------------------------------------
 *
 * Each function finds an element or adds it. New elements follow the others until nsc_dex_settle()
 * sorts them in. This changes indices: look them up again afterwards, in O(log n). Text is MUTF-8
 * (ASCII is).
 */

uint32_t nsc_dex_add_string(struct nsc_dex *dex, const char *text);
/* @descriptor: "I", "[J", "Ljava/lang/String;". */
uint32_t nsc_dex_add_type(struct nsc_dex *dex, const char *descriptor);
/* @signature: "(I[JLjava/lang/String;)V". */
uint32_t nsc_dex_add_proto(struct nsc_dex *dex, const char *signature);
uint32_t nsc_dex_add_field(struct nsc_dex *dex, const char *holder, const char *name,
                           const char *type);
uint32_t nsc_dex_add_method(struct nsc_dex *dex, const char *holder, const char *name,
                            const char *signature);

/* The same without adding: NSC_DEX_NONE if there is none. */
uint32_t nsc_dex_find_string(const struct nsc_dex *dex, const char *text);
uint32_t nsc_dex_find_type(const struct nsc_dex *dex, const char *descriptor);
uint32_t nsc_dex_find_method(const struct nsc_dex *dex, const char *holder, const char *name,
                             const char *signature);

/* Number of elements of each kind that can still be added. */
struct nsc_dex_room {
    uint32_t types, protos, fields, methods;
};
struct nsc_dex_room nsc_dex_room(const struct nsc_dex *dex);

/* ---- settle -----------------------------------------------------------------------------------
 */

/**
 * nsc_dex_settle - sort the additions into the tables and renumber every reference.
 *
 * Does nothing if nothing was added. Returns 0, -EOVERFLOW (more than NSC_DEX_ID_MAX of a kind),
 * -EBADMSG (malformed code or values), -ENOMEM, or the error of an addition. After a failure the
 * model may only be freed.
 */
int nsc_dex_settle(struct nsc_dex *dex, struct nsc_diag *diag);

/* ---- walk -------------------------------------------------------------------------------------
 */

/* Iterator over methods. Begin with {0}. The pointers are valid until something is added, `code`
 * only until nsc_dex_set_code(). */
struct nsc_dex_walk {
    const struct nsc_dex_class *class;
    struct nsc_dex_member *member; /* a method with code */
    const struct nsc_dex_method *method;
    const struct nsc_dex_code_item *code;
    uint32_t next_class, next_member; /* position of the iterator */
};

/* Go to the next method with code, in the order of class_defs and class_data. Returns false after
 * the last one. */
bool nsc_dex_walk_next(const struct nsc_dex *dex, struct nsc_dex_walk *walk);

/* A string's bytes, NUL terminated; "" for NSC_DEX_NONE. Valid until nsc_dex_free(). */
const char *nsc_dex_text(const struct nsc_dex *dex, uint32_t string);
/* A type's descriptor, likewise. */
const char *nsc_dex_descriptor(const struct nsc_dex *dex, uint32_t type);
/* Append a method's descriptor, "(I[J)V", to @out; no NUL. */
void nsc_dex_signature(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *out);
/* Append ART's pretty form, "void pkg.Class.method(int, java.lang.String[])", as UTF-8; no NUL. */
void nsc_dex_pretty(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *out);
/* The source line of a code item's first position; 0 if it has none. */
uint32_t nsc_dex_first_line(const struct nsc_dex *dex, const struct nsc_dex_code_item *code);

/**
 * nsc_dex_set_code - replace a method's code.
 * @member: a method of the model.
 * @data, @bytes: a code item in file format; copied. Its indices are those of the current tables.
 * @debug: index in debugs[] (nsc_dex_add_debug()) or NSC_DEX_NONE.
 *
 * Other methods that share the old code item keep it.
 * Returns 0, -EINVAL (too short for a code item) or -ENOMEM.
 */
int nsc_dex_set_code(struct nsc_dex *dex, struct nsc_dex_member *member, const void *data,
                     size_t bytes, uint32_t debug);
/* Find or add a debug_info_item; @data is copied. Returns its index, or NSC_DEX_NONE if out of
 * memory. */
uint32_t nsc_dex_add_debug(struct nsc_dex *dex, const void *data, size_t bytes);

/* ---- build ------------------------------------------------------------------------------------
 *
 * Build a model from scratch. Code refers to elements by the indices that nsc_dex_add_...()
 * returned; nsc_dex_settle() replaces them by the final ones.
 */

/* Create an empty model. NULL if out of memory. */
struct nsc_dex *nsc_dex_new(uint32_t version);

struct nsc_dex_new_method {
    const char *name;
    const char *signature;  /* "(I)V" */
    const char *annotation; /* descriptor of a marker annotation; NULL: none */
    const uint16_t *units;  /* code, with indices returned by nsc_dex_add_...(); NULL: none */
    uint32_t unit_count;
    uint16_t registers, outs; /* of the code; `ins` follows from signature and access */
    uint32_t access;          /* enum nsc_dex_access */
    enum nsc_dex_visibility visibility;
};

struct nsc_dex_new_class {
    const char *descriptor;
    const char *superclass; /* NULL: java.lang.Object */
    uint32_t access;        /* enum nsc_dex_access */
    const char *source;     /* NULL: none */
    const struct nsc_dex_new_method *methods;
    uint32_t method_count;
};

/* Add a class with its methods. A superclass in the same file must have been added before. Returns
 * 0 or -errno, which is also latched in the model. */
int nsc_dex_add_class(struct nsc_dex *dex, const struct nsc_dex_new_class *class);

#endif
