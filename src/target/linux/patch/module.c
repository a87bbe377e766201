/*
 * module.c - modules come and go: publishing them to the recorder, asking it which functions to
 * record, switching sleds on. Called by constructors and destructors of modules, by the control
 * function for all modules that are loaded, and by the slow path of a forked child.
 */
#include "linux/patch/module.h"

#include "arch/arch.h"
#include "linux/control/control.h"
#include "linux/control/start.h"
#include "linux/patch/entry_patch.h"
#include "linux/patch/module_elf.h"
#include "linux/patch/sled_patch.h"
#include "linux/session/session_join.h"
#include "linux/sys/sys.h"

#define WAIT_STEP_NS      1000000u
#define WAIT_STEPS        10000u /* 10 s, for a verdict */
#define WAIT_STEPS_IDLE   2000u  /* 2 s without a sign of life of the recorder */
#define WAIT_CONTROL_NS   100000u
#define WAITS_CONTROL_MAX 5000u

/*
 * The modules of this process, recorded or not. `state` says whose an entry is; the control
 * function may come at any time, and leaves alone what is BUSY: whoever loads a module looks for a
 * new session when he is done, and whoever unloads one waits until the control function, should it
 * be at work, is done with the module. `copy` is what was published, so that a forked child can
 * publish again without looking at the module or at /proc.
 */
enum entry_state {
    ENTRY_FREE = 0,
    ENTRY_BUSY = 1, /* being loaded or unloaded */
    ENTRY_IDLE = 2,
};

#define NO_SLOT UINT32_MAX /* the table was full: the module is not recorded */

struct entry {
    uint32_t state;
    uint32_t serial; /* of the session that the module was published in last; 0: none */
    uint32_t slot;   /* index in that session's module table, or NO_SLOT */
    uint32_t ready;  /* its sleds are in the form that one byte switches */
    const struct nsc_runtime_module *module;
    uint64_t load_ticks;
    struct nsc_live_module *copy; /* private memory, one page range each */
};

static struct entry entries[NSC_MODULES_MAX];

/* How far the table has ever been filled: nobody looks behind. */
static uint32_t entries_used;

/* How often sleds have been switched by order of the control function. */
static uint32_t turns;

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

void nsc_modules_publish_again(struct nsc_target_session *s)
{
    uint32_t used = NSC_LOAD(&entries_used), i;

    for (i = 0; i < used; i++) {
        int64_t slot;

        if (NSC_LOAD(&entries[i].serial) != s->serial || entries[i].slot == NO_SLOT)
            continue;
        slot = publish(s, entries[i].copy);
        entries[i].slot = slot < 0 ? NO_SLOT : (uint32_t)slot;
    }
}

static void note_problems(struct nsc_target_session *s, uint32_t problems)
{
    if (problems != 0)
        __atomic_fetch_or(&s->processes[s->process].problems, problems, __ATOMIC_RELAXED);
}

/* The recorder's verdict on a module. Returns 0, or -1 if it makes no sense. */
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
 * Waits for the recorder to say which sites it wants. Bounded: by time, and by the recorder's
 * heartbeat. Returns 0, or -1 if no verdict came.
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

/* Which hooks the module's code has: a module of the header hook has sites, but no sleds. */
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

/* Everything about the module that the recorder gets, but for its slot and what needs system calls.
 */
static int describe(const struct nsc_runtime_module *module, struct nsc_live_module *to)
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

static struct entry *take_entry(struct nsc_runtime_module *module)
{
    unsigned i;

    for (i = 0; i < NSC_MODULES_MAX; i++) {
        if (nsc_session_cas32(&entries[i].state, ENTRY_FREE, ENTRY_BUSY)) {
            uint32_t used = NSC_LOAD(&entries_used);

            while (used <= i && !nsc_session_cas32(&entries_used, used, i + 1))
                used = NSC_LOAD(&entries_used);
            entries[i].module = module;
            entries[i].load_ticks = nsc_arch_ticks();
            module->state = i + 1;
            return &entries[i];
        }
    }
    return NULL;
}

/* Publishes a module. @elf: of describe(). Returns its entry in the session's table, or NULL. */
static struct nsc_live_module *publish_entry(struct nsc_target_session *s, struct entry *entry,
                                             struct nsc_live_module *elf)
{
    int64_t slot;

    nsc_sys_map_path((uintptr_t)elf->text_start, elf->path, sizeof(elf->path));
    elf->load_ticks = entry->load_ticks;
    if (entry->copy == NULL)
        entry->copy = nsc_sys_map_private(sizeof(*elf));
    slot = entry->copy != NULL ? publish(s, elf) : -1;
    entry->slot = slot < 0 ? NO_SLOT : (uint32_t)slot;
    if (slot >= 0) {
        elf->filter_state = NSC_LIVE_FILTER_NONE; /* a child inherits the sleds as they are */
        copy_module(entry->copy, elf);
    }
    if (nsc_entry_patch_is_passed_over(entry->module))
        note_problems(s, NSC_LIVE_PROBLEM_MIXED);
    NSC_STORE(&entry->serial, s->serial);
    return slot >= 0 ? s->modules + slot : NULL;
}

