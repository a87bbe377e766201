/*
 * text_files.h - the files of a trace in Nanoscope's text format. Each thread has a file, all in
 * the same folder: FILE, FILE.TID, FILE.TID.STACK. Used by text_export.c and text_import.c.
 */
#ifndef NSC_FORMATS_NANOSCOPE_TEXT_TEXT_FILES_H
#define NSC_FORMATS_NANOSCOPE_TEXT_TEXT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* File of a further thread or stack, "FILE.TID" or "FILE.TID.STACK". */
struct nsc_text_sibling {
    char *path;
    uint32_t tid, stack;
};

/* Splits a path. @folder_bytes: length of the folder part, with its slash. @base_bytes: length of
 * the whole path, with @gzip without ".gz". */
void nsc_text_split_path(const char *path, bool gzip, size_t *folder_bytes, size_t *base_bytes);
/* Returns whether FILE.timer exists beside @path. If so, FILE is a trace even if it is empty. */
bool nsc_text_has_timer(const char *path, bool gzip);
/* Finds the further files beside @path, sorted by thread and stack. Returns 0 or -ENOMEM. */
int nsc_text_find_siblings(const char *path, bool gzip, struct nsc_text_sibling **out,
                           size_t *out_count);
void nsc_text_free_siblings(struct nsc_text_sibling *all, size_t count);

#endif
