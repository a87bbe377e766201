/*
 * sled_patch.c - writes sleds into a module's code: at load, before any thread runs that code, and
 * later, while threads run it. Code is never writable and executable at once, and keeps exactly its
 * original protection. Pages without sleds, and pages that need no change, are not written.
 */
#include "linux/patch/sled_patch.h"

#include "arch/arch.h"
#include "linux/patch/module_elf.h"
#include "linux/session/current_session.h"
#include "linux/sys/sys.h"

/* Address of a sled, and the hook that it calls. */
struct sled {
    uint8_t *at;
    enum nsc_arch_sled form;
    const uint8_t *trampoline;
};

enum edit {
    EDIT_WRITE, /* write the whole sled: no thread executes it */
    EDIT_READY, /* one step of nsc_arch_sled_ready() */
    EDIT_TURN,  /* enable or disable only */
};

/* The sleds of one segment. */
struct batch {
    const struct nsc_runtime_module *module;
    const struct nsc_patch_verdict *verdict; /* unused by EDIT_READY */
    enum edit edit;
    unsigned step;       /* of EDIT_READY */
    uint64_t from;       /* first index in the site table */
    uint64_t start, end; /* run-time addresses */
    uint64_t page_bytes;
    uint32_t problems;
    uint32_t flags; /* of the session: they decide which hooks exits call */
};

static uint64_t site_count(const struct nsc_runtime_module *m)
{
    return (uint64_t)(m->sites_end - m->sites_start);
}

static uint64_t xray_count(const struct nsc_runtime_module *m)
{
    return (uint64_t)(m->xray_end - m->xray_start);
}

static uint64_t nop_count(const struct nsc_runtime_module *m)
{
    return (uint64_t)(m->nops_end - m->nops_start);
}

static uint64_t sled_count(const struct nsc_runtime_module *m)
{
    return site_count(m) + xray_count(m) + nop_count(m);
}

static int inside(const struct batch *b, const uint8_t *at, enum nsc_arch_sled form)
{
    uint64_t start = (uint64_t)(uintptr_t)at;

    return start >= b->start && start < b->end && nsc_arch_sled_bytes(form) <= b->end - start &&
           nsc_arch_sled_known(at, form);
}

static const uint8_t *trampoline(const struct batch *b, enum nsc_arch_hook hook)
{
    const struct nsc_runtime_module *m = b->module;
    const uint8_t *exits[2] = {m->trampolines[NSC_ARCH_HOOK_RETURN],
                               m->trampolines[NSC_ARCH_HOOK_TAIL]};

    if (hook != NSC_ARCH_HOOK_RETURN && hook != NSC_ARCH_HOOK_TAIL)
        return m->trampolines[hook];
    if ((b->flags & NSC_LIVE_FLAG_ENTRY_TIMING) != 0) {
        exits[0] = m->untimed_return;
        exits[1] = m->untimed_tail;
    } else if ((b->flags & NSC_LIVE_FLAG_REWIND) != 0 && m->rewind_return != NULL) {
        exits[0] = m->rewind_return;
        exits[1] = m->rewind_tail;
    }
    return exits[hook == NSC_ARCH_HOOK_TAIL];
}

static int sled_of_site(const struct batch *b, const struct nsc_live_site *site, struct sled *sled)
{
    int is_entry = site->kind == NSC_LIVE_SITE_ENTRY;

    if (!is_entry && site->kind != NSC_LIVE_SITE_EXIT)
        return 0;
    sled->at = (uint8_t *)((uintptr_t)&site->offset + (uintptr_t)(intptr_t)site->offset);
    sled->form = NSC_ARCH_SLED_SITE;
    if (!inside(b, sled->at, sled->form))
        return 0;
    sled->trampoline = trampoline(b, nsc_arch_sled_hook(sled->at, sled->form, is_entry));
    return 1;
}

static int is_xray_entry(const struct nsc_runtime_xray *x)
{
    return x->kind == NSC_ARCH_XRAY_ENTRY || x->kind == NSC_ARCH_XRAY_ENTRY_ARGS;
}

/* On x86-64, clang has separate options for entry and exit sleds, and source code may disable the
 * entry sled or change it. Exits without entries would count as losses that did not happen. */