/* Publishes a module that is being loaded and switches its sleds on. */
static void record_module(struct nsc_target_session *s, struct entry *entry,
                          struct nsc_live_module *elf)
{
    struct nsc_patch_verdict verdict;
    int filtered = (s->flags & NSC_LIVE_FLAG_FILTER) != 0;
    struct nsc_live_module *live;
    uint32_t turn, problems;

    elf->filter_state = filtered ? NSC_LIVE_FILTER_WAITING : NSC_LIVE_FILTER_NONE;
    live = publish_entry(s, entry, elf);
    if (live == NULL)
        return;
    do {
        /* Whoever switches sleds meanwhile passes over this module. */
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
    if (problems == 0) { /* else there may be sleds that would call nowhere */
        entry->ready = 1;
        NSC_STORE(&entry->copy->sleds_ready, 1);
        NSC_STORE(&live->sleds_ready, 1);
    }
}

/* The session that is being recorded, NULL if there is none or if it is over. */
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
    struct entry *entry;

    if (module->abi_version != NSC_RUNTIME_ABI_VERSION || describe(module, &elf) < 0)
        return;
    nsc_start_once();
    entry = take_entry(module);
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
            record_module(s, entry, &elf);
        NSC_STORE(&entry->state, ENTRY_IDLE);
        /* A session that has begun since passed over this module, or has taken it up just now. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        s = recording();
    } while (s != NULL && entry->serial != s->serial &&
             nsc_session_cas32(&entry->state, ENTRY_IDLE, ENTRY_BUSY));
}

NSC_RUNTIME_EXPORT void nsc_runtime_module_unload(struct nsc_runtime_module *module)
{
    struct nsc_live_module *live;
    struct nsc_target_session *s;
    struct entry *entry;
    unsigned waits;

    /* A program goes with its process, and other threads may call its functions until then. */
    if (module->state == 0 || nsc_elf_is_program(module->elf_header))
        return;
    entry = &entries[module->state - 1];
    module->state = 0;
    NSC_STORE(&entry->state, ENTRY_BUSY);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    /* Some milliseconds as a rule; for ever, if a tracer has given a call up. */
    for (waits = 0; waits < WAITS_CONTROL_MAX && nsc_control_in_use(); waits++)
        nsc_sys_sleep_ns(WAIT_CONTROL_NS);
    if (nsc_entry_patch_module(module))
        nsc_entry_patch_unload(module);
    s = nsc_session_present();
    if (s != NULL && entry->serial == s->serial && entry->slot != NO_SLOT) {
        live = s->modules + entry->slot;
        NSC_STORE(&live->unload_ticks, nsc_arch_ticks());
        nsc_session_cas32(&live->state, NSC_LIVE_LIVE, NSC_LIVE_DEAD);
    }
    NSC_STORE(&entry->serial, 0);
    entry->ready = 0;
    entry->module = NULL;
    NSC_STORE(&entry->state, ENTRY_FREE);
}

void nsc_modules_join(struct nsc_target_session *s)
{
    static const struct nsc_patch_verdict off = {.on = 0};
    uint32_t used = NSC_LOAD(&entries_used), i;
    struct nsc_live_module elf;

    for (i = 0; i < used; i++) {
        struct entry *entry = &entries[i];
        uint32_t problems;

        if (NSC_LOAD(&entry->state) != ENTRY_IDLE || entry->serial == s->serial ||
            describe(entry->module, &elf) < 0)
            continue;
        /* What a dead recorder has left on is turned off. */
        problems = entry->ready ? nsc_patch_turn(entry->module, elf.bias, &off)
                                : nsc_patch_ready(entry->module, elf.bias);
        note_problems(s, problems);
        entry->ready = elf.sleds_ready = problems == 0;
        publish_entry(s, entry, &elf);
    }
}

void nsc_modules_turn(struct nsc_target_session *s)
{
    uint32_t used = NSC_LOAD(&entries_used), problems = 0, i;
    struct nsc_live_module elf;

    NSC_ADD(&turns, 1);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (i = 0; i < used; i++) {
        const struct entry *entry = &entries[i];
        struct nsc_patch_verdict verdict = {.on = s != NULL};
        const struct nsc_live_module *live;

        if (NSC_LOAD(&entry->state) != ENTRY_IDLE || describe(entry->module, &elf) < 0 ||
            (s != NULL && (entry->serial != s->serial || entry->slot == NO_SLOT)))
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
