/*
 * art_names.h - methods of Android's runtimes as people write them: out of their class, name
 * and descriptor. Used by art_trace.c.
 */
#ifndef NSC_FORMATS_ANDROID_ART_NAMES_H
#define NSC_FORMATS_ANDROID_ART_NAMES_H

/* The name that ART gives a method, or what comes near it, for free(); NULL when out of memory. */
char *nsc_android_name(const char *class_name, const char *name, const char *signature);

#endif
