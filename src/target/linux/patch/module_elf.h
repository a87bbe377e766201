/*
 * module_elf.h - reads the ELF headers of a loaded module from memory. Internal to target/linux;
 * the rules of current_session.h apply.
 */
#ifndef NSC_LINUX_PATCH_MODULE_ELF_H
#define NSC_LINUX_PATCH_MODULE_ELF_H

#include <stdint.h>

#include "abi/live.h"

/**
 * nsc_elf_describe - read a loaded module's addresses and build ID from its headers in memory.
 * @elf_header: its ELF header, mapped.
 * @to:         bias, text_*, build_id* are set.
 * Returns 0, or -1 if the headers are not valid.
 */
int nsc_elf_describe(const void *elf_header, struct nsc_live_module *to);

/** nsc_elf_is_program - return 1 if the module is an executable, 0 for a shared library. */
int nsc_elf_is_program(const void *elf_header);

struct nsc_elf_segment {
    uint64_t start, end; /* run-time addresses, whole pages */
    int protection;      /* NSC_SYS_* */
};

/**
 * nsc_elf_text - return the next executable segment of a loaded module.
 * @elf_header, @bias: of the module; the headers have passed nsc_elf_describe().
 * @page_bytes:        size of a page.
 * @at:                iteration state, 0 for the first call.
 * Returns 1 and fills in @to, or 0 when there are no more.
 */
int nsc_elf_text(const void *elf_header, uint64_t bias, uint64_t page_bytes, unsigned *at,
                 struct nsc_elf_segment *to);

#endif
