/*
 * module.c - modules come and go: publishing them to the recorder, asking it which functions to
 * record, switching sleds on. Called by constructors and destructors of modules; a forked child
 * also calls nsc_modules_publish_again() from the slow path.
 */
#include "runtime/module.h"

#include "arch/arch.h"
#include "os/os.h"

#define WAIT_STEP_NS    1000000u
#define WAIT_STEPS      10000u /* 10 s, for a verdict */
#define WAIT_STEPS_IDLE 2000u  /* 2 s without a sign of life of the recorder */

/*
 * The modules of this process. An entry is taken by setting `used` from 0; `copy` is what was
 * published, so that a forked child can publish again without looking at the module or at /proc.
 */
struct entry {
    uint32_t used;
    uint32_t published;           /* `slot` and `copy` are valid */
    uint32_t slot;                /* index in the session's module table */
    struct nsc_live_module *copy; /* private memory, one page range each */
};

static struct entry entries[NSC_MODULES_MAX];

static void copy_module(struct nsc_live_module *to, const struct nsc_live_module *from)
{
    /* All but `state`, the first word, which the caller moves when the rest is in place. */
    uint32_t *words = (uint32_t *)(void *)to;
    const uint32_t *source = (const uint32_t *)(const void *)from;
    size_t i;

    for (i = 1; i < sizeof(*to) / sizeof(*words); i++)
        words[i] = source[i];
}