static int has_entry(const struct batch *b, const struct nsc_runtime_xray *x)
{
    uint64_t function = (uint64_t)(uintptr_t)&x->function + (uint64_t)x->function;

    return function >= b->start && function < b->end && b->end - function >= NSC_ARCH_ENTRY_BYTES &&
           nsc_arch_entry_known((const uint8_t *)(uintptr_t)function);
}

static int sled_of_xray(const struct batch *b, const struct nsc_runtime_xray *x, struct sled *sled)
{
    int is_entry = is_xray_entry(x);

    if (x->version != 2 || x->kind > NSC_ARCH_XRAY_ENTRY_ARGS)
        return 0;
    sled->at = (uint8_t *)((uintptr_t)&x->address + (uintptr_t)x->address);
    sled->form = x->kind == NSC_ARCH_XRAY_EXIT ? NSC_ARCH_SLED_XRAY_EXIT : NSC_ARCH_SLED_XRAY;
    if (!inside(b, sled->at, sled->form) || (!is_entry && !has_entry(b, x)))
        return 0;
    sled->trampoline = trampoline(b, nsc_arch_sled_hook(sled->at, sled->form, is_entry));
    return 1;
}

/* Any compiler may write to this section: other objects may have nops of other lengths in it. */
static int sled_of_nop(const struct batch *b, uint64_t address, struct sled *sled)
{
    sled->at = (uint8_t *)(uintptr_t)address;
    sled->form = NSC_ARCH_SLED_NOP;
    if (!inside(b, sled->at, sled->form))
        return 0;
    sled->trampoline = b->module->trampolines[NSC_ARCH_HOOK_ENTRY];
    return 1;
}

/* Fill in sled @i of the site table; returns 0 if it is not a sled of this batch. */
static int sled_at(const struct batch *b, uint64_t i, struct sled *sled)
{
    uint64_t sites = site_count(b->module), xrays = xray_count(b->module);

    if (i < sites)
        return sled_of_site(b, b->module->sites_start + i, sled);
    if (i < sites + xrays)
        return sled_of_xray(b, b->module->xray_start + (i - sites), sled);
    return sled_of_nop(b, b->module->nops_start[i - sites - xrays], sled);
}

/* Edit sled @i, whose bytes are at @to: the code itself or a copy. */
static void edit_sled(struct batch *b, const struct sled *sled, uint64_t i, uint8_t *to)
{
    int64_t distance = (int64_t)((uintptr_t)sled->trampoline - (uintptr_t)sled->at);

    switch (b->edit) {
    case EDIT_WRITE:
        if (nsc_arch_sled_write(to, sled->form, distance, nsc_patch_wanted(b->verdict, i)) < 0)
            b->problems |= NSC_LIVE_PROBLEM_FAR;
        break;
    case EDIT_READY:
        if (nsc_arch_sled_ready(to, sled->form, distance, b->step) < 0)
            b->problems |= NSC_LIVE_PROBLEM_FAR;
        break;
    case EDIT_TURN: /* EDIT_READY has reported sleds that are not ready */
        nsc_arch_sled_turn(to, sled->form, distance, nsc_patch_wanted(b->verdict, i));
        break;
    }
}

/* Narrow the batch to the pages that hold sleds. Returns 0 if there are none. */
static int narrow(struct batch *b)
{
    uint64_t total = sled_count(b->module);
    uint64_t start = UINT64_MAX, end = 0;
    struct sled sled;
    uint64_t i;

    for (i = b->from; i < total; i++) {
        uint64_t at;

        if (!sled_at(b, i, &sled))
            continue;
        at = (uint64_t)(uintptr_t)sled.at;
        if (at < start)
            start = at;
        if (at + nsc_arch_sled_bytes(sled.form) > end)
            end = at + nsc_arch_sled_bytes(sled.form);
    }
    if (start >= end)
        return 0;
    b->start = start & ~(b->page_bytes - 1);
    b->end = (end + b->page_bytes - 1) & ~(b->page_bytes - 1);
    return 1;
}

/* A copy of a batch's pages; only those with sleds are filled in. */
struct copy {
    uint8_t *code;  /* private memory of the batch's length */
    uint8_t *taken; /* one byte per page: 1 if the page is filled in */
};

