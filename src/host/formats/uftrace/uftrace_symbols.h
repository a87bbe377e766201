/*
 * uftrace_symbols.h - the modules of an uftrace folder and what its files say is in them. Called by
 * uftrace_names.c. Inside formats/ only.
 */
#ifndef NSC_FORMATS_UFTRACE_UFTRACE_SYMBOLS_H
#define NSC_FORMATS_UFTRACE_UFTRACE_SYMBOLS_H

#include "formats/uftrace/uftrace_import.h"

/* The next line of *@at, ended by NUL in place; NULL at the end. */
char *nsc_uftrace_next_line(char **at);

/* The modules that have symbols: the heads of the .sym files. Returns 0 or -errno with @diag. */
int nsc_uftrace_list_modules(struct uft *u, struct nsc_diag *diag);
/* The module at @path: one that has symbols, or a new one. NSC_NO_ID: out of memory. */
uint32_t nsc_uftrace_find_module(struct uft *u, const char *path, const char *build_id);
void nsc_uftrace_modules_free(struct uft *u);

/* Read a module's symbols if that has not been done. Returns 0 or -ENOMEM. */
int nsc_uftrace_need_symbols(struct uft *u, struct uft_module *m);
/* What is at an address of it, or NULL. */
struct uft_symbol *nsc_uftrace_find_symbol(const struct uft_module *m, uint64_t va);

#endif
