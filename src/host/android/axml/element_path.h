/*
 * element_path.h - select and edit elements of a document by a path that the user types.
 *
 *   application                        below the root element (which may be named, too)
 *   application/activity[2]            the second activity
 *   application/activity[*]            all of them
 *   activity[android:name=.Main]       those with that attribute
 *   * /meta-data                       * is any name (written without the space)
 *
 * Called by cli/.
 */
#ifndef NSC_ANDROID_AXML_ELEMENT_PATH_H
#define NSC_ANDROID_AXML_ELEMENT_PATH_H

#include "android/axml/axml.h"

/* A parsed attribute name: "android:name", "package", "0x01010003", or "prefix:name" with a prefix
 * of the document. Owns its texts. */
struct nsc_axml_attr_ref {
    struct nsc_axml_key key;
    char *name, *uri;
};

/* Parse an attribute name. @text: @length bytes. Returns 0, -EINVAL (unknown prefix, or not a name)
 * or -ENOMEM, with @diag. */
int nsc_axml_attr_ref(const struct nsc_axml *x, const char *text, size_t length,
                      struct nsc_axml_attr_ref *out, struct nsc_diag *diag);
void nsc_axml_attr_ref_free(struct nsc_axml_attr_ref *ref);
/* Find an element's attribute, or NULL. */
struct nsc_axml_attr *nsc_axml_attr_find(const struct nsc_axml *x, uint32_t node,
                                         const struct nsc_axml_key *key);

struct nsc_axml_found {
    uint32_t *nodes; /* in document order */
    uint32_t count, room;
};

/**
 * nsc_axml_find - find the elements that a path selects.
 * @path: @length bytes; 0: the root.
 * @found: filled; free its nodes. Empty on failure.
 * Returns 0, -ENOENT (no element), -EINVAL (several elements without [*] in the path, or a
 * malformed path) or -ENOMEM, with @diag.
 */
int nsc_axml_find(const struct nsc_axml *x, const char *path, size_t length,
                  struct nsc_axml_found *found, struct nsc_diag *diag);

/**
 * nsc_axml_set_path - set attributes by "PATH@ATTRIBUTE=VALUE".
 * Returns 0, as nsc_axml_find(), nsc_axml_value_parse() or nsc_axml_set().
 */
int nsc_axml_set_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag);
/* Remove attributes by "PATH@ATTRIBUTE" (-ENOENT: no element has it), or elements by "PATH". */
int nsc_axml_remove_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag);
/* Add an element by "PATH/NAME[ATTRIBUTE=VALUE]...", with these attributes, as last child of PATH.
 */
int nsc_axml_add_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag);

#endif
