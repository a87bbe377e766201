/*
 * entry_patch.c - dynamic function instrumentation: generates code for enabled functions, near
 * their module, and allocates the tables of return addresses. Called at module load, when the set
 * of enabled functions changes, and by the hook at the first call in a part of a stack.
 *
 * Generated memory is readable and executable, never writable. The kernel writes it, through
 * /proc/self/mem, as it writes a module's code.
 */
#include "linux/patch/entry_patch.h"

#include "abi/return_table.h"
#include "arch/arch.h"
#include "arch/patchable_entry.h"
#include "linux/patch/module_elf.h"
#include "linux/session/session_state.h"
#include "linux/sys/sys.h"

#define WINDOW_BYTES      4096u
#define GONE_MAX          256
#define STEP              (8ll << 20) /* distance between two places to try */
#define TABLE_BYTES(last) (((size_t)(last) + 1) * sizeof(uint64_t))

/*
 * ---- Return addresses --------------------------------------------------------------------------
 *
 * See return_table.h. The tables only grow. Every thread may add to them, signal handlers included:
 * the one that loses the race frees its memory.
 */
static uint64_t *top;

static uint64_t *add_table(uint64_t *to, size_t bytes)
{
    uint64_t *made = (uint64_t *)(uintptr_t)NSC_LOAD(to);

    if (made != NULL)
        return made;
    made = nsc_sys_map_private(bytes);
    if (made != NULL && !nsc_session_cas64(to, 0, (uint64_t)(uintptr_t)made))
        nsc_sys_unmap(made, bytes);
    return (uint64_t *)(uintptr_t)NSC_LOAD(to);
}

static uint64_t *top_table(void)
{
    return add_table((uint64_t *)(void *)&top, TABLE_BYTES(NSC_PATCHABLE_TOP_LAST));
}

int nsc_entry_patch_reserve(uint64_t position)
{
    uint64_t *middle;

    if (position >> NSC_PATCHABLE_ADDRESS_BITS != 0)
        return 0;
    middle = add_table(top + (position >> NSC_PATCHABLE_TOP_SHIFT),
                       TABLE_BYTES(NSC_PATCHABLE_MIDDLE_LAST));
    if (middle == NULL)
        return 0;
    middle += position >> NSC_PATCHABLE_MIDDLE_SHIFT & NSC_PATCHABLE_MIDDLE_LAST;
    return add_table(middle,
                     (size_t)1 << (NSC_PATCHABLE_MIDDLE_SHIFT + NSC_PATCHABLE_SLOT_SHIFT)) != NULL;
}

/* ---- Writing code ------------------------------------------------------------------------------
 */

/* Buffered writes to code, one window at a time. */
struct window {
    int mem;
    uint64_t at;     /* run-time address, a multiple of WINDOW_BYTES; 0: none */
    size_t from, to; /* range of changed bytes */
    uint8_t *bytes;
    int failed;
};

/* Write whole words: on AArch64 an instruction must change in one store. */
static void window_flush(struct window *w)
{
    if (w->from < w->to) {
        w->from &= ~(size_t)3;
        w->to = (w->to + 3) & ~(size_t)3;
    }
    while (w->from < w->to) {
        long n = nsc_sys_write_at(w->mem, w->bytes + w->from, w->to - w->from, w->at + w->from);

        if (n <= 0) {
            w->failed = 1;
            break;
        }
        w->from += (size_t)n;
    }
    w->from = WINDOW_BYTES;
    w->to = 0;
}

static void window_move(struct window *w, uint64_t at)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)at;
    size_t i;

    window_flush(w);
    for (i = 0; i < WINDOW_BYTES; i++)
        w->bytes[i] = code[i];
    w->at = at;
}

static void window_put(struct window *w, uint64_t at, const uint8_t *bytes, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++, at++) {
        size_t offset = at % WINDOW_BYTES;

        if (w->at != at - offset)
            window_move(w, at - offset);
        if (w->bytes[offset] == bytes[i])
            continue;
        w->bytes[offset] = bytes[i];
        if (offset < w->from)
            w->from = offset;
        if (offset >= w->to)
            w->to = offset + 1;
    }
}

/* ---- Entries -----------------------------------------------------------------------------------
 */

struct work {
    const struct nsc_runtime_module *module;
    const struct nsc_patch_verdict *verdict;
    int fresh; /* 1: no thread executes the module's code yet */
    uint64_t text_start, text_end;
    struct window code, landings, stubs;
    uint32_t problems;
};

