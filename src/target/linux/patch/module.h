/*
 * module.h - executables and shared libraries built for tracing, and their sleds. Internal to
 * runtime/; the rules of current_session.h hold.
 */
#ifndef NSC_LINUX_PATCH_MODULE_H
#define NSC_LINUX_PATCH_MODULE_H

#include "linux/session/current_session.h"

#define NSC_MODULES_MAX 4096 /* of one process, at any one time */

/**
 * nsc_modules_publish_again - in a forked child: enter all modules under the child's own process
 * slot. Context: the slow path; memory only, no system call.
 */
void nsc_modules_publish_again(struct nsc_target_session *s);

/**
 * nsc_modules_join - bring every module that @s does not know yet into it: make its sleds ready,
 * under running threads, and publish it. Modules that are being loaded see to that themselves.
 * Context: the control function.
 */
void nsc_modules_join(struct nsc_target_session *s);

/**
 * nsc_modules_turn - switch the sleds of every module.
 * @s:  whose verdicts count; a module without one is on. NULL: all off.
 * Context: the control function.
 */
void nsc_modules_turn(struct nsc_target_session *s);

/**
 * nsc_elf_describe - find a loaded module's addresses and build id from its headers in memory.
 * @elf_header: its ELF header, mapped.
 * @to:         bias, text_*, build_id* are set.
 * Returns 0, or -1 if the headers make no sense.
 */
int nsc_elf_describe(const void *elf_header, struct nsc_live_module *to);

/** nsc_elf_is_program - whether the module is an executable, not a shared library. */
int nsc_elf_is_program(const void *elf_header);

struct nsc_elf_segment {
    uint64_t start, end; /* run-time addresses, whole pages */
    int protection;      /* NSC_SYS_* */
};

/**
 * nsc_elf_text - the next executable segment of a loaded module.
 * @elf_header, @bias: of the module; the headers have passed nsc_elf_describe().
 * @page_bytes:        size of a page.
 * @at:                counter, 0 for the first call.
 * Returns 1 and fills in @to, or 0 when there are no more.
 */
int nsc_elf_text(const void *elf_header, uint64_t bias, uint64_t page_bytes, unsigned *at,
                 struct nsc_elf_segment *to);

/* Which sleds nsc_patch_module() switches on. */
struct nsc_patch_verdict {
    int on;                /* 0: none */
    const uint8_t *bitmap; /* one bit a site in table order, 1 = on; NULL: all */
};

static inline int nsc_patch_wanted(const struct nsc_patch_verdict *verdict, uint64_t site)
{
    if (!verdict->on)
        return 0;
    return verdict->bitmap == NULL || (verdict->bitmap[site / 8] >> (site % 8) & 1);
}

/**
 * nsc_patch_module - bring a module's sleds into the form that @verdict asks for.
 * @module: its tables and trampolines.
 * @bias:   of the module.
 * Returns a set of NSC_LIVE_PROBLEM_*, 0 when all went well. When nothing is on, code is left as it
 * is, but for XRay's sleds where nsc_arch_xray_slow(): pages that are written are copied, which
 * costs a program its start and, being scattered then, more than a percent of its speed.
 * Context: constructor, before code of the module runs.
 */
uint32_t nsc_patch_module(const struct nsc_runtime_module *module, uint64_t bias,
                          const struct nsc_patch_verdict *verdict);

/**
 * nsc_patch_ready - bring a module's sleds into their off form while threads execute them.
 * Returns as nsc_patch_module() does. Nothing is written that is so already.
 */
uint32_t nsc_patch_ready(const struct nsc_runtime_module *module, uint64_t bias);

/**
 * nsc_patch_turn - switch sleds that are ready, while threads execute them.
 * Returns as nsc_patch_module() does. Nothing is written that is so already.
 */
uint32_t nsc_patch_turn(const struct nsc_runtime_module *module, uint64_t bias,
                        const struct nsc_patch_verdict *verdict);

#endif
