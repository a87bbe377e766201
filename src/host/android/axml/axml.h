/*
 * axml.h - compiled XML (AndroidManifest.xml and layouts in an APK): read, model, edit, write.
 *
 * Called by instrument/ and cli/. Input is hostile: memory and time are bounded by its size.
 * Unchanged parts are written byte for byte as they were read; strings are never re-encoded.
 *
 * Attributes are identified by resource id, as in the platform; their names may be empty or wrong.
 *
 * Source: the platform's ResourceTypes.h (chunk layout) and developer.android.com/guide (manifest).
 */
#ifndef NSC_ANDROID_AXML_AXML_H
#define NSC_ANDROID_AXML_AXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "util/diag.h"

#define NSC_AXML_NONE UINT32_MAX /* no string; no node */

/* Chunk types that are interpreted; all others are kept unchanged. */
enum nsc_axml_chunk {
    NSC_AXML_POOL = 0x0001,
    NSC_AXML_XML = 0x0003,
    NSC_AXML_NS_START = 0x0100,
    NSC_AXML_NS_END = 0x0101,
    NSC_AXML_START = 0x0102,
    NSC_AXML_END = 0x0103,
    NSC_AXML_CDATA = 0x0104,
    NSC_AXML_LAST_NODE = 0x017f,
    NSC_AXML_MAP = 0x0180,
};

/* Types of values. */
enum nsc_axml_type {
    NSC_AXML_NULL = 0x00,
    NSC_AXML_REFERENCE = 0x01,
    NSC_AXML_ATTRIBUTE = 0x02,
    NSC_AXML_STRING = 0x03,
    NSC_AXML_FLOAT = 0x04,
    NSC_AXML_DIMENSION = 0x05,
    NSC_AXML_FRACTION = 0x06,
    NSC_AXML_DYNAMIC_REFERENCE = 0x07,
    NSC_AXML_DYNAMIC_ATTRIBUTE = 0x08,
    NSC_AXML_INT_DEC = 0x10,
    NSC_AXML_INT_HEX = 0x11,
    NSC_AXML_INT_BOOL = 0x12,
    NSC_AXML_COLOR_ARGB8 = 0x1c,
    NSC_AXML_COLOR_RGB8 = 0x1d,
    NSC_AXML_COLOR_ARGB4 = 0x1e,
    NSC_AXML_COLOR_RGB4 = 0x1f,
    NSC_AXML_LAST_INT = 0x1f,
};

struct nsc_axml_value {
    uint16_t size; /* 8 */
    uint8_t zero;
    uint8_t type;  /* enum nsc_axml_type, or anything */
    uint32_t data; /* of a string: its index */
};

struct nsc_axml_attr {
    uint32_t ns, name; /* strings, or NSC_AXML_NONE */
    uint32_t raw;      /* the value in the source text: a string, or NSC_AXML_NONE */
    struct nsc_axml_value value;
    const uint8_t *more; /* trailing bytes, attr_bytes - 20; NULL for a new attribute */
};

/* One chunk of the document's body. Fields that its type does not have are zero. */
struct nsc_axml_node {
    uint16_t type;      /* enum nsc_axml_chunk, or anything */
    const uint8_t *was; /* the chunk as read; NULL for a new one */
    uint32_t was_bytes;
    uint32_t line, comment;
    uint32_t ns;                 /* of an element; of a namespace: its prefix */
    uint32_t name;               /* of an element; of a namespace: its URI; of CDATA: the text */
    struct nsc_axml_value value; /* CDATA */
    uint16_t id_index, class_index, style_index; /* START: 1-based attribute positions; 0: none */
    uint16_t attr_bytes;                         /* START: size of each attribute */
    uint32_t attr_count, attr_room;              /* START */
    struct nsc_axml_attr *attrs;                 /* START: owned */
};

/* A namespace that is not declared by the nodes. */
struct nsc_axml_space {
    uint32_t prefix, uri; /* strings */
};

/* The string pool. Strings that were read stay in the input bytes; new ones follow them. */
struct nsc_axml_pool {
    const uint8_t *was; /* the chunk as read; NULL if there was none */
    uint32_t was_bytes;
    bool changed;
    bool is_utf8;
    uint32_t flags;
    uint16_t header_bytes;
    uint32_t count, room, style_count, style_room;
    uint32_t *offsets;       /* of strings in the data */
    uint32_t *style_offsets; /* of spans in the styles */
    const uint8_t *data;     /* as read */
    uint32_t data_bytes;
    const uint8_t *gap; /* between the offsets and the data */
    uint32_t gap_bytes;
    uint8_t *styles; /* owned, since it contains string indices */
    uint32_t styles_bytes;
    struct nsc_buffer added; /* data of new strings; starts at offset added_at in the data */
    uint32_t added_at;
};