static uint64_t count_of(const struct nsc_runtime_module *m)
{
    return (uint64_t)(m->nops_end - m->nops_start);
}

int nsc_entry_patch_module(const struct nsc_runtime_module *module)
{
    return module->patchable != NULL && count_of(module) != 0 &&
           module->sites_start == module->sites_end && module->xray_start == module->xray_end;
}

int nsc_entry_patch_is_passed_over(const struct nsc_runtime_module *module)
{
    return module->nops_start != module->nops_end && module->sites_start != module->sites_end &&
           module->xray_start == module->xray_end;
}

static int wanted(const struct work *w, uint64_t i)
{
    return nsc_patch_wanted(w->verdict, i);
}

/* Return the state of function @i's entry, and its address in @at; NSC_ARCH_PATCHABLE_NONE if it is
 * not in the module's code. */
static enum nsc_arch_patchable_state entry_of(const struct work *w, uint64_t i, uint64_t *at)
{
    *at = w->module->nops_start[i];
    if (*at < w->text_start || *at >= w->text_end ||
        w->text_end - *at < NSC_ARCH_PATCHABLE_ENTRY_BYTES)
        return NSC_ARCH_PATCHABLE_NONE;
    return nsc_arch_patchable_state((const uint8_t *)(uintptr_t)*at,
                                    w->module->patchable->distance);
}

static void put_entry(struct work *w, uint64_t at, enum nsc_arch_patchable_state state)
{
    uint8_t bytes[NSC_ARCH_PATCHABLE_ENTRY_BYTES];
    unsigned i;

    for (i = 0; i < sizeof(bytes); i++)
        bytes[i] = ((const uint8_t *)(uintptr_t)at)[i];
    nsc_arch_patchable_entry(bytes, state, w->module->patchable->distance);
    window_put(&w->code, at, bytes, sizeof(bytes));
}

/* Generate the stub and landing of function @i. Returns 0 or -1. */
static int make_code(struct work *w, uint64_t i, uint64_t entry)
{
    const struct nsc_runtime_patchable *patchable = w->module->patchable;
    uint64_t stub = patchable->stubs + i * NSC_ARCH_PATCHABLE_STUB_BYTES;
    uint64_t landing = entry + (uint64_t)patchable->distance;
    uint8_t bytes[NSC_ARCH_PATCHABLE_STUB_BYTES];

    if (nsc_arch_patchable_stub(bytes, stub, entry + NSC_ARCH_PATCHABLE_ENTRY_BYTES,
                                (uint64_t)(uintptr_t)patchable->hook) < 0)
        return -1;
    window_put(&w->stubs, stub, bytes, sizeof(bytes));
    if (nsc_arch_patchable_landing(bytes, landing, stub) < 0)
        return -1;
    window_put(&w->landings, landing, bytes, NSC_ARCH_PATCHABLE_LANDING_BYTES);
    return 0;
}

/*
 * Return 1 if function @i must be made ready now. If the landings are at a distance that is not
 * valid for nops while threads execute them, this is the last chance.
 */
static int is_due(const struct work *w, uint64_t i, enum nsc_arch_patchable_state state)
{
    if (state == NSC_ARCH_PATCHABLE_NOP || !w->module->patchable->anywhere)
        return wanted(w, i) &&
               (state == NSC_ARCH_PATCHABLE_NOP || state == NSC_ARCH_PATCHABLE_NOPS);
    return w->fresh && state == NSC_ARCH_PATCHABLE_NOPS;
}

/* Generate code for the enabled functions that have none, and claim their entries. Returns their
 * number. */
static uint64_t make_all(struct work *w)
{
    uint64_t i, at, made = 0;

    for (i = 0; i < count_of(w->module); i++) {
        enum nsc_arch_patchable_state state = entry_of(w, i, &at);

        if (state == NSC_ARCH_PATCHABLE_NONE && wanted(w, i))
            w->problems |= NSC_LIVE_PROBLEM_NOPS;
        if (!is_due(w, i, state))
            continue;
        if (make_code(w, i, at) < 0) {
            w->problems |= NSC_LIVE_PROBLEM_FAR;
            continue;
        }
        put_entry(w, at, NSC_ARCH_PATCHABLE_CLAIMED);
        made++;
    }
    window_flush(&w->stubs);
    window_flush(&w->landings);
    window_flush(&w->code);
    return made;
}

static void fill_all(struct work *w)
{
    uint64_t i, at;

    for (i = 0; i < count_of(w->module); i++)
        if (entry_of(w, i, &at) == NSC_ARCH_PATCHABLE_CLAIMED)
            put_entry(w, at, NSC_ARCH_PATCHABLE_OFF);
    window_flush(&w->code);
}

