/*
 * app_methods.h - the table of methods for a recording of an app: where it is, and whether it is
 * that of the same build. Used by app_recording.c.
 */
#ifndef NSC_FORMATS_ANDROID_APP_METHODS_H
#define NSC_FORMATS_ANDROID_APP_METHODS_H

#include "android/names/method_table.h"
#include "formats/import/import.h"

/**
 * nsc_app_methods_find - the table for a recording.
 * @build: its fingerprint; "" = not known.
 * @out: receives the table for nsc_methods_free(), or NULL if there is none.
 *
 * The file that the user named must fit. Without one, the recording's folder is looked through for
 * methods.txt, then *.methods, *.methods.txt and *.apk; those of other builds are left alone, with
 * a note. Returns 0 or -errno with @diag.
 */
int nsc_app_methods_find(const struct nsc_import *job, const char *build, struct nsc_methods **out,
                         struct nsc_diag *diag);

#endif
