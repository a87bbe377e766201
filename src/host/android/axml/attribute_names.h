/*
 * attribute_names.h - names and resource ids of the platform's attributes (android:...).
 *
 * Called by what shows attributes and what sets them by name. The table is as old as the platform
 * it was taken from (API level 29): an attribute that it does not have is still shown by the name
 * that the document gives it.
 */
#ifndef NSC_ANDROID_AXML_ATTRIBUTE_NAMES_H
#define NSC_ANDROID_AXML_ATTRIBUTE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NSC_AXML_NAME_MAX 80 /* bytes that the longest name takes, with its NUL */

/* The name of an attribute of the platform, without "android:"; false: unknown, @out untouched. */
bool nsc_axml_attr_name(uint32_t id, char *out, size_t bytes);
/* The resource id of an attribute of the platform; 0: unknown. */
uint32_t nsc_axml_attr_known(const char *name);

#endif
