/* hook_sites.c - nsc_symbols_sites() of symbols.h: read the hook site tables of an ELF file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/live.h"
#include "symbols/object.h"

/* An entry of xray_instr_map as LLVM writes it. Source: llvm/docs/XRay.rst and compiler-rt's
 * xray_interface_internal.h. */
struct xray_entry {
    uint64_t address; /* version 2: relative to the address of this field; older: absolute */
    uint64_t function;
    uint8_t kind;
    uint8_t always;
    uint8_t version;
    uint8_t padding[13];
};
_Static_assert(sizeof(struct xray_entry) == 32, "XRay map entries are 32 bytes");

enum { XRAY_ENTRY = 0, XRAY_EXIT = 1, XRAY_TAIL_EXIT = 2, XRAY_ENTRY_WITH_ARGS = 3 };

static uint32_t xray_kind(uint8_t kind)
{
    switch (kind) {
    case XRAY_ENTRY:
    case XRAY_ENTRY_WITH_ARGS:
        return NSC_LIVE_SITE_ENTRY;
    case XRAY_EXIT:
    case XRAY_TAIL_EXIT:
        return NSC_LIVE_SITE_EXIT;
    default:
        return NSC_SYMBOLS_SITE_OTHER;
    }
}

static struct nsc_symbols_site own_site(const uint8_t *record, uint64_t va)
{
    struct nsc_live_site site;

    memcpy(&site, record, sizeof site);
    return (struct nsc_symbols_site){
        .va = va + (uint64_t)(int64_t)site.offset,
        .kind = site.kind <= NSC_LIVE_SITE_HOOK ? site.kind : NSC_SYMBOLS_SITE_OTHER,
        .table = NSC_SYMBOLS_SITES_OWN,
        .form = NSC_SYMBOLS_SLED_TEST,
    };
}

static struct nsc_symbols_site xray_site(const uint8_t *record, uint64_t va)
{
    struct xray_entry entry;

    memcpy(&entry, record, sizeof entry);
    return (struct nsc_symbols_site){
        .va = entry.version >= 2 ? va + entry.address : entry.address,
        .kind = xray_kind(entry.kind),
        .table = NSC_SYMBOLS_SITES_XRAY,
        .form = entry.kind == XRAY_EXIT ? NSC_SYMBOLS_SLED_RET : NSC_SYMBOLS_SLED_TEST,
    };
}

static struct nsc_symbols_site nop_site(const uint8_t *record, uint64_t va)
{
    struct nsc_symbols_site site = {.kind = NSC_LIVE_SITE_ENTRY,
                                    .table = NSC_SYMBOLS_SITES_NOPS,
                                    .form = NSC_SYMBOLS_SLED_TEST};

    (void)va;
    memcpy(&site.va, record, sizeof site.va);
    return site;
}

/* Append the records of one section; a missing section has none. */
static int append(const struct nsc_symbols *s, const char *name, size_t record_bytes,
                  struct nsc_symbols_site (*decode)(const uint8_t *record, uint64_t va),
                  struct nsc_symbols_site **sites, size_t *count, struct nsc_diag *diag)
{
    const Elf64_Shdr *section = nsc_elf_section(&s->elf, name);
    struct nsc_symbols_site *grown;
    size_t bytes, records;
    uint8_t *data;
    int rc;

    if (section == NULL || section->sh_size == 0)
        return 0;
    if (section->sh_size % record_bytes != 0)
        return nsc_diag_set(diag, section->sh_offset, EBADMSG,
                            "%s: section %s is no whole number of %zu-byte records", s->elf.path,
                            name, record_bytes);
    rc = nsc_elf_read(&s->elf, section, &data, &bytes, diag);
    if (rc < 0)
        return rc;
    records = bytes / record_bytes;
    grown = realloc(*sites, (*count + records) * sizeof *grown);
    if (grown == NULL) {
        free(data);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", s->elf.path);
    }
    *sites = grown;
    for (size_t i = 0; i < records; i++)
        grown[*count + i] = decode(data + i * record_bytes, section->sh_addr + i * record_bytes);
    *count += records;
    free(data);
    return 0;
}

/*
 * Store the addresses that the dynamic linker would relocate into @sites, one per 8 bytes of
 * @section. The file holds them only in the relocations, unless these are packed (DT_RELR).
 */