static void switch_all(struct work *w)
{
    uint64_t i, at;

    for (i = 0; i < count_of(w->module); i++) {
        enum nsc_arch_patchable_state state = entry_of(w, i, &at);

        if (state == NSC_ARCH_PATCHABLE_OFF && wanted(w, i))
            put_entry(w, at, NSC_ARCH_PATCHABLE_ON);
        else if (state == NSC_ARCH_PATCHABLE_ON && !wanted(w, i))
            put_entry(w, at, NSC_ARCH_PATCHABLE_OFF);
    }
    window_flush(&w->code);
}

/* ---- Memory near a module ----------------------------------------------------------------------
 */

/* Generated code of modules that have been unloaded, or are about to be. */
static struct gone {
    uint64_t state; /* 0 free, 1 being written, 2 in use */
    uint64_t text_start, text_end, start, end;
} gone[GONE_MAX];

void nsc_entry_patch_unload(const struct nsc_runtime_module *module)
{
    const struct nsc_runtime_patchable *patchable = module->patchable;
    unsigned i;

    /* Not released at once: while the program ends, other threads still execute the module's
     * code. */
    for (i = 0; patchable->start != 0 && i < GONE_MAX; i++) {
        if (!nsc_session_cas64(&gone[i].state, 0, 1))
            continue;
        gone[i].text_start = patchable->text_start;
        gone[i].text_end = patchable->text_end;
        gone[i].start = patchable->start;
        gone[i].end = patchable->end;
        NSC_STORE(&gone[i].state, 2);
        return;
    }
}

/* Release generated code of modules that are no longer mapped, or whose addresses @w's module now
 * has. */
static void clean_up(const struct work *w)
{
    unsigned i;

    for (i = 0; i < GONE_MAX; i++) {
        struct gone *g = &gone[i];

        if (NSC_LOAD(&g->state) != 2)
            continue;
        if (nsc_sys_is_mapped(g->text_start) &&
            (g->text_start >= w->text_end || w->text_start >= g->text_end))
            continue;
        if (!nsc_session_cas64(&g->state, 2, 1))
            continue;
        nsc_sys_unmap((void *)(uintptr_t)g->start, (size_t)(g->end - g->start));
        NSC_STORE(&g->state, 0);
    }
}

/* Summary of a module's entries. */
struct survey {
    uint64_t first, last;      /* addresses of entries */
    int runs;                  /* 1: some are NSC_ARCH_PATCHABLE_NOPS */
    uint64_t stack, stack_end; /* addresses to avoid: the stack may lie above a library */
};

static struct survey survey(const struct work *w)
{
    struct survey s = {.first = UINT64_MAX};
    uint64_t i, at;

    for (i = 0; i < count_of(w->module); i++) {
        enum nsc_arch_patchable_state state = entry_of(w, i, &at);

        if (state == NSC_ARCH_PATCHABLE_NONE)
            continue;
        if (at < s.first)
            s.first = at;
        if (at > s.last)
            s.last = at;
        if (state == NSC_ARCH_PATCHABLE_NOPS)
            s.runs = 1;
    }
    return s;
}

/* Try to map the landings at @distance, and the stubs after them. Returns 0 or -1. */
static int place_at(struct work *w, const struct survey *s, int64_t distance)
{
    struct nsc_runtime_patchable *patchable = w->module->patchable;
    uint64_t page = nsc_sys_page_bytes(), start, stubs, end;

    if (distance < 0 && s->first < (uint64_t)-distance + page)
        return -1;
    start = (s->first + (uint64_t)distance) & ~(page - 1);
    stubs = s->last + (uint64_t)distance + NSC_ARCH_PATCHABLE_LANDING_BYTES;
    stubs = (stubs + page - 1) & ~(page - 1);
    end = stubs + count_of(w->module) * NSC_ARCH_PATCHABLE_STUB_BYTES;
    end = (end + page - 1) & ~(page - 1);
    if ((start < s->stack_end && s->stack < end) ||
        nsc_sys_map_code(start, (size_t)(end - start)) < 0)
        return -1;
    patchable->text_start = w->text_start;
    patchable->text_end = w->text_end;
    patchable->start = start;
    patchable->end = end;
    patchable->stubs = stubs;
    patchable->distance = distance;
    *patchable->table = (uint64_t)(uintptr_t)top;
    return 0;
}

