/*
 * patch.c - writing sleds into a module's code at load. Called with nobody running that code yet.
 * Code is never writable and executable at once, and gets back exactly the protection that it had.
 */
#include "arch/arch.h"
#include "os/os.h"
#include "runtime/module.h"

/* Where a sled is, and what it calls. */
struct sled {
    uint8_t *at;
    enum nsc_arch_sled form;
    const uint8_t *trampoline;
};

/* A run of sleds to write: those of one segment. */
struct batch {
    const struct nsc_runtime_module *module;
    const struct nsc_patch_verdict *verdict;
    uint64_t from;       /* first number in the site table */
    uint64_t start, end; /* run-time addresses */
    uint32_t problems;
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

static int sled_of_site(const struct batch *b, const struct nsc_live_site *site, struct sled *sled)
{
    int is_entry = site->kind == NSC_LIVE_SITE_ENTRY;

    if (!is_entry && site->kind != NSC_LIVE_SITE_EXIT)
        return 0;
    sled->at = (uint8_t *)((uintptr_t)&site->offset + (uintptr_t)(intptr_t)site->offset);
    sled->form = NSC_ARCH_SLED_SITE;
    if (!inside(b, sled->at, sled->form))
        return 0;
    sled->trampoline = b->module->trampolines[nsc_arch_sled_hook(sled->at, sled->form, is_entry)];
    return 1;
}

static int is_xray_entry(const struct nsc_runtime_xray *x)
{
    return x->kind == NSC_ARCH_XRAY_ENTRY || x->kind == NSC_ARCH_XRAY_ENTRY_ARGS;
}

/* On x86-64 an entry comes from another of clang's options than the exits do, and code can turn it
 * off or have it otherwise: exits alone would be losses that none are. */
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
    sled->trampoline = b->module->trampolines[nsc_arch_sled_hook(sled->at, sled->form, is_entry)];
    return 1;
}

/* The section is any compiler's: other objects may have nops of other lengths in it. */
static int sled_of_nop(const struct batch *b, uint64_t address, struct sled *sled)
{
    sled->at = (uint8_t *)(uintptr_t)address;
    sled->form = NSC_ARCH_SLED_NOP;
    if (!inside(b, sled->at, sled->form))
        return 0;
    sled->trampoline = b->module->trampolines[NSC_ARCH_HOOK_ENTRY];
    return 1;
}

/* Fills in entry @i of the site table; returns 0 if it is not a sled of this batch. */
static int sled_at(const struct batch *b, uint64_t i, struct sled *sled)
{
    uint64_t sites = site_count(b->module), xrays = xray_count(b->module);

    if (i < sites)
        return sled_of_site(b, b->module->sites_start + i, sled);
    if (i < sites + xrays)
        return sled_of_xray(b, b->module->xray_start + (i - sites), sled);
    return sled_of_nop(b, b->module->nops_start[i - sites - xrays], sled);
}

static int wanted(const struct nsc_patch_verdict *verdict, uint64_t i)
{
    if (!verdict->on)
        return 0;
    return verdict->bitmap == NULL || (verdict->bitmap[i / 8] >> (i % 8) & 1);
}

/* Writes the sleds, in place or into a copy of the code that begins at @copy. */
static void write_sleds(struct batch *b, uint8_t *copy)
{
    uint64_t total = sled_count(b->module);
    struct sled sled;
    uint64_t i;

    for (i = b->from; i < total; i++) {
        uint8_t *to;

        if (!sled_at(b, i, &sled))
            continue;
        to = copy + ((uint64_t)(uintptr_t)sled.at - b->start);
        if (nsc_arch_sled_write(to, sled.form,
                                (int64_t)((uintptr_t)sled.trampoline - (uintptr_t)sled.at),
                                wanted(b->verdict, i)) < 0)
            b->problems |= NSC_LIVE_PROBLEM_FAR;
    }
}

/* Narrows the batch to the pages that hold sleds. Returns 0 if there are none. */
static int narrow(struct batch *b, uint64_t page_bytes)
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
    b->start = start & ~(page_bytes - 1);
    b->end = (end + page_bytes - 1) & ~(page_bytes - 1);
    return 1;
}

/*
 * The kernel writes for us, through /proc/self/mem: the code stays executable, its protection is
 * not touched, and it does not matter whether code may be made writable or memory executable here.
 */
static int write_through_kernel(struct batch *b)
{
    size_t bytes = (size_t)(b->end - b->start), done = 0;
    const uint8_t *code = (const uint8_t *)(uintptr_t)b->start;
    int fd = nsc_os_open("/proc/self/mem", 1);
    uint8_t *copy = fd >= 0 ? nsc_os_map_private(bytes) : NULL;
    size_t i;

    if (copy != NULL) {
        for (i = 0; i < bytes; i++)
            copy[i] = code[i];
        write_sleds(b, copy);
        while (done < bytes) {
            long n = nsc_os_write_at(fd, copy + done, bytes - done, b->start + done);

            if (n <= 0)
                break;
            done += (size_t)n;
        }
        nsc_os_unmap(copy, bytes);
    }
    if (fd >= 0)
        nsc_os_close(fd);
    return done == bytes ? 0 : -1;
}

/* Whether memory that was written may become executable: some policies forbid the way back. */
static int may_return(size_t page_bytes)
{
    uint8_t *page = nsc_os_map_private(page_bytes);
    int allowed;

    if (page == NULL)
        return 0;
    *(volatile uint8_t *)page = 1;
    allowed = nsc_os_protect(page, page_bytes, NSC_OS_READ | NSC_OS_EXEC) == 0;
    nsc_os_unmap(page, page_bytes);
    return allowed;
}

/* For where there is no /proc. Not for a static program, which contains this very function. */
static int write_in_place(struct batch *b, int protection, size_t page_bytes)
{
    uint8_t *code = (uint8_t *)(uintptr_t)b->start;
    size_t bytes = (size_t)(b->end - b->start);

    if (!may_return(page_bytes) || nsc_os_protect(code, bytes, NSC_OS_READ | NSC_OS_WRITE) < 0)
        return -1;
    write_sleds(b, code);
    return nsc_os_protect(code, bytes, protection);
}

/* Whether a module that is not recorded runs better when its code is written: see module.h. */
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

uint32_t nsc_patch_module(const struct nsc_runtime_module *module, uint64_t bias,
                          const struct nsc_patch_verdict *verdict)
{
    /* Off sleds of gcc need no work: their first byte is all that matters. */
    struct batch b = {
        .module = module, .verdict = verdict, .from = verdict->on ? 0 : site_count(module)};
    uint64_t own = (uint64_t)(uintptr_t)&nsc_patch_module;
    uint64_t page_bytes;
    struct nsc_elf_segment text;
    unsigned at = 0;
    int failed;

    if (!verdict->on && !slow_as_compiled(module))
        return 0;
    page_bytes = nsc_os_page_bytes();
    while (nsc_elf_text(module->elf_header, bias, page_bytes, &at, &text)) {
        b.start = text.start;
        b.end = text.end;
        if (!narrow(&b, page_bytes))
            continue;
        failed = write_through_kernel(&b);
        if (failed && !(own >= text.start && own < text.end))
            failed = write_in_place(&b, text.protection, page_bytes);
        if (failed)
            b.problems |= NSC_LIVE_PROBLEM_MPROTECT;
        nsc_arch_code_changed((uint8_t *)(uintptr_t)b.start, (uint8_t *)(uintptr_t)b.end);
    }
    return b.problems;
}
