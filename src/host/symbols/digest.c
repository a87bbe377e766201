/* digest.c - see digest.h: validation in the parent. */
#include "symbols/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/live.h"

enum { ERRNO_MAX = 4095 };

_Static_assert(sizeof(struct nsc_digest_head) % _Alignof(struct nsc_symtab_entry) == 0 &&
                   sizeof(struct nsc_symtab_entry) % _Alignof(struct nsc_symbols_site) == 0,
               "the parts of a digest are aligned");

/* Whether the parts fill the @length bytes exactly. */
static bool is_complete(const struct nsc_digest_head *h, size_t length)
{
    uint64_t left = length - sizeof *h;

    if (h->entry_count >= NSC_TABLE_NONE || h->entry_count > left / sizeof(struct nsc_symtab_entry))
        return false;
    left -= h->entry_count * sizeof(struct nsc_symtab_entry);
    if (h->site_count > NSC_DIGEST_SITES_MAX ||
        h->site_count > left / sizeof(struct nsc_symbols_site))
        return false;
    return h->string_bytes == left - h->site_count * sizeof(struct nsc_symbols_site);
}

static bool is_sound_head(const struct nsc_digest_head *h)
{
    return h->build_id_bytes <= NSC_ELF_BUILD_ID_MAX && h->origin <= NSC_DIGEST_DEBUG_FILE &&
           h->has_lines <= 1 && h->has_debug_file <= 1 &&
           (h->origin != NSC_DIGEST_DEBUG_FILE || h->has_debug_file == 1) && h->sites_error <= 0 &&
           h->sites_error >= -ERRNO_MAX;
}

/* Whether the names fill the strings without gaps, which also bounds their total length. */
static bool are_sound_names(const struct nsc_symtab *t, uint64_t string_bytes)
{
    uint64_t at = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct nsc_symtab_entry *e = &t->entries[i];
        const char *name = t->strings + at;

        if (e->name != at || e->name_bytes == 0 || e->name_bytes >= string_bytes - at ||
            memchr(name, 0, e->name_bytes + 1u) != name + e->name_bytes)
            return false;
        at += e->name_bytes + 1u;
    }
    return at == string_bytes;
}

/* Whether the entries are consistent. @depths: receives the number of outer entries of each. */
static bool are_sound_entries(const struct nsc_symtab *t, uint16_t *depths)
{
    uint64_t before = 0;

    for (size_t i = 0; i < t->count; i++) {
        const struct nsc_symtab_entry *e = &t->entries[i];

        if (e->va <= before || e->end <= e->va || e->rank > 2 || e->cold > 1 ||
            (e->outer != NSC_TABLE_NONE && e->outer >= i) ||
            (e->cold ? e->group >= t->count : e->group != i))
            return false;
        depths[i] = e->outer == NSC_TABLE_NONE ? 0 : (uint16_t)(depths[e->outer] + 1);
        if (depths[i] > NSC_DIGEST_DEPTH_MAX)
            return false;
        before = e->va;
    }
    return true;
}

static bool are_sound_sites(const struct nsc_symbols_site *sites, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((sites[i].kind > NSC_LIVE_SITE_HOOK && sites[i].kind != NSC_SYMBOLS_SITE_OTHER) ||
            sites[i].table > NSC_SYMBOLS_SITES_NOPS || sites[i].form > NSC_SYMBOLS_SLED_BRANCH ||
            (i > 0 && sites[i].table < sites[i - 1].table))
            return false;
    return true;
}

static int reported_error(struct nsc_digest_head *h, struct nsc_diag *diag)
{
    h->message[sizeof h->message - 1] = 0;
    for (char *c = h->message; *c != 0; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return nsc_diag_set(diag, h->offset, h->error, "%s",
                        h->message[0] != 0 ? h->message : strerror(-h->error));
}

int nsc_digest_read(uint8_t *bytes, size_t length, struct nsc_digest *digest,
                    struct nsc_symtab *table, struct nsc_diag *diag)
{
    struct nsc_symtab t = {.is_settled = true};
    struct nsc_digest_head head;
    const struct nsc_symbols_site *sites;
    uint16_t *depths;
    bool sound;

    if (length < sizeof head)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPROTO, "a digest of %zu bytes", length);
    memcpy(&head, bytes, sizeof head);
    if (head.error < 0 && head.error >= -ERRNO_MAX)
        return reported_error(&head, diag);
    if (head.error != 0 || !is_sound_head(&head) || !is_complete(&head, length))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPROTO, "a digest with a damaged head");
    t.entries = (struct nsc_symtab_entry *)(void *)(bytes + sizeof head);
    t.count = head.entry_count;
    sites = (const struct nsc_symbols_site *)(const void *)(t.entries + t.count);
    t.strings = (char *)bytes + length - head.string_bytes;
    depths = malloc((t.count + 1) * sizeof *depths);
    if (depths == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "out of memory");
    sound = are_sound_names(&t, head.string_bytes) && are_sound_entries(&t, depths) &&
            are_sound_sites(sites, head.site_count);
    free(depths);
    if (!sound)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, EPROTO, "a damaged digest");
    *digest = (struct nsc_digest){.bytes = bytes, .head = head, .sites = sites};
    *table = t;
    return 0;
}
