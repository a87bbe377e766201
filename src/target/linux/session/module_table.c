/*
 * module_table.c - see module_table.h. Called when a module is loaded or unloaded, when a session
 * begins while modules are loaded, and by the slow path of a forked child.
 */
#include "linux/session/module_table.h"

#include "arch/arch.h"
#include "linux/session/session_join.h"
#include "linux/sys/sys.h"

struct nsc_modules_entry nsc_modules_table[NSC_MODULES_MAX];
uint32_t nsc_modules_used;

struct nsc_modules_entry *nsc_modules_add(struct nsc_runtime_module *module)
{
    unsigned i;

    for (i = 0; i < NSC_MODULES_MAX; i++) {
        if (nsc_session_cas32(&nsc_modules_table[i].state, NSC_MODULES_FREE, NSC_MODULES_BUSY)) {
            uint32_t used = NSC_LOAD(&nsc_modules_used);

            while (used <= i && !nsc_session_cas32(&nsc_modules_used, used, i + 1))
                used = NSC_LOAD(&nsc_modules_used);
            nsc_modules_table[i].module = module;
            nsc_modules_table[i].load_ticks = nsc_arch_ticks();
            module->state = i + 1;
            return &nsc_modules_table[i];
        }
    }
    return NULL;
}

void nsc_modules_remove(struct nsc_target_session *s, struct nsc_modules_entry *entry)
{
    struct nsc_live_module *live;

    if (s != NULL && entry->serial == s->serial && entry->slot != NSC_MODULES_NO_SLOT) {
        live = s->modules + entry->slot;
        NSC_STORE(&live->unload_ticks, nsc_arch_ticks());
        nsc_session_cas32(&live->state, NSC_LIVE_LIVE, NSC_LIVE_DEAD);
    }
    NSC_STORE(&entry->serial, 0);
    entry->ready = 0;
    entry->module = NULL;
    NSC_STORE(&entry->state, NSC_MODULES_FREE);
}

static void copy_module(struct nsc_live_module *to, const struct nsc_live_module *from)
{
    /* All words except `state`, the first, which the caller sets when the rest is complete. */
    uint32_t *words = (uint32_t *)(void *)to;
    const uint32_t *source = (const uint32_t *)(const void *)from;
    size_t i;

    for (i = 1; i < sizeof(*to) / sizeof(*words); i++)
        words[i] = source[i];
}

/* Copy @copy into the session's table; returns its index or -1 (counted). */
static int64_t publish(struct nsc_target_session *s, const struct nsc_live_module *copy)
{
    int64_t slot = nsc_session_slot_claim(&s->modules->state, sizeof(*s->modules), s->modules_max,
                                          &s->header->module_hint);

    if (slot < 0) {
        NSC_ADD(&s->header->modules_unattributed, 1);
        return -1;
    }
    copy_module(s->modules + slot, copy);
    s->modules[slot].process = s->process;
    NSC_STORE(&s->modules[slot].state, NSC_LIVE_LIVE);
    return slot;
}

struct nsc_live_module *nsc_modules_publish(struct nsc_target_session *s,
                                            struct nsc_modules_entry *entry,
                                            struct nsc_live_module *elf)
{
    int64_t slot;

    nsc_sys_map_path((uintptr_t)elf->text_start, elf->path, sizeof(elf->path));
    elf->load_ticks = entry->load_ticks;
    if (entry->copy == NULL)
        entry->copy = nsc_sys_map_private(sizeof(*elf));
    slot = entry->copy != NULL ? publish(s, elf) : -1;
    entry->slot = slot < 0 ? NSC_MODULES_NO_SLOT : (uint32_t)slot;
    if (slot >= 0) {
        elf->filter_state = NSC_LIVE_FILTER_NONE; /* a child inherits the state of the sleds */
        copy_module(entry->copy, elf);
    }
    NSC_STORE(&entry->serial, s->serial);
    return slot >= 0 ? s->modules + slot : NULL;
}

void nsc_modules_publish_again(struct nsc_target_session *s)
{
    uint32_t used = NSC_LOAD(&nsc_modules_used), i;

    for (i = 0; i < used; i++) {
        int64_t slot;

        if (NSC_LOAD(&nsc_modules_table[i].serial) != s->serial ||
            nsc_modules_table[i].slot == NSC_MODULES_NO_SLOT)
            continue;
        slot = publish(s, nsc_modules_table[i].copy);
        nsc_modules_table[i].slot = slot < 0 ? NSC_MODULES_NO_SLOT : (uint32_t)slot;
    }
}