static void take_page(const struct batch *b, const struct copy *copy, uint64_t page)
{
    const uint8_t *from = (const uint8_t *)(uintptr_t)(b->start + page * b->page_bytes);
    uint8_t *to = copy->code + page * b->page_bytes;
    uint64_t i;

    for (i = 0; i < b->page_bytes; i++)
        to[i] = from[i];
    copy->taken[page] = 1;
}

/* Edits all sleds in the copy. */
static void edit_copy(struct batch *b, const struct copy *copy)
{
    uint64_t total = sled_count(b->module);
    struct sled sled;
    uint64_t i, page;

    for (i = b->from; i < total; i++) {
        uint64_t at, last;

        if (!sled_at(b, i, &sled))
            continue;
        at = (uint64_t)(uintptr_t)sled.at - b->start;
        last = (at + nsc_arch_sled_bytes(sled.form) - 1) / b->page_bytes;
        for (page = at / b->page_bytes; page <= last; page++)
            if (!copy->taken[page])
                take_page(b, copy, page);
        edit_sled(b, &sled, i, copy->code + at);
    }
}

static int page_differs(const struct batch *b, const struct copy *copy, uint64_t page)
{
    const uint64_t *code = (const uint64_t *)(uintptr_t)(b->start + page * b->page_bytes);
    const uint64_t *other = (const uint64_t *)(const void *)(copy->code + page * b->page_bytes);
    uint64_t i;

    if (!copy->taken[page])
        return 0;
    for (i = 0; i < b->page_bytes / sizeof(*code); i++)
        if (code[i] != other[i])
            return 1;
    return 0;
}

