/*
 * text_files.h - the files of a trace in Nanoscope's text format, a thread a file, side by
 * side: FILE, FILE.TID, FILE.TID.STACK. Used by text_export.c and text_import.c.
 */
#ifndef NSC_FORMATS_NANOSCOPE_TEXT_TEXT_FILES_H
#define NSC_FORMATS_NANOSCOPE_TEXT_TEXT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A further thread's file, "FILE.TID" or "FILE.TID.STACK". */
struct nsc_text_sibling {
    char *path;
    uint32_t tid, stack;
};

/* Where the name of @path begins, and how many of its bytes count: all, less a ".gz". */
void nsc_text_split_path(const char *path, bool gzip, size_t *folder_bytes, size_t *base_bytes);
/* Whether FILE.timer lies beside @path: even if FILE is empty, it is a trace then. */
bool nsc_text_has_timer(const char *path, bool gzip);
/* The further files beside @path, by thread and stack. Returns 0 or -ENOMEM. */
int nsc_text_find_siblings(const char *path, bool gzip, struct nsc_text_sibling **out,
                           size_t *out_count);
void nsc_text_free_siblings(struct nsc_text_sibling *all, size_t count);

#endif
