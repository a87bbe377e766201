/*
 * symtab.h - the sorted table of function symbols that nsc_symbols_find() searches.
 *
 * Private to symbols/; filled once from one ELF symbol section, then read-only.
 */
#ifndef NSC_SYMBOLS_SYMTAB_H
#define NSC_SYMBOLS_SYMTAB_H

#include <stdbool.h>

#include "symbols/elf_file.h"

#define NSC_TABLE_NONE UINT32_MAX

struct nsc_symtab_entry {
    uint64_t va, end; /* half open; va strictly ascending over the table */
    uint32_t name;    /* offset in the strings */
    uint32_t name_bytes;
    uint32_t outer; /* nearest earlier entry that extends beyond this one's start */
    uint32_t group; /* number of the source file (STT_FILE) of a local symbol; in a settled table
                       the result of nsc_symtab_whole() */
    uint8_t rank;   /* binding: 0 global, 1 local, 2 weak */
    uint8_t cold;   /* its name ends in .cold or .cold.N */
};

struct nsc_symtab {
    struct nsc_symtab_entry *entries;
    size_t count;
    char *strings; /* owned; NUL terminated as a whole */
    uint32_t
        *by_name; /* entries other than cold parts, sorted by name; only if there are cold parts */
    size_t by_name_count;
    bool is_settled; /* from a digest: without @by_name */
};

/**
 * nsc_symtab_read - read all function symbols of a symbol section.
 * @section: SHT_SYMTAB or SHT_DYNSYM of @elf.
 * @table: filled on success (possibly with no entries); release with nsc_symtab_free().
 * Returns 0, -EBADMSG, -EIO, -ENOMEM.
 */
int nsc_symtab_read(const struct nsc_elf *elf, const Elf64_Shdr *section, struct nsc_symtab *table,
                    struct nsc_diag *diag);
void nsc_symtab_free(struct nsc_symtab *table);

/* Index of the innermost entry that covers @va, or NSC_TABLE_NONE. */
uint32_t nsc_symtab_find(const struct nsc_symtab *table, uint64_t va);
/* Index of the function that a cold part belongs to; @index itself if it is not a cold part or its
 * function is unknown. */
uint32_t nsc_symtab_whole(const struct nsc_symtab *table, uint32_t index);

#endif
