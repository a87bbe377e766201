/*
 * value.h - format typed values of attributes as text, and parse them.
 *
 * Called by dump.c, element_path.c, manifest.c and cli/.
 */
#ifndef NSC_ANDROID_AXML_VALUE_H
#define NSC_ANDROID_AXML_VALUE_H

#include "android/axml/axml.h"

/* Append the value of an attribute in source form, and a NUL: "true", "26", "0x10", "@0x7f010001",
 * "?0x0101009b", "#ff00ff00", "16dp", "50%"; a string unchanged. */
void nsc_axml_value_text(const struct nsc_axml *x, const struct nsc_axml_attr *a,
                         struct nsc_buffer *out);
/* Name of a value's type: "string", "int", "hex", "bool", "float", "reference", "attribute",
 * "color", "dimension", "fraction", "null", or "unknown". */
const char *nsc_axml_value_kind(uint8_t type);

/**
 * nsc_axml_value_parse - parse a value in source form. "KIND:VALUE" gives its type (a name of the
 * list above up to "color"). Otherwise the type follows from the form and the attribute.
 * @key: the attribute: some are always strings, numbers or booleans.
 * @now: the current value, or NULL; a string stays a string.
 * @to: receives the value; a string points into @text.
 * Returns 0, or -EINVAL with @diag: invalid for the attribute.
 */
int nsc_axml_value_parse(const char *text, const struct nsc_axml_key *key,
                         const struct nsc_axml_attr *now, struct nsc_axml_setting *to,
                         struct nsc_diag *diag);

/* Get a value as the platform interprets it: a number, or a string that contains one. Return false
 * if it is neither, or in a resource. */
bool nsc_axml_value_bool(const struct nsc_axml *x, const struct nsc_axml_attr *a, bool *out);
bool nsc_axml_value_int(const struct nsc_axml *x, const struct nsc_axml_attr *a, uint32_t *out);

#endif
