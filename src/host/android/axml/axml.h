/*
 * axml.h - compiled XML, as AndroidManifest.xml and layouts are in an APK: read, model, edit,
 * write.
 *
 * Called by inject/ and cli/. Input is hostile: everything is bounded by its size. What is not
 * changed is written as it was read, byte for byte; strings are never encoded again.
 *
 * Attributes are what their resource id says, as for the platform; their names may be empty or lie.
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

/* Chunk types that have a meaning for us; all others are kept as they are. */
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
    uint32_t raw;      /* the value as its author wrote it: a string, or NSC_AXML_NONE */
    struct nsc_axml_value value;
    const uint8_t *more; /* what stands behind it, attr_bytes - 20; NULL for one that is new */
};

/* One chunk of the document's body. The fields that its type does not have are zero. */
struct nsc_axml_node {
    uint16_t type;      /* enum nsc_axml_chunk, or anything */
    const uint8_t *was; /* the chunk as read; NULL if it is new */
    uint32_t was_bytes;
    uint32_t line, comment;
    uint32_t ns;                 /* of an element; of a namespace: its prefix */
    uint32_t name;               /* of an element; of a namespace: its URI; of CDATA: the text */
    struct nsc_axml_value value; /* CDATA */
    uint16_t id_index, class_index, style_index; /* START: attributes, counted from 1; or 0 */
    uint16_t attr_bytes;                         /* START: of each attribute */
    uint32_t attr_count, attr_room;              /* START */
    struct nsc_axml_attr *attrs;                 /* START: owned */
};

/* A namespace that is not among the nodes. */
struct nsc_axml_space {
    uint32_t prefix, uri; /* strings */
};

/* The strings. Those that were read stay in the bytes they came in; new ones stand behind them. */
struct nsc_axml_pool {
    const uint8_t *was; /* the chunk as read; NULL when there was none */
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
    uint8_t *styles; /* owned, since string indices are in them */
    uint32_t styles_bytes;
    struct nsc_buffer added; /* data of new strings; begins at added_at in the data */
    uint32_t added_at;
};

struct nsc_axml {
    uint8_t *bytes; /* the input, ours; everything that "was" points into it */
    size_t size;
    uint16_t header_bytes;
    struct nsc_axml_pool pool;
    uint32_t pool_place, map_place; /* nodes, whose places they take; NSC_AXML_NONE if absent */
    uint32_t *ids;                  /* resource ids of the first strings: the resource map */
    uint32_t id_count, id_room;
    bool ids_changed;
    struct nsc_axml_space *spaces; /* namespaces that editing added, around the root element */
    uint32_t space_count, space_room;
    struct nsc_axml_node *nodes;
    uint32_t node_count, node_room;
    const uint8_t *tail; /* what stands behind the root element and is no chunk */
    size_t tail_bytes;
    const uint8_t *trailer; /* what stands behind the document */
    size_t trailer_bytes;
};

/* ---- Read and write -----------------------------------------------------------------------------
 */

/**
 * nsc_axml_read - take a document apart.
 * @data: @bytes bytes, copied.
 * @out: receives the document; release with nsc_axml_free().
 * Returns 0, -EBADMSG with a @diag that has the offset, -EFBIG (4 GiB and more) or -ENOMEM.
 */
int nsc_axml_read(const void *data, size_t bytes, struct nsc_axml **out, struct nsc_diag *diag);
void nsc_axml_free(struct nsc_axml *x);

/**
 * nsc_axml_write - put the document together, at the end of @out.
 * Without changes the bytes are those that were read.
 * Returns 0, -EFBIG (a chunk would have 4 GiB) or -ENOMEM, with @diag.
 */
int nsc_axml_write(const struct nsc_axml *x, struct nsc_buffer *out, struct nsc_diag *diag);

/* ---- Strings ------------------------------------------------------------------------------------
 */

/* Append a string in UTF-8 and a NUL to @out; nothing but the NUL if there is no such string. What
 * is no Unicode becomes U+FFFD. Returns false if it does not exist or cannot be read. */
bool nsc_axml_text(const struct nsc_axml *x, uint32_t string, struct nsc_buffer *out);
/* Whether a string exists and is @text. */
bool nsc_axml_is(const struct nsc_axml *x, uint32_t string, const char *text);
/**
 * nsc_axml_string - the string @text that has no resource id: found, or added behind the others.
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
 * nsc_axml_child - the first element inside @parent behind the node @after, or of all (@after:
 * @parent itself). @name: of that name only; NULL: any. Returns NSC_AXML_NONE if there is none.
 */
uint32_t nsc_axml_child(const struct nsc_axml *x, uint32_t parent, uint32_t after,
                        const char *name);

/* An attribute's resource id, or 0. */
uint32_t nsc_axml_attr_id(const struct nsc_axml *x, const struct nsc_axml_attr *attr);
/* An element's attribute of that resource id, or NULL. */
struct nsc_axml_attr *nsc_axml_attr(const struct nsc_axml *x, uint32_t node, uint32_t id);
/* An element's attribute without resource id, of that name, and of that namespace (NULL: none). */
struct nsc_axml_attr *nsc_axml_attr_named(const struct nsc_axml *x, uint32_t node, const char *uri,
                                          const char *name);

/* ---- Edit ---------------------------------------------------------------------------------------
 *
 * Each returns 0, -ENOMEM, -EFBIG or -EINVAL (named below) with @diag; then the document still
 * means what it did. Pointers to nodes and attributes end with any of them; numbers of nodes with
 * those that add or remove elements.
 */

#define NSC_AXML_ANDROID "http://schemas.android.com/apk/res/android"

/* What an attribute is called. */
struct nsc_axml_key {
    const char *uri;  /* namespace, or NULL */
    const char *name; /* used where the id has no name yet */
    uint32_t id;      /* resource id, or 0 */
};

/* What an attribute is set to: a string (then @text), or any other value. */
struct nsc_axml_setting {
    uint8_t type;  /* enum nsc_axml_type */
    uint32_t data; /* for what is no string */
    const char *text;
};

/**
 * nsc_axml_set - set an attribute, or add it at the place that its id gives it.
 * -EINVAL: the element has as many attributes as it can have.
 */
int nsc_axml_set(struct nsc_axml *x, uint32_t node, const struct nsc_axml_key *key,
                 const struct nsc_axml_setting *to, struct nsc_diag *diag);
/* Remove an attribute of @node. */
void nsc_axml_unset(struct nsc_axml *x, uint32_t node, struct nsc_axml_attr *attr);

/**
 * nsc_axml_add - add an element without attributes, as the last of @parent.
 * @node: receives it. -EINVAL: the parent has no end.
 */
int nsc_axml_add(struct nsc_axml *x, uint32_t parent, const char *name, uint32_t *node,
                 struct nsc_diag *diag);
/* Remove an element and all in it. -EINVAL: it has no end. */
int nsc_axml_remove(struct nsc_axml *x, uint32_t node, struct nsc_diag *diag);

#endif
