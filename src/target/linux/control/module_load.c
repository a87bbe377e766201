/*
 * module_load.c - handles loading and unloading of modules. Called by their constructors and
 * destructors (abi/hook.h).
 */
#include "abi/hook.h"
#include "linux/control/control.h"
#include "linux/control/start.h"
#include "linux/patch/entry_patch.h"
#include "linux/patch/module.h"
#include "linux/patch/module_elf.h"
#include "linux/patch/sled_patch.h"
#include "linux/session/current_session.h"
#include "linux/session/module_table.h"
#include "linux/sys/sys.h"

#define WAIT_CONTROL_NS   100000u
#define WAITS_CONTROL_MAX 5000u

/* Return the open session of this process, NULL if there is none. */
static struct nsc_target_session *recording(void)
{
    struct nsc_target_session *s = nsc_session_present();

    return s != NULL && NSC_LOAD(&s->header->recorder_state) == NSC_LIVE_RECORDER_OPEN ? s : NULL;
}

NSC_RUNTIME_EXPORT void nsc_runtime_module_load(struct nsc_runtime_module *module)
{
    static const struct nsc_patch_verdict none = {.on = 0};
    struct nsc_live_module elf;
    struct nsc_target_session *s;
    struct nsc_modules_entry *entry;

    if (module->abi_version != NSC_RUNTIME_ABI_VERSION || nsc_modules_describe(module, &elf) < 0)
        return;
    nsc_start_once();
    entry = nsc_modules_add(module);
    s = recording();
    if (s == NULL || entry == NULL)
        nsc_patch_module(module, elf.bias, &none);
    if (entry == NULL) {
        if (s != NULL)
            NSC_ADD(&s->header->modules_unattributed, 1);
        return;
    }
    do {
        if (s != NULL)
            nsc_modules_record(s, entry, &elf);
        NSC_STORE(&entry->state, NSC_MODULES_IDLE);
        /* A session that has begun meanwhile either skipped this module or has just published
         * it. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        s = recording();
    } while (s != NULL && entry->serial != s->serial &&
             nsc_session_cas32(&entry->state, NSC_MODULES_IDLE, NSC_MODULES_BUSY));
}

NSC_RUNTIME_EXPORT void nsc_runtime_module_unload(struct nsc_runtime_module *module)
{
    struct nsc_modules_entry *entry;
    unsigned waits;

    /* An executable is unloaded at process end only; other threads may call its functions until
     * then. */
    if (module->state == 0 || nsc_elf_is_program(module->elf_header))
        return;
    entry = &nsc_modules_table[module->state - 1];
    module->state = 0;
    NSC_STORE(&entry->state, NSC_MODULES_BUSY);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* Usually some milliseconds; without end if a tracer has abandoned a call of the control
     * function. */
    for (waits = 0; waits < WAITS_CONTROL_MAX && nsc_control_in_use(); waits++)
        nsc_sys_sleep_ns(WAIT_CONTROL_NS);
    if (nsc_entry_patch_module(module))
        nsc_entry_patch_unload(module);
    nsc_modules_remove(nsc_session_present(), entry);
}
