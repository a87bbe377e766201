/*
 * module_announce.c - registers a module with the runtime. Linked, together with the hooks, into
 * every executable and shared library that is built for tracing, as nanoscope-module.o. All symbols
 * are hidden, so each module has its own copy. Must not be instrumented itself.
 */
#include "abi/hook.h"
#include "arch/arch.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* The linker defines these if the sections exist. */
extern const struct nsc_live_site __start_nanoscope_sites[] HIDDEN __attribute__((weak));
extern const struct nsc_live_site __stop_nanoscope_sites[] HIDDEN __attribute__((weak));
extern struct nsc_runtime_xray __start_xray_instr_map[] HIDDEN __attribute__((weak));
extern struct nsc_runtime_xray __stop_xray_instr_map[] HIDDEN __attribute__((weak));
extern const uint64_t __start___patchable_function_entries[] HIDDEN __attribute__((weak));
extern const uint64_t __stop___patchable_function_entries[] HIDDEN __attribute__((weak));
extern const char __ehdr_start[] HIDDEN __attribute__((weak));

extern const uint8_t nsc_trampoline_entry[] HIDDEN;
extern const uint8_t nsc_trampoline_entry_pushed[] HIDDEN;
extern const uint8_t nsc_trampoline_return[] HIDDEN;
extern const uint8_t nsc_trampoline_tail[] HIDDEN;
extern const uint8_t nsc_trampoline_return_untimed[] HIDDEN;
extern const uint8_t nsc_trampoline_tail_untimed[] HIDDEN;
extern const uint8_t nsc_trampoline_return_rewind[] HIDDEN __attribute__((weak));
extern const uint8_t nsc_trampoline_tail_rewind[] HIDDEN __attribute__((weak));

extern const uint8_t nsc_patchable_entry[] HIDDEN;
extern uint64_t nsc_patchable_table HIDDEN;

static struct nsc_runtime_patchable patchable = {.hook = nsc_patchable_entry,
                                                 .table = &nsc_patchable_table};

static struct nsc_runtime_module module = {
    .abi_version = NSC_RUNTIME_ABI_VERSION,
    .sites_start = __start_nanoscope_sites,
    .sites_end = __stop_nanoscope_sites,
    .xray_start = __start_xray_instr_map,
    .xray_end = __stop_xray_instr_map,
    .trampolines =
        {
            [NSC_ARCH_HOOK_ENTRY] = nsc_trampoline_entry,
            [NSC_ARCH_HOOK_ENTRY_PUSHED] = nsc_trampoline_entry_pushed,
            [NSC_ARCH_HOOK_RETURN] = nsc_trampoline_return,
            [NSC_ARCH_HOOK_TAIL] = nsc_trampoline_tail,
        },
    .nops_start = __start___patchable_function_entries,
    .nops_end = __stop___patchable_function_entries,
    .patchable = &patchable,
    .untimed_return = nsc_trampoline_return_untimed,
    .untimed_tail = nsc_trampoline_tail_untimed,
    .rewind_return = nsc_trampoline_return_rewind,
    .rewind_tail = nsc_trampoline_tail_rewind,
};

/* 101 is the first priority that is not reserved for the implementation. So load() runs before the
 * program's constructors, and unload() after its destructors. */
__attribute__((constructor(101))) static void load(void)
{
    /* Set here, not by a relocation: GNU ld 2.40 loses this one with -z pack-relative-relocs. */
    module.elf_header = __ehdr_start;
    nsc_runtime_module_load(&module);
}

__attribute__((destructor(101))) static void unload(void)
{
    nsc_runtime_module_unload(&module);
}
