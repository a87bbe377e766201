/*
 * attribute_names.h - names and resource ids of the platform's attributes (android:...).
 *
 * Called by code that shows attributes or sets them by name. The table is that of API level 29.
 * Other attributes are shown by the name in the document.
 */
#ifndef NSC_ANDROID_AXML_ATTRIBUTE_NAMES_H
#define NSC_ANDROID_AXML_ATTRIBUTE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_AXML_NAME_MAX 80 /* size of the longest name, with its NUL */

/* Look up the name of a platform attribute, without "android:". Returns false if unknown; @out is
 * then untouched. */
bool nsc_axml_attr_name(uint32_t id, char *out, size_t bytes);
/* Look up the resource id of a platform attribute; 0: unknown. */
uint32_t nsc_axml_attr_known(const char *name);

#endif