static void relocate(const Elf64_Shdr *section, const uint8_t *relocations, size_t bytes,
                     uint32_t relative, struct nsc_symbols_site *sites)
{
    Elf64_Rela r;

    for (size_t at = 0; bytes - at >= sizeof r; at += sizeof r) {
        uint64_t into;

        memcpy(&r, relocations + at, sizeof r);
        into = r.r_offset - section->sh_addr;
        if (ELF64_R_TYPE(r.r_info) == relative && into < section->sh_size && into % 8 == 0)
            sites[into / 8].va = (uint64_t)r.r_addend;
    }
}

/* Form of a site's sled on the file's architecture. */
static uint16_t form_of(const struct nsc_symbols *s, const struct nsc_symbols_site *site)
{
    bool sled = site->kind == NSC_LIVE_SITE_ENTRY || site->kind == NSC_LIVE_SITE_EXIT;

    if (!sled)
        return NSC_SYMBOLS_SLED_NONE;
    if (s->elf.header.e_machine == EM_AARCH64)
        return site->table == NSC_SYMBOLS_SITES_XRAY ? NSC_SYMBOLS_SLED_BRANCH
                                                     : NSC_SYMBOLS_SLED_NONE;
    return site->form;
}

/* Append clang's entry sleds. The section holds addresses, which have relocations in
 * position-independent code. */
static int append_nops(const struct nsc_symbols *s, struct nsc_symbols_site **sites, size_t *count,
                       struct nsc_diag *diag)
{
    static const char name[] = "__patchable_function_entries";
    const struct nsc_elf *elf = &s->elf;
    uint32_t relative =
        elf->header.e_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
    uint64_t left = elf->file_bytes; /* bounds the reads if sections overlap */
    size_t first = *count;
    int rc = append(s, name, sizeof(uint64_t), nop_site, sites, count, diag);

    if (*count == first)
        return rc;
    for (uint32_t i = 0; rc == 0 && i < elf->section_count; i++) {
        const Elf64_Shdr *section = &elf->sections[i];
        uint8_t *data;
        size_t bytes;

        if (section->sh_type != SHT_RELA || !(section->sh_flags & SHF_ALLOC))
            continue;
        if (section->sh_size > left)
            return nsc_diag_set(diag, section->sh_offset, EBADMSG,
                                "%s: more relocations than the file has room for", elf->path);
        left -= section->sh_size;
        rc = nsc_elf_read(elf, section, &data, &bytes, diag);
        if (rc == 0) {
            relocate(nsc_elf_section(elf, name), data, bytes, relative, *sites + first);
            free(data);
        }
    }
    return rc;
}

/* Copy the sites from a confined child's digest. */
static int copy_sites(const struct nsc_symbols *s, struct nsc_symbols_site **out, size_t *count,
                      struct nsc_diag *diag)
{
    const struct nsc_digest *d = &s->digest;
    size_t n = d->head.site_count;
    struct nsc_symbols_site *sites = NULL;

    if (d->head.sites_error != 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, d->head.sites_error,
                            "%s: the tables of hook sites cannot be read: %s", s->elf.path,
                            strerror(-d->head.sites_error));
    if (n > 0) {
        sites = malloc(n * sizeof *sites);
        if (sites == NULL)
            return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", s->elf.path);
        memcpy(sites, d->sites, n * sizeof *sites);
    }
    *out = sites;
    *count = n;
    return 0;
}

int nsc_symbols_sites(const struct nsc_symbols *s, struct nsc_symbols_site **out, size_t *count,
                      struct nsc_diag *diag)
{
    struct nsc_symbols_site *sites = NULL;
    size_t n = 0;
    int rc;

    if (s->digest.bytes != NULL)
        return copy_sites(s, out, count, diag);
    rc = append(s, "nanoscope_sites", sizeof(struct nsc_live_site), own_site, &sites, &n, diag);
    if (rc == 0)
        rc = append(s, "xray_instr_map", sizeof(struct xray_entry), xray_site, &sites, &n, diag);
    if (rc == 0)
        rc = append_nops(s, &sites, &n, diag);
    if (rc < 0) {
        free(sites);
        return rc;
    }
    for (size_t i = 0; i < n; i++)
        sites[i].form = form_of(s, &sites[i]);
    *out = sites;
    *count = n;
    return 0;
}