/* Enters @copy into the session's table; returns its index or -1 (counted). */
static int64_t publish(const struct nsc_live_module *copy)
{
    struct nsc_session *s = &nsc_session;
    int64_t slot = nsc_slot_claim(&s->modules->state, sizeof(*s->modules), s->modules_max,
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

void nsc_modules_publish_again(void)
{
    unsigned i;

    for (i = 0; i < NSC_MODULES_MAX; i++) {
        int64_t slot;

        if (!NSC_LOAD(&entries[i].published))
            continue;
        slot = publish(entries[i].copy);
        if (slot < 0)
            NSC_STORE(&entries[i].published, 0);
        else
            entries[i].slot = (uint32_t)slot;
    }
}

static void note_problems(uint32_t problems)
{
    if (problems != 0)
        __atomic_fetch_or(&nsc_session.processes[nsc_session.process].problems, problems,
                          __ATOMIC_RELAXED);
}

/*
 * Waits for the recorder to say which sites it wants. Bounded: by time, and by the recorder's
 * heartbeat. Returns 0, or -1 if no verdict came.
 */
static int await_verdict(struct nsc_live_module *live, uint64_t sites,
                         struct nsc_patch_verdict *verdict)
{
    struct nsc_session *s = &nsc_session;
    uint64_t heartbeat = NSC_LOAD(&s->header->heartbeat);
    unsigned step, idle = 0;
    uint32_t at;

    for (step = 0; step < WAIT_STEPS && idle < WAIT_STEPS_IDLE; step++, idle++) {
        if (NSC_LOAD(&live->filter_state) == NSC_LIVE_FILTER_READY) {
            at = live->filter_at;
            if (at > s->filter_bytes || (sites + 7) / 8 > s->filter_bytes - at)
                return -1;
            verdict->bitmap = s->filter + at;
            return 0;
        }
        if (NSC_LOAD(&s->header->heartbeat) != heartbeat) {
            heartbeat = NSC_LOAD(&s->header->heartbeat);
            idle = 0;
        }
        nsc_os_sleep_ns(WAIT_STEP_NS);
    }
    return -1;
}

/* Which hooks the module's code has: a module of the header hook has sites, but no sleds. */
static uint32_t hooks_of(const struct nsc_runtime_module *module)
{
    const struct nsc_live_site *site;
    uint32_t hooks = module->hooks;

    if (module->xray_start != module->xray_end)
        hooks |= 1u << NSC_LIVE_HOOK_SLED;
    for (site = module->sites_start; site < module->sites_end; site++)
        hooks |=
            1u << (site->kind == NSC_LIVE_SITE_HOOK ? NSC_LIVE_HOOK_HEADER : NSC_LIVE_HOOK_SLED);
    return hooks;
}

/* Everything about the module that the recorder gets, but for its slot. */
static int describe(const struct nsc_runtime_module *module, struct nsc_live_module *to)
{
    uint64_t sites = (uint64_t)(module->sites_end - module->sites_start);
    uint64_t xrays = (uint64_t)(module->xray_end - module->xray_start);
    uint64_t nops = (uint64_t)(module->nops_end - module->nops_start);

    if (nsc_elf_describe(module->elf_header, to) < 0)
        return -1;
    to->hooks = hooks_of(module);
    to->site_count = (uint32_t)(sites + xrays + nops);
    to->sites_start = (uint64_t)(uintptr_t)module->sites_start;
    to->sites_end = (uint64_t)(uintptr_t)module->sites_end;
    to->xray_start = (uint64_t)(uintptr_t)module->xray_start;
    to->xray_end = (uint64_t)(uintptr_t)module->xray_end;
    return 0;
}

static struct entry *take_entry(struct nsc_runtime_module *module)
{
    unsigned i;

    for (i = 0; i < NSC_MODULES_MAX; i++) {
        if (nsc_cas32(&entries[i].used, 0, 1)) {
            module->state = i + 1;
            return &entries[i];
        }
    }
    return NULL;
}

/* Publishes a module of a recorded program and switches its sleds on. */
static void record_module(struct nsc_runtime_module *module, struct nsc_live_module *elf)
{
    struct nsc_session *s = &nsc_session;
    struct nsc_patch_verdict verdict = {.on = 1};
    struct entry *entry = take_entry(module);
    int filtered = (s->header->flags & NSC_LIVE_FLAG_FILTER) != 0;
    int64_t slot;

    if (entry == NULL) {
        NSC_ADD(&s->header->modules_unattributed, 1);
        return;
    }
    nsc_os_map_path((uintptr_t)elf->text_start, elf->path, sizeof(elf->path));
    elf->load_ticks = nsc_arch_ticks();
    elf->filter_state = filtered ? NSC_LIVE_FILTER_WAITING : NSC_LIVE_FILTER_NONE;
    if (entry->copy == NULL)
        entry->copy = nsc_os_map_private(sizeof(*elf));
    slot = entry->copy != NULL ? publish(elf) : -1;
    if (slot < 0) {
        NSC_STORE(&entry->used, 0);
        module->state = 0;
        return;
    }
    elf->filter_state = NSC_LIVE_FILTER_NONE; /* a child inherits the sleds as they are */
    copy_module(entry->copy, elf);
    entry->slot = (uint32_t)slot;
    NSC_STORE(&entry->published, 1);
    if (filtered && await_verdict(s->modules + slot, elf->site_count, &verdict) < 0) {
        note_problems(NSC_LIVE_PROBLEM_FILTER_TIMEOUT);
        verdict.on = 0;
    }
    note_problems(nsc_patch_module(module, elf->bias, &verdict));
    NSC_STORE(&entry->copy->sleds_ready, 1);
    NSC_STORE(&s->modules[slot].sleds_ready, 1);
}

NSC_RUNTIME_EXPORT void nsc_runtime_module_load(struct nsc_runtime_module *module)
{
    static const struct nsc_patch_verdict none = {.on = 0};
    struct nsc_live_module elf;
    uint8_t *byte = (uint8_t *)&elf;
    size_t i;

    if (module->abi_version != NSC_RUNTIME_ABI_VERSION)
        return;
    for (i = 0; i < sizeof(elf); i++)
        byte[i] = 0;
    if (describe(module, &elf) < 0)
        return;
    if (nsc_session_start() && nsc_session_present())
        record_module(module, &elf);
    else
        nsc_patch_module(module, elf.bias, &none);
}

NSC_RUNTIME_EXPORT void nsc_runtime_module_unload(struct nsc_runtime_module *module)
{
    struct nsc_live_module *live;
    struct entry *entry;

    /* A program goes with its process, and other threads may call its functions until then. */
    if (module->state == 0 || nsc_elf_is_program(module->elf_header))
        return;
    entry = &entries[module->state - 1];
    module->state = 0;
    if (NSC_LOAD(&entry->published) && nsc_session_present()) {
        live = nsc_session.modules + entry->slot;
        NSC_STORE(&live->unload_ticks, nsc_arch_ticks());
        nsc_cas32(&live->state, NSC_LIVE_LIVE, NSC_LIVE_DEAD);
    }
    NSC_STORE(&entry->published, 0);
    NSC_STORE(&entry->used, 0);
}
