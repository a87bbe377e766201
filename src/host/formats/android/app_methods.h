/*
 * app_methods.h - find the method table for an app recording, and check that it belongs to the same
 * build. Used by app_recording.c.
 */
#ifndef NSC_FORMATS_ANDROID_APP_METHODS_H
#define NSC_FORMATS_ANDROID_APP_METHODS_H

#include "android/names/method_table.h"
#include "formats/import/import.h"

/**
 * nsc_app_methods_find - find the method table of a recording.
 * @build: the recording's build fingerprint; "" = unknown.
 * @out: receives the table, for nsc_methods_free(), or NULL if there is none. Stays unchanged if
 *       the recording is read from standard input and no file is named.
 *
 * A file named by the user (@job->methods) must match the build. Otherwise, the recording's folder
 * is searched for methods.txt, then *.methods, *.methods.txt and *.apk. Tables of other builds are
 * skipped, with a note for the user. Returns 0 or -errno with @diag.
 */
int nsc_app_methods_find(const struct nsc_import *job, const char *build, struct nsc_methods **out,
                         struct nsc_diag *diag);

#endif
