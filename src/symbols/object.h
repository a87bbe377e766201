/*
 * object.h - what a struct nsc_symbols is made of.
 *
 * Private to symbols/.
 */
#ifndef NSC_SYMBOLS_OBJECT_H
#define NSC_SYMBOLS_OBJECT_H

#include "symbols/elf.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"

struct nsc_symbols {
    struct nsc_elf elf;
    struct nsc_elf debug; /* separate debug file; fd < 0 when there is none */
    struct nsc_symtab table;
    const char *origin;
};

/**
 * nsc_debug_file_open - find and open the separate debug file of an ELF file.
 * @root: folder of debug files, e.g. /usr/lib/debug.
 * @debug: filled on success.
 * Returns 0 or -ENOENT: a debug file that does not fit the file counts as none.
 */
int nsc_debug_file_open(const struct nsc_elf *elf, const char *root, struct nsc_elf *debug);

#endif