/* Map memory for the module's landings and stubs. Returns 0, or -1 if no place is free. */
static int find_place(struct work *w)
{
    struct survey s = survey(w);
    unsigned number;
    int64_t distance;

    if (s.last == 0)
        return 0;
    if (nsc_sys_main_stack(&s.stack, &s.stack_end) < 0)
        return -1;
    clean_up(w);
    for (number = 0; (distance = nsc_arch_patchable_distance(number)) != 0; number++)
        if (place_at(w, &s, distance) == 0)
            return 0;
    if (s.runs && !w->fresh)
        return -1;
    for (distance = STEP; distance < NSC_ARCH_PATCHABLE_REACH; distance += STEP) {
        if (place_at(w, &s, -distance) < 0 && place_at(w, &s, distance) < 0)
            continue;
        w->module->patchable->anywhere = 1;
        return 0;
    }
    return -1;
}

/* ---- Applying a verdict ---------------------------------------------------------------------- */

static int failed(const struct work *w)
{
    return w->code.failed || w->landings.failed || w->stubs.failed;
}

/* Make the functions of the verdict ready to be enabled. Returns 0 or a NSC_LIVE_PROBLEM_*. */
static uint32_t prepare(struct work *w)
{
    if (make_all(w) == 0)
        return 0;
    if (failed(w))
        return NSC_LIVE_PROBLEM_MPROTECT;
    if (nsc_sys_sync_cores() < 0)
        return NSC_LIVE_PROBLEM_BARRIER;
    fill_all(w);
    if (failed(w))
        return NSC_LIVE_PROBLEM_MPROTECT;
    return nsc_sys_sync_cores() < 0 ? NSC_LIVE_PROBLEM_BARRIER : 0;
}

static void choose(struct work *w)
{
    static const struct nsc_patch_verdict none = {.on = 0};

    if (w->verdict->on && !w->module->patchable->broken)
        w->module->patchable->broken = prepare(w);
    if (w->module->patchable->broken) {
        w->verdict = &none;
        w->problems |= (uint32_t)w->module->patchable->broken;
    }
    switch_all(w);
}

static void window_open(struct window *w, int mem, uint8_t *bytes)
{
    w->mem = mem;
    w->at = 0;
    w->from = WINDOW_BYTES;
    w->to = 0;
    w->bytes = bytes;
    w->failed = 0;
}

/* @bytes: memory for three windows. */
static void apply(struct work *w, int mem, uint8_t *bytes)
{
    if (top_table() == NULL || (w->module->patchable->start == 0 && find_place(w) < 0)) {
        w->problems |= NSC_LIVE_PROBLEM_FAR;
        return;
    }
    if (w->module->patchable->start == 0) {
        w->problems |= NSC_LIVE_PROBLEM_NOPS;
        return;
    }
    window_open(&w->code, mem, bytes);
    window_open(&w->landings, mem, bytes + WINDOW_BYTES);
    window_open(&w->stubs, mem, bytes + 2 * WINDOW_BYTES);
    choose(w);
    if (failed(w))
        w->problems |= NSC_LIVE_PROBLEM_MPROTECT;
}

uint32_t nsc_entry_patch_apply(const struct nsc_runtime_module *module, uint64_t bias,
                               const struct nsc_patch_verdict *verdict, int fresh)
{
    uint64_t page = nsc_sys_page_bytes();
    struct nsc_elf_segment text;
    unsigned segment = 0;
    struct work w; /* not initialised as a whole: the compiler would call memset */
    uint8_t *bytes;
    int mem;

    if (!verdict->on && module->patchable->start == 0)
        return 0;
    w.module = module;
    w.verdict = verdict;
    w.fresh = fresh;
    w.problems = 0;
    w.text_start = UINT64_MAX;
    w.text_end = 0;
    while (nsc_elf_text(module->elf_header, bias, page, &segment, &text)) {
        w.text_start = text.start < w.text_start ? text.start : w.text_start;
        w.text_end = text.end > w.text_end ? text.end : w.text_end;
    }
    mem = nsc_sys_open("/proc/self/mem", 1);
    if (mem < 0)
        return NSC_LIVE_PROBLEM_MPROTECT;
    bytes = nsc_sys_map_private(3 * WINDOW_BYTES);
    if (bytes != NULL) {
        apply(&w, mem, bytes);
        nsc_sys_unmap(bytes, 3 * WINDOW_BYTES);
    } else {
        w.problems |= NSC_LIVE_PROBLEM_MPROTECT;
    }
    nsc_sys_close(mem);
    return w.problems;
}
