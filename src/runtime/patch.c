/*
 * patch.c - writing sleds into a module's code at load. Called with nobody running that code yet.
 * Code is never writable and executable at once, and gets back exactly the protection that it had.
 */
#include <elf.h>

#include "arch/arch.h"
#include "os/os.h"
#include "runtime/module.h"

/* Where the sleds of one kind of table entry are, and which trampoline they call. */
struct sled {
    uint8_t *at;
    enum nsc_arch_sled form;
    const uint8_t *trampoline;
};

static uint64_t site_count(const struct nsc_runtime_module *m)
{
    return (uint64_t)(m->sites_end - m->sites_start);
}

static uint64_t xray_count(const struct nsc_runtime_module *m)
{
    return (uint64_t)(m->xray_end - m->xray_start);
}

/* Fills in entry @i of the module's site table; returns 0 for entries that are not sleds. */
static int sled_at(const struct nsc_runtime_module *m, uint64_t i, struct sled *sled)
{
    if (i < site_count(m)) {
        const struct nsc_live_site *site = m->sites_start + i;

        sled->at = (uint8_t *)((uintptr_t)&site->offset + (uintptr_t)(intptr_t)site->offset);
        sled->form = NSC_ARCH_SLED_SITE;
        sled->trampoline =
            site->kind == NSC_LIVE_SITE_ENTRY ? m->entry_trampoline : m->exit_trampoline;
        return site->kind == NSC_LIVE_SITE_ENTRY || site->kind == NSC_LIVE_SITE_EXIT;
    } else {
        const struct nsc_runtime_xray *x = m->xray_start + (i - site_count(m));
        int is_entry = x->kind == NSC_ARCH_XRAY_ENTRY || x->kind == NSC_ARCH_XRAY_ENTRY_ARGS;

        sled->at = (uint8_t *)((uintptr_t)&x->address + (uintptr_t)x->address);
        sled->form = x->kind == NSC_ARCH_XRAY_EXIT ? NSC_ARCH_SLED_XRAY_EXIT : NSC_ARCH_SLED_XRAY;
        sled->trampoline = is_entry ? m->entry_trampoline : m->exit_trampoline;
        return x->version == 2 && x->kind <= NSC_ARCH_XRAY_ENTRY_ARGS;
    }
}

static int wanted(const struct nsc_patch_verdict *verdict, uint64_t i)
{
    if (!verdict->on)
        return 0;
    return verdict->bitmap == NULL || (verdict->bitmap[i / 8] >> (i % 8) & 1);
}

static uint32_t write_sleds(const struct nsc_runtime_module *m, const struct nsc_live_module *elf,
                            const struct nsc_patch_verdict *verdict, uint64_t from)
{
    uint64_t total = site_count(m) + xray_count(m);
    uint32_t problems = 0;
    struct sled sled;
    uint64_t i;

    for (i = from; i < total; i++) {
        uint64_t at;

        if (!sled_at(m, i, &sled))
            continue;
        at = (uint64_t)(uintptr_t)sled.at;
        if (at < elf->text_start || at + nsc_arch_sled_bytes(sled.form) > elf->text_end ||
            !nsc_arch_sled_known(sled.at, sled.form))
            continue;
        if (nsc_arch_sled_write(sled.at, sled.form,
                                (int64_t)((uintptr_t)sled.trampoline - (uintptr_t)sled.at),
                                wanted(verdict, i)) < 0)
            problems |= NSC_LIVE_PROBLEM_FAR;
    }
    return problems;
}

/* Bytes of the sleds from number @from on, rounded out to pages. Empty if there are none. */
static void sled_range(const struct nsc_runtime_module *m, uint64_t from, uint64_t page_bytes,
                       uint64_t *start, uint64_t *end)
{
    uint64_t total = site_count(m) + xray_count(m);
    struct sled sled;
    uint64_t i;

    *start = UINT64_MAX;
    *end = 0;
    for (i = from; i < total; i++) {
        uint64_t at;

        if (!sled_at(m, i, &sled))
            continue;
        at = (uint64_t)(uintptr_t)sled.at;
        if (at < *start)
            *start = at;
        if (at + nsc_arch_sled_bytes(sled.form) > *end)
            *end = at + nsc_arch_sled_bytes(sled.form);
    }
    *start &= ~(page_bytes - 1);
    *end = (*end + page_bytes - 1) & ~(page_bytes - 1);
}

uint32_t nsc_patch_module(const struct nsc_runtime_module *module,
                          const struct nsc_live_module *elf,
                          const struct nsc_patch_verdict *verdict)
{
    /* Off sleds of gcc need no work: their first byte is all that matters. */
    uint64_t from = verdict->on ? 0 : site_count(module);
    uint64_t start, end;
    uint32_t problems;
    uint8_t *code;

    sled_range(module, from, nsc_os_page_bytes(), &start, &end);
    if (start >= end)
        return 0;
    code = (uint8_t *)(uintptr_t)start;
    if (nsc_os_protect(code, (size_t)(end - start), NSC_OS_READ | NSC_OS_WRITE) < 0)
        return NSC_LIVE_PROBLEM_MPROTECT;
    problems = write_sleds(module, elf, verdict, from);
    nsc_os_protect(code, (size_t)(end - start), NSC_OS_READ | NSC_OS_EXEC);
    nsc_arch_code_changed(code, code + (end - start));
    return problems;
}
