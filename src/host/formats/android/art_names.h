/*
 * art_names.h - readable method names for Android's runtimes, made of class, name and descriptor.
 * Used by art_trace.c.
 */
#ifndef NSC_FORMATS_ANDROID_ART_NAMES_H
#define NSC_FORMATS_ANDROID_ART_NAMES_H

/* Returns a method's name in ART's form, "void a.B.name(int)", for free(). If @signature is not a
 * valid descriptor, returns class, name and @signature as they are. NULL when out of memory. */
char *nsc_android_name(const char *class_name, const char *name, const char *signature);

#endif