struct nsc_axml {
    uint8_t *bytes; /* owned copy of the input; all `was` pointers point into it */
    size_t size;
    uint16_t header_bytes;
    struct nsc_axml_pool pool;
    uint32_t pool_place, map_place; /* their positions among the nodes; NSC_AXML_NONE if absent */
    uint32_t *ids;                  /* the resource map: resource ids of the first strings */
    uint32_t id_count, id_room;
    bool ids_changed;
    struct nsc_axml_space *spaces; /* namespaces that editing added, around the root element */
    uint32_t space_count, space_room;
    struct nsc_axml_node *nodes;
    uint32_t node_count, node_room;
    const uint8_t *tail; /* bytes after the root element that are not chunks */
    size_t tail_bytes;
    const uint8_t *trailer; /* bytes after the document */
    size_t trailer_bytes;
};

/* ---- Read and write -----------------------------------------------------------------------------
 */

/**
 * nsc_axml_read - parse a document.
 * @data: @bytes bytes, copied.
 * @out: receives the document; release with nsc_axml_free().
 * Returns 0, -EBADMSG with the offset in @diag, -EFBIG (4 GiB or more) or -ENOMEM.
 */
int nsc_axml_read(const void *data, size_t bytes, struct nsc_axml **out, struct nsc_diag *diag);
void nsc_axml_free(struct nsc_axml *x);

/**
 * nsc_axml_write - append the encoded document to @out.
 * Without changes the bytes are equal to the input.
 * Returns 0, -EFBIG (a chunk would reach 4 GiB) or -ENOMEM, with @diag.
 */
int nsc_axml_write(const struct nsc_axml *x, struct nsc_buffer *out, struct nsc_diag *diag);

/* ---- Strings ------------------------------------------------------------------------------------
 */

/* Append a string in UTF-8 and a NUL to @out; only the NUL if there is no such string. Invalid
 * Unicode becomes U+FFFD. Returns false if it does not exist or cannot be read. */
bool nsc_axml_text(const struct nsc_axml *x, uint32_t string, struct nsc_buffer *out);
/* Whether a string exists and equals @text. */
bool nsc_axml_is(const struct nsc_axml *x, uint32_t string, const char *text);
/**
 * nsc_axml_string - find the string @text without a resource id, or append it to the pool.
 * Returns 0, -EFBIG (too long for this pool) or -ENOMEM.
 */
int nsc_axml_string(struct nsc_axml *x, const char *text, uint32_t *string, struct nsc_diag *diag);

/* ---- Find ---------------------------------------------------------------------------------------
 */

/* The root element, or NSC_AXML_NONE. */
uint32_t nsc_axml_root(const struct nsc_axml *x);
/* The node that ends the element @node, or NSC_AXML_NONE. O(size of the element). */
uint32_t nsc_axml_end(const struct nsc_axml *x, uint32_t node);
/**
 * nsc_axml_child - find the next child element of @parent after the node @after (the first one if
 * @after is @parent itself).
 * @name: consider only elements of that name; NULL: any.
 * Returns NSC_AXML_NONE if there is none.
 */
uint32_t nsc_axml_child(const struct nsc_axml *x, uint32_t parent, uint32_t after,
                        const char *name);

/* An attribute's resource id, or 0. */
uint32_t nsc_axml_attr_id(const struct nsc_axml *x, const struct nsc_axml_attr *attr);
/* Find an element's attribute by resource id, or NULL. */
struct nsc_axml_attr *nsc_axml_attr(const struct nsc_axml *x, uint32_t node, uint32_t id);
/* Find an element's attribute without resource id by name and namespace (NULL: none), or NULL. */
struct nsc_axml_attr *nsc_axml_attr_named(const struct nsc_axml *x, uint32_t node, const char *uri,
                                          const char *name);

/* ---- Edit ---------------------------------------------------------------------------------------
 *
 * Each returns 0, -ENOMEM, -EFBIG or -EINVAL (see below) with @diag; on failure the meaning of the
 * document is unchanged. Each call invalidates pointers to nodes and attributes. Adding or removing
 * elements also invalidates node numbers.
 */

#define NSC_AXML_ANDROID "http://schemas.android.com/apk/res/android"

/* Identifies an attribute. */
struct nsc_axml_key {
    const char *uri;  /* namespace, or NULL */
    const char *name; /* used if the id has no name in the document yet */
    uint32_t id;      /* resource id, or 0 */
};

/* New value of an attribute: a string (then @text), or any other value. */
struct nsc_axml_setting {
    uint8_t type;  /* enum nsc_axml_type */
    uint32_t data; /* for types other than strings */
    const char *text;
};

/**
 * nsc_axml_set - set an attribute, or add it at the position given by its id's sort order.
 * -EINVAL: the element already has the maximum number of attributes.
 */
int nsc_axml_set(struct nsc_axml *x, uint32_t node, const struct nsc_axml_key *key,
                 const struct nsc_axml_setting *to, struct nsc_diag *diag);
/* Remove an attribute of @node. */
void nsc_axml_unset(struct nsc_axml *x, uint32_t node, struct nsc_axml_attr *attr);

/**
 * nsc_axml_add - add an element without attributes, as the last child of @parent.
 * @node: receives its number. -EINVAL: the parent has no end.
 */
int nsc_axml_add(struct nsc_axml *x, uint32_t parent, const char *name, uint32_t *node,
                 struct nsc_diag *diag);
/* Remove an element and its contents. -EINVAL: it has no end. */
int nsc_axml_remove(struct nsc_axml *x, uint32_t node, struct nsc_diag *diag);

#endif
