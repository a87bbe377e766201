/*
 * module.h - executables and shared libraries built for tracing, and their sleds. Internal to
 * runtime/; the rules of session.h hold.
 */
#ifndef NSC_RUNTIME_MODULE_H
#define NSC_RUNTIME_MODULE_H

#include "runtime/session.h"

#define NSC_MODULES_MAX 4096 /* of one process, at any one time */

/**
 * nsc_modules_publish_again - in a forked child: enter all modules under the child's own process
 * slot. Context: the slow path; memory only, no system call.
 */
void nsc_modules_publish_again(void);

/**
 * nsc_elf_describe - find a loaded module's addresses and build id from its headers in memory.
 * @elf_header: its ELF header, mapped.
 * @to:         bias, text_*, build_id* are set.
 * Returns 0, or -1 if the headers make no sense.
 */
int nsc_elf_describe(const void *elf_header, struct nsc_live_module *to);

/* Which sleds nsc_patch_module() switches on. */
struct nsc_patch_verdict {
    int on;                /* 0: none */
    const uint8_t *bitmap; /* one bit a site in table order, 1 = on; NULL: all */
};

/**
 * nsc_patch_module - bring a module's sleds into the form that @verdict asks for.
 * @module: its tables and trampolines.
 * @elf:    the module's text range.
 * Returns a set of NSC_LIVE_PROBLEM_*, 0 when all went well. Clang's sleds get the one-byte form
 * in any case; gcc's are left alone when nothing is on.
 * Context: constructor, before code of the module runs.
 */
uint32_t nsc_patch_module(const struct nsc_runtime_module *module,
                          const struct nsc_live_module *elf,
                          const struct nsc_patch_verdict *verdict);

#endif
