/*
 * element_path.h - elements of a document by path, as people write it.
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

/* What an attribute is called: "android:name", "package", "0x01010003", or "prefix:name" with a
 * prefix of the document. The texts belong to it. */
struct nsc_axml_attr_ref {
    struct nsc_axml_key key;
    char *name, *uri;
};

/* @text: @length bytes. Returns 0, -EINVAL (no such prefix, or no name) or -ENOMEM, with @diag. */
int nsc_axml_attr_ref(const struct nsc_axml *x, const char *text, size_t length,
                      struct nsc_axml_attr_ref *out, struct nsc_diag *diag);
void nsc_axml_attr_ref_free(struct nsc_axml_attr_ref *ref);
/* An element's attribute of that name, or NULL. */
struct nsc_axml_attr *nsc_axml_attr_find(const struct nsc_axml *x, uint32_t node,
                                         const struct nsc_axml_key *key);

struct nsc_axml_found {
    uint32_t *nodes; /* in the order of the document */
    uint32_t count, room;
};

/**
 * nsc_axml_find - the elements that a path means.
 * @path: @length bytes; none: the root.
 * @found: filled; free its nodes. Empty on failure.
 * Returns 0, -ENOENT (there is none), -EINVAL (more than one, and no [*] in the path; or it is no
 * path) or -ENOMEM, with @diag.
 */
int nsc_axml_find(const struct nsc_axml *x, const char *path, size_t length,
                  struct nsc_axml_found *found, struct nsc_diag *diag);

/**
 * nsc_axml_set_path - "PATH@ATTRIBUTE=VALUE".
 * Returns 0, as nsc_axml_find(), nsc_axml_value_parse() or nsc_axml_set().
 */
int nsc_axml_set_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag);
/* "PATH@ATTRIBUTE" (-ENOENT: none of the elements has it), or the elements of "PATH". */
int nsc_axml_remove_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag);
/* "PATH/NAME[ATTRIBUTE=VALUE]...": a new element with these attributes, last in that of PATH. */
int nsc_axml_add_path(struct nsc_axml *x, const char *what, struct nsc_diag *diag);

#endif
