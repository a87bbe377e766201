/*
 * path.h - the parts of a path: its folder and its last part.
 */
#ifndef NSC_UTIL_PATH_H
#define NSC_UTIL_PATH_H

/* Returns the path up to and including its last slash, "." if it has none, as a malloc'ed string;
 * NULL: out of memory. */
char *nsc_path_folder(const char *path);

/* Return the part of a path after its last slash, or the whole path if it has none. */
const char *nsc_path_base_name(const char *path);

#endif
