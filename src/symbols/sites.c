/* sites.c - nsc_symbols_sites() of symbols.h: the tables of hook sites in a module's file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nanoscope/live.h"
#include "symbols/object.h"

/* An entry of xray_instr_map as LLVM writes it. Source: llvm/docs/XRay.rst and compiler-rt's
 * xray_interface_internal.h. */
struct xray_entry {
    uint64_t address; /* version 2: minus the address of this field; before: absolute */
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
    };
}

/* Appends the records of one section; a missing section has none. */
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

int nsc_symbols_sites(const struct nsc_symbols *s, struct nsc_symbols_site **out, size_t *count,
                      struct nsc_diag *diag)
{
    struct nsc_symbols_site *sites = NULL;
    size_t n = 0;
    int rc = append(s, "nanoscope_sites", sizeof(struct nsc_live_site), own_site, &sites, &n, diag);

    if (rc == 0)
        rc = append(s, "xray_instr_map", sizeof(struct xray_entry), xray_site, &sites, &n, diag);
    if (rc < 0) {
        free(sites);
        return rc;
    }
    *out = sites;
    *count = n;
    return 0;
}
