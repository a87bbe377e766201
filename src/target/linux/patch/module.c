/*
 * module.c - describes modules to the recorder, asks it which functions to record, and enables or
 * disables sleds. Called when a module is loaded, and by the control function for all loaded
 * modules.
 */
#include "linux/patch/module.h"

#include "linux/patch/entry_patch.h"
#include "linux/patch/module_elf.h"
#include "linux/patch/sled_patch.h"
#include "linux/sys/sys.h"

#define WAIT_STEP_NS    1000000u
#define WAIT_STEPS      10000u /* 10 s, maximum wait for a verdict */
#define WAIT_STEPS_IDLE 2000u  /* 2 s without a heartbeat of the recorder */

/* Number of times that the control function has switched sleds. */
static uint32_t turns;

static void note_problems(struct nsc_target_session *s, uint32_t problems)
{
    if (problems != 0)
        __atomic_fetch_or(&s->processes[s->process].problems, problems, __ATOMIC_RELAXED);
}

/* Read the recorder's verdict on a module. Returns 0, or -1 if it is not valid. */
static int read_verdict(struct nsc_target_session *s, const struct nsc_live_module *live,
                        uint64_t sites, struct nsc_patch_verdict *verdict)
{
    uint32_t at = NSC_LOAD(&live->filter_at);

    if (at > s->filter_bytes || (sites + 7) / 8 > s->filter_bytes - at)
        return -1;
    verdict->bitmap = s->filter + at;
    return 0;
}

/*
 * Wait for the recorder's decision which sites to enable. Bounded by time, and by the recorder's
 * heartbeat.
 * Returns 0, or -1 if no verdict arrived.
 */
static int await_verdict(struct nsc_target_session *s, const struct nsc_live_module *live,
                         uint64_t sites, struct nsc_patch_verdict *verdict)
{
    uint64_t heartbeat = NSC_LOAD(&s->header->heartbeat);
    unsigned step, idle = 0;

    for (step = 0; step < WAIT_STEPS && idle < WAIT_STEPS_IDLE; step++, idle++) {
        if (NSC_LOAD(&live->filter_state) == NSC_LIVE_FILTER_READY)
            return read_verdict(s, live, sites, verdict);
        if (NSC_LOAD(&s->header->heartbeat) != heartbeat) {
            heartbeat = NSC_LOAD(&s->header->heartbeat);
            idle = 0;
        }
        nsc_sys_sleep_ns(WAIT_STEP_NS);
    }
    return -1;
}

/* Return the kinds of hooks in the module's code. A module of the header hook has sites, but no
 * sleds. */
static uint32_t hooks_of(const struct nsc_runtime_module *module)
{
    const struct nsc_live_site *site;
    uint32_t hooks = module->hooks;

    if (nsc_entry_patch_module(module))
        hooks |= 1u << NSC_LIVE_HOOK_PATCHABLE;
    if (module->xray_start != module->xray_end)
        hooks |= 1u << NSC_LIVE_HOOK_SLED;
    for (site = module->sites_start; site < module->sites_end; site++)
        hooks |=
            1u << (site->kind == NSC_LIVE_SITE_HOOK ? NSC_LIVE_HOOK_HEADER : NSC_LIVE_HOOK_SLED);
    return hooks;
}

int nsc_modules_describe(const struct nsc_runtime_module *module, struct nsc_live_module *to)
{
    uint8_t *byte = (uint8_t *)to;
    size_t i;
    uint64_t sites = (uint64_t)(module->sites_end - module->sites_start);
    uint64_t xrays = (uint64_t)(module->xray_end - module->xray_start);
    uint64_t nops = (uint64_t)(module->nops_end - module->nops_start);

    for (i = 0; i < sizeof(*to); i++)
        byte[i] = 0;
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

static struct nsc_live_module *publish(struct nsc_target_session *s,
                                       struct nsc_modules_entry *entry, struct nsc_live_module *elf)
{
    if (nsc_entry_patch_is_passed_over(entry->module))
        note_problems(s, NSC_LIVE_PROBLEM_MIXED);
    return nsc_modules_publish(s, entry, elf);
}

void nsc_modules_record(struct nsc_target_session *s, struct nsc_modules_entry *entry,
                        struct nsc_live_module *elf)
{
    struct nsc_patch_verdict verdict;
    int filtered = (s->flags & NSC_LIVE_FLAG_FILTER) != 0;
    struct nsc_live_module *live;
    uint32_t turn, problems;

    elf->filter_state = filtered ? NSC_LIVE_FILTER_WAITING : NSC_LIVE_FILTER_NONE;
    live = publish(s, entry, elf);
    if (live == NULL)
        return;
    do {
        /* nsc_modules_turn() skips this module meanwhile; then repeat. */
        turn = NSC_LOAD(&turns);
        verdict = (struct nsc_patch_verdict){.on = 1};
        if (filtered && await_verdict(s, live, elf->site_count, &verdict) < 0) {
            note_problems(s, NSC_LIVE_PROBLEM_FILTER_TIMEOUT);
            verdict.on = 0;
        }
        if (NSC_LOAD(&s->hooks_off))
            verdict.on = 0;
        problems = verdict.on ? nsc_patch_module(entry->module, elf->bias, &verdict)
                              : nsc_patch_ready(entry->module, elf->bias);
        note_problems(s, problems);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } while (NSC_LOAD(&turns) != turn);
    if (problems == 0) { /* else some sleds may not have a valid call */
        entry->ready = 1;
        NSC_STORE(&entry->copy->sleds_ready, 1);
        NSC_STORE(&live->sleds_ready, 1);
    }
}

void nsc_modules_join(struct nsc_target_session *s)
{
    static const struct nsc_patch_verdict off = {.on = 0};
    uint32_t used = NSC_LOAD(&nsc_modules_used), i;
    struct nsc_live_module elf;

    for (i = 0; i < used; i++) {
        struct nsc_modules_entry *entry = &nsc_modules_table[i];
        uint32_t problems;

        if (NSC_LOAD(&entry->state) != NSC_MODULES_IDLE || entry->serial == s->serial ||
            nsc_modules_describe(entry->module, &elf) < 0)
            continue;
        /* Disable sleds that a dead recorder has left enabled. */
        problems = entry->ready ? nsc_patch_turn(entry->module, elf.bias, &off)
                                : nsc_patch_ready(entry->module, elf.bias);
        note_problems(s, problems);
        entry->ready = elf.sleds_ready = problems == 0;
        publish(s, entry, &elf);
    }
}

void nsc_modules_turn(struct nsc_target_session *s)
{
    uint32_t used = NSC_LOAD(&nsc_modules_used), problems = 0, i;
    struct nsc_live_module elf;

    NSC_ADD(&turns, 1);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (i = 0; i < used; i++) {
        const struct nsc_modules_entry *entry = &nsc_modules_table[i];
        struct nsc_patch_verdict verdict = {.on = s != NULL};
        const struct nsc_live_module *live;

        if (NSC_LOAD(&entry->state) != NSC_MODULES_IDLE ||
            nsc_modules_describe(entry->module, &elf) < 0 ||
            (s != NULL && (entry->serial != s->serial || entry->slot == NSC_MODULES_NO_SLOT)))
            continue;
        if (s != NULL) {
            live = s->modules + entry->slot;
            if (NSC_LOAD(&live->filter_state) == NSC_LIVE_FILTER_READY &&
                read_verdict(s, live, elf.site_count, &verdict) < 0)
                verdict.on = 0;
        }
        problems |= nsc_patch_turn(entry->module, elf.bias, &verdict);
    }
    if (s != NULL)
        note_problems(s, problems);
}
