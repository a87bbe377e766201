/*
 * uftrace_symbols.h - the modules of a uftrace folder and their symbols. Called by uftrace_names.c.
 * Used inside formats/ only.
 */
#ifndef NSC_FORMATS_UFTRACE_UFTRACE_SYMBOLS_H
#define NSC_FORMATS_UFTRACE_UFTRACE_SYMBOLS_H

#include "formats/uftrace/uftrace_import.h"

/* Returns the next line of *@at, NUL-terminated in place, or NULL at the end. */
char *nsc_uftrace_next_line(char **at);

/* Lists the modules that have symbols; reads only the headers of the .sym files. Returns 0 or
 * -errno with @diag. */
int nsc_uftrace_list_modules(struct uft *u, struct nsc_diag *diag);
/* Returns the index of the listed module that fits @path and @build_id best, or of a new one.
 * NSC_NO_ID when out of memory. */
uint32_t nsc_uftrace_find_module(struct uft *u, const char *path, const char *build_id);
void nsc_uftrace_modules_free(struct uft *u);

/* Reads a module's symbols unless they have been read. Returns 0 or -ENOMEM. */
int nsc_uftrace_need_symbols(struct uft *u, struct uft_module *m);
/* Returns the symbol that contains address @va, or NULL. */
struct uft_symbol *nsc_uftrace_find_symbol(const struct uft_module *m, uint64_t va);

#endif
