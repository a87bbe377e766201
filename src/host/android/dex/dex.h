/*
 * dex.h - a DEX file as a model: read -> add references -> settle -> hook code -> write.
 *
 * Called by inject/ and cli/. Everything of a file is in the model, whether it is used or not, and
 * comes out again; offsets are not in it: writing lays everything out anew.
 *
 * Versions 035 to 041. A container of 041 with several dex files in it is refused (they may share
 * data, which would have to be laid out for all of them together); one with a single dex is read.
 *
 *     struct nsc_dex *dex;
 *
 *     if (nsc_dex_read(bytes, size, &dex, &diag) != 0) ...       the bytes must stay
 *     nsc_dex_add_method(dex, "Ldev/nanoscope/Hooks;", "enter", "(I)V");
 *     if (nsc_dex_settle(dex, &diag) != 0) ...                   now all indices are final
 *     enter = nsc_dex_add_method(dex, "Ldev/nanoscope/Hooks;", "enter", "(I)V");
 *     for (struct nsc_dex_walk w = {0}; nsc_dex_walk_next(dex, &w);)
 *         ... nsc_dex_set_code(dex, w.member, data, bytes, debug)
 *     if (nsc_dex_write(dex, &buffer, &diag) != 0) ...
 *     nsc_dex_free(dex);
 *
 * An index names an element of the table of its kind; NSC_DEX_NONE names none. Functions that give
 * an index give NSC_DEX_NONE when they fail, and the model remembers why: nsc_dex_settle() and
 * nsc_dex_write() then fail with that reason, so that a caller may add everything and look once.
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

#define NSC_DEX_ID_MAX 65536u /* types, protos, fields and methods that instructions can name */
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

/* A run of bytes of the file, as it stands there, or of the model's own memory. */
struct nsc_dex_blob {
    const uint8_t *data;
    uint32_t bytes;
    uint32_t users; /* of debug information: code items that have it; it has no data when the last
                       of them got other, and is not written then */
};

/* MUTF-8; a NUL follows the last byte. */
struct nsc_dex_string {
    const uint8_t *data;
    uint32_t bytes; /* without the NUL */
    uint32_t units; /* UTF-16 code units, as the file says */
};

struct nsc_dex_proto {
    uint32_t shorty;     /* string */
    uint32_t returns;    /* type */
    uint32_t parameters; /* lists[] of types; NSC_DEX_NONE: no parameters */
};

struct nsc_dex_field {
    uint32_t holder; /* type: the class that the reference names */
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

/* Several indices: types, or annotations of a set, or sets of a list of sets. */
struct nsc_dex_list {
    uint32_t *items;
    uint32_t count;
};

/* A field, method or method's parameters, and what they are annotated with. */
struct nsc_dex_annotated {
    uint32_t member;      /* field or method */
    uint32_t annotations; /* sets[]; for parameters set_lists[] */
};

struct nsc_dex_directory {
    struct nsc_dex_annotated *items; /* fields, then methods, then parameters */
    uint32_t fields, methods, parameters;
    uint32_t class_set; /* sets[], or NSC_DEX_NONE */
};

/* A field or method that a class has. */
struct nsc_dex_member {
    uint32_t index;  /* fields[] or methods[] */
    uint32_t access; /* enum nsc_dex_access */
    uint32_t code;   /* codes[]; NSC_DEX_NONE: field, or method without code */
};

struct nsc_dex_class_data {
    struct nsc_dex_member *members; /* in this order: */
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
    uint32_t values;     /* arrays[]: first values of static fields */
};

/*
 * A code item as it stands in a file. The instructions' indices are always those of the model's
 * tables. Its field debug_info_off means nothing here: `debug` does.
 */
struct nsc_dex_code_item {
    const uint8_t *data;
    uint32_t bytes; /* >= 16; up to the last handler's end, without padding */
    uint32_t debug; /* debugs[]; several code items may have the same */
    uint32_t users; /* methods that have this code */
};

/* Bytes that are allocated together and live as long as the model; see nsc_dex_alloc(). */
struct nsc_dex_arena;

struct nsc_dex {
    uint32_t version;     /* 35 to 41 */
    bool checksum_ok;     /* Adler-32 was right */
    bool signature_ok;    /* SHA-1 was right; in real files it often is not */
    uint64_t loose_bytes; /* bytes not 0 that belonged to no item, and are not written */
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
    struct nsc_dex_list *set_lists;   /* of sets[]; NSC_DEX_NONE for a parameter without any */
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