static int write_all(int fd, const uint8_t *from, uint64_t bytes, uint64_t to)
{
    while (bytes > 0) {
        long n = nsc_sys_write_at(fd, from, (size_t)bytes, to);

        if (n <= 0)
            return -1;
        from += n;
        to += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return 0;
}

/* Write the pages of the copy that differ from the code; one write for neighbours. Returns their
 * number, or -1. */
static int64_t write_pages(struct batch *b, const struct copy *copy)
{
    uint64_t pages = (b->end - b->start) / b->page_bytes, page = 0, written = 0;
    int fd = -1, failed = 0;

    while (page < pages && !failed) {
        uint64_t first = page;

        while (page < pages && page_differs(b, copy, page))
            page++;
        if (page == first) {
            page++;
            continue;
        }
        if (fd < 0)
            fd = nsc_sys_open("/proc/self/mem", 1);
        failed = fd < 0 ||
                 write_all(fd, copy->code + first * b->page_bytes, (page - first) * b->page_bytes,
                           b->start + first * b->page_bytes) < 0;
        written += page - first;
    }
    if (fd >= 0)
        nsc_sys_close(fd);
    return failed ? -1 : (int64_t)written;
}

/*
 * Write through the kernel, by /proc/self/mem. The code stays executable and its protection is not
 * touched. So a policy against writable code or executable memory does not matter. Returns the
 * number of pages, or -1.
 */
static int64_t write_through_kernel(struct batch *b)
{
    uint64_t bytes = b->end - b->start, pages = bytes / b->page_bytes;
    struct copy copy;
    int64_t written;

    copy.code = nsc_sys_map_private((size_t)(bytes + pages));
    if (copy.code == NULL)
        return -1;
    copy.taken = copy.code + bytes;
    edit_copy(b, &copy);
    written = write_pages(b, &copy);
    nsc_sys_unmap(copy.code, (size_t)(bytes + pages));
    return written;
}

/* Return 1 if memory that was written may become executable again: some policies forbid it. */
static int may_return(size_t page_bytes)
{
    uint8_t *page = nsc_sys_map_private(page_bytes);
    int allowed;

    if (page == NULL)
        return 0;
    *(volatile uint8_t *)page = 1;
    allowed = nsc_sys_protect(page, page_bytes, NSC_SYS_READ | NSC_SYS_EXEC) == 0;
    nsc_sys_unmap(page, page_bytes);
    return allowed;
}

/* Write in place, if there is no /proc. Not for a static program, which contains this function
 * itself. */
static int write_in_place(struct batch *b, int protection)
{
    uint8_t *code = (uint8_t *)(uintptr_t)b->start;
    size_t bytes = (size_t)(b->end - b->start);
    uint64_t total = sled_count(b->module), i;
    struct sled sled;

    if (!may_return((size_t)b->page_bytes) ||
        nsc_sys_protect(code, bytes, NSC_SYS_READ | NSC_SYS_WRITE) < 0)
        return -1;
    for (i = b->from; i < total; i++)
        if (sled_at(b, i, &sled))
            edit_sled(b, &sled, i, sled.at);
    return nsc_sys_protect(code, bytes, protection);
}

/* Return 1 if a module that is not recorded runs faster when its code is written: see
 * nsc_patch_module(). */
static int slow_as_compiled(const struct nsc_runtime_module *module)
{
    const struct nsc_runtime_xray *x;

    if (!nsc_arch_xray_slow())
        return 0;
    for (x = module->xray_start; x < module->xray_end; x++)
        if (is_xray_entry(x))
            return 1;
    return 0;
}

/* Edit the sleds of all segments. Returns the number of pages written, or -1 on failure. */
static int64_t edit_module(struct batch *b, uint64_t bias)
{
    uint64_t own = (uint64_t)(uintptr_t)&nsc_patch_module;
    struct nsc_elf_segment text;
    int64_t written = 0, n;
    unsigned at = 0;

    b->page_bytes = nsc_sys_page_bytes();
    while (nsc_elf_text(b->module->elf_header, bias, b->page_bytes, &at, &text)) {
        b->start = text.start;
        b->end = text.end;
        if (!narrow(b))
            continue;
        n = write_through_kernel(b);
        if (n < 0 && b->edit == EDIT_WRITE && !(own >= text.start && own < text.end))
            n = write_in_place(b, text.protection);
        if (n < 0) {
            b->problems |= NSC_LIVE_PROBLEM_MPROTECT;
            written = -1;
        } else if (written >= 0) {
            written += n;
        }
        nsc_arch_code_changed((uint8_t *)(uintptr_t)b->start, (uint8_t *)(uintptr_t)b->end);
    }
    return written;
}

/* The fields are set one by one: for an initialiser the compiler would call memset. */
static void begin_batch(struct batch *b, const struct nsc_runtime_module *module, enum edit edit,
                        const struct nsc_patch_verdict *verdict)
{
    const struct nsc_target_session *s = NSC_LOAD(&nsc_session_current);

    b->module = module;
    b->verdict = verdict;
    b->edit = edit;
    b->step = 0;
    b->from = 0;
    b->problems = 0;
    b->flags = s != NULL ? s->flags : 0;
}

uint32_t nsc_patch_module(const struct nsc_runtime_module *module, uint64_t bias,
                          const struct nsc_patch_verdict *verdict)
{
    struct batch b;

    if (nsc_entry_patch_module(module))
        return nsc_entry_patch_apply(module, bias, verdict, 1);
    begin_batch(&b, module, EDIT_WRITE, verdict);
    if (!verdict->on) /* a disabled gcc sled, as compiled, needs no write: only its first byte
                       * matters */
        b.from = site_count(module);
    if (verdict->on || slow_as_compiled(module))
        edit_module(&b, bias);
    return b.problems;
}

uint32_t nsc_patch_ready(const struct nsc_runtime_module *module, uint64_t bias)
{
    struct batch b;

    if (nsc_entry_patch_module(module))
        return 0; /* each function is made ready when it is enabled */
    /* Also before the first step: do not start steps that cannot be completed. */
    if (sled_count(module) != 0 && nsc_sys_sync_cores() < 0)
        return NSC_LIVE_PROBLEM_BARRIER;
    begin_batch(&b, module, EDIT_READY, NULL);
    for (; b.step < NSC_ARCH_READY_STEPS; b.step++) {
        int64_t written = edit_module(&b, bias);

        if (written < 0)
            break;
        if (written > 0)
            nsc_sys_sync_cores();
    }
    return b.problems;
}

uint32_t nsc_patch_turn(const struct nsc_runtime_module *module, uint64_t bias,
                        const struct nsc_patch_verdict *verdict)
{
    struct batch b;

    if (nsc_entry_patch_module(module))
        return nsc_entry_patch_apply(module, bias, verdict, 0);
    begin_batch(&b, module, EDIT_TURN, verdict);
    edit_module(&b, bias);
    return b.problems;
}
