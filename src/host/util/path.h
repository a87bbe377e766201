/*
 * path.h - the folder part of a path. Its last part: nsc_text_base_name() in util/text/escape.h.
 */
#ifndef NSC_UTIL_PATH_H
#define NSC_UTIL_PATH_H

/* Returns the path up to and including its last slash, "." if it has none, as a malloc'ed string;
 * NULL: out of memory. */
char *nsc_path_folder(const char *path);

#endif