    struct nsc_dex_own *own; /* of this room alone */
};

/* ---- read, write ------------------------------------------------------------------------------
 */

/**
 * nsc_dex_read - read a file.
 * @data: the whole file, @bytes; borrowed until nsc_dex_free().
 * @out: receives the model; release with nsc_dex_free(). Untouched on failure.
 *
 * Takes memory in proportion to @bytes, and time O(n log n), whatever the bytes are. A checksum
 * that is wrong is no error: see checksum_ok and signature_ok.
 * Returns 0, -EBADMSG (no DEX file, or a broken one), -ENOTSUP (a version, a container of several
 * files or a part that is not known) or -ENOMEM, with a @diag.
 */
int nsc_dex_read(const void *data, size_t bytes, struct nsc_dex **out, struct nsc_diag *diag);
void nsc_dex_free(struct nsc_dex *dex);

/**
 * nsc_dex_write - lay everything out and write it behind what is in @out.
 *
 * Indices must be final (nsc_dex_settle()). Returns 0, -EOVERFLOW (beyond 4 GiB), -EINVAL (not
 * settled), what an earlier addition failed with, or -ENOMEM, with a @diag; @out then has the bytes
 * it had before.
 */
int nsc_dex_write(struct nsc_dex *dex, struct nsc_buffer *out, struct nsc_diag *diag);

/* ---- add --------------------------------------------------------------------------------------
 *
 * Each finds or adds. New elements stand behind the others until nsc_dex_settle() sorts them in,
 * which changes indices: ask again then, the answer is O(log n). Text is MUTF-8 (ASCII is).
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

/* The same without adding: NSC_DEX_NONE when there is none. */
uint32_t nsc_dex_find_string(const struct nsc_dex *dex, const char *text);
uint32_t nsc_dex_find_type(const struct nsc_dex *dex, const char *descriptor);
uint32_t nsc_dex_find_method(const struct nsc_dex *dex, const char *holder, const char *name,
                             const char *signature);

/* How many more of each there may be. */
struct nsc_dex_room {
    uint32_t types, protos, fields, methods;
};
struct nsc_dex_room nsc_dex_room(const struct nsc_dex *dex);

/* ---- settle -----------------------------------------------------------------------------------
 */

/**
 * nsc_dex_settle - sort what was added into the tables and renumber every reference.
 *
 * Does nothing when nothing was added. Returns 0, -EOVERFLOW (more than NSC_DEX_ID_MAX of a kind),
 * -EBADMSG (code or values that cannot be understood), -ENOMEM, or what an addition failed with.
 * After a failure the model is good for nsc_dex_free() only.
 */
int nsc_dex_settle(struct nsc_dex *dex, struct nsc_diag *diag);

/* ---- walk -------------------------------------------------------------------------------------
 */

/* Begin with {0}. The pointers are good until something is added; `code` also only until
 * nsc_dex_set_code(). */
struct nsc_dex_walk {
    const struct nsc_dex_class *class;
    struct nsc_dex_member *member; /* a method with code */
    const struct nsc_dex_method *method;
    const struct nsc_dex_code_item *code;
    uint32_t next_class, next_member; /* where to go on */
};

/* The next method that has code, in the order of class_defs and class_data; false after the last.
 */
bool nsc_dex_walk_next(const struct nsc_dex *dex, struct nsc_dex_walk *walk);

/* A string's bytes, NUL terminated; "" for NSC_DEX_NONE. Valid as long as the model. */
const char *nsc_dex_text(const struct nsc_dex *dex, uint32_t string);
/* A type's descriptor, likewise. */
const char *nsc_dex_descriptor(const struct nsc_dex *dex, uint32_t type);
/* A method's descriptor, "(I[J)V", behind what is in @out; no NUL. */
void nsc_dex_signature(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *out);
/* ART's pretty form, "void pkg.Class.method(int, java.lang.String[])", as UTF-8; no NUL. */
void nsc_dex_pretty(const struct nsc_dex *dex, uint32_t method, struct nsc_buffer *out);
/* The source line of a code item's first position; 0 if it has none. */
uint32_t nsc_dex_first_line(const struct nsc_dex *dex, const struct nsc_dex_code_item *code);

/**
 * nsc_dex_set_code - give a method other code.
 * @member: a method of the model.
 * @data, @bytes: a code item as a file has it; copied. Its indices are those of the tables now.
 * @debug: debugs[] (nsc_dex_add_debug()) or NSC_DEX_NONE.
 *
 * A code item that several methods share stays as it was for the others.
 * Returns 0, -EINVAL (too short for a code item) or -ENOMEM.
 */
int nsc_dex_set_code(struct nsc_dex *dex, struct nsc_dex_member *member, const void *data,
                     size_t bytes, uint32_t debug);
/* Find or add a debug_info_item; @data is copied. Returns its index, NSC_DEX_NONE without memory.
 */
uint32_t nsc_dex_add_debug(struct nsc_dex *dex, const void *data, size_t bytes);

/* ---- build ------------------------------------------------------------------------------------
 *
 * The same model from nothing. Code names things by the indices that nsc_dex_add_...() gave;
 * nsc_dex_settle() puts the final ones into it.
 */

/* NULL without memory. */
struct nsc_dex *nsc_dex_new(uint32_t version);

struct nsc_dex_new_method {
    const char *name;
    const char *signature;  /* "(I)V" */
    const char *annotation; /* descriptor of a marker annotation; NULL: none */
    const uint16_t *units;  /* code, with the indices that nsc_dex_add_...() gave; NULL: none */
    uint32_t unit_count;
    uint16_t registers, outs; /* of the code; what comes in follows from signature and access */
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

/* Add a class with its methods. Its superclass must be added before if it is of this file. Returns
 * 0 or a negative errno, which the model remembers. */
int nsc_dex_add_class(struct nsc_dex *dex, const struct nsc_dex_new_class *class);

#endif
