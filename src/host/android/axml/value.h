/*
 * value.h - typed values of attributes as text, and back.
 *
 * Called by dump.c, element_path.c, manifest.c and cli/.
 */
#ifndef NSC_ANDROID_AXML_VALUE_H
#define NSC_ANDROID_AXML_VALUE_H

#include "android/axml/axml.h"

/* Append the value of an attribute as people write it, and a NUL: "true", "26", "0x10",
 * "@0x7f010001", "?0x0101009b", "#ff00ff00", "16dp", "50%"; a string as it is. */
void nsc_axml_value_text(const struct nsc_axml *x, const struct nsc_axml_attr *a,
                         struct nsc_buffer *out);
/* What kind a value is: "string", "int", "hex", "bool", "float", "reference", "attribute",
 * "color", "dimension", "fraction", "null", or "unknown". */
const char *nsc_axml_value_kind(uint8_t type);

/**
 * nsc_axml_value_parse - a value as people write it. "KIND:VALUE" says what it is (a kind of above
 * up to "color"); otherwise its form does, as far as the attribute allows it.
 * @key: the attribute: some are always texts, numbers or truth values.
 * @now: what it is now, or NULL; a text stays a text.
 * @to: receives the value; a text points into @text.
 * Returns 0, or -EINVAL with @diag: the attribute cannot have that.
 */
int nsc_axml_value_parse(const char *text, const struct nsc_axml_key *key,
                         const struct nsc_axml_attr *now, struct nsc_axml_setting *to,
                         struct nsc_diag *diag);

/* As the platform takes them: numbers, and texts that say one. Return false if it is neither, or
 * stands in a resource. */
bool nsc_axml_value_bool(const struct nsc_axml *x, const struct nsc_axml_attr *a, bool *out);
bool nsc_axml_value_int(const struct nsc_axml *x, const struct nsc_axml_attr *a, uint32_t *out);

#endif
