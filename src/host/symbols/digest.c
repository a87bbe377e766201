/* digest.c - see digest.h. */
#include "symbols/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/live.h"
#include "symbols/object.h"
#include "util/os/write_all.h"

enum { ERRNO_MAX = 4095 };

_Static_assert(sizeof(struct nsc_digest_head) % _Alignof(struct nsc_symtab_entry) == 0 &&
                   sizeof(struct nsc_symtab_entry) % _Alignof(struct nsc_symbols_site) == 0,
               "the parts of a digest are aligned");

/* ---- In the child ---------------------------------------------------------------------------- */

static uint8_t origin_of(const struct nsc_symbols *s)
{
    if (s->origin[0] == 0)
        return NSC_DIGEST_NONE;
    if (s->debug.fd >= 0 && s->origin == s->debug.path)
        return NSC_DIGEST_DEBUG_FILE;
    return strcmp(s->origin, ".symtab") == 0 ? NSC_DIGEST_SYMTAB : NSC_DIGEST_DYNSYM;
}

/* The names one after the other; the entries then point there. Settles cold parts as well, since
 * the work for them is bounded here. NULL without memory or beyond the bound. */
static char *pack_names(struct nsc_symtab *t, uint64_t *bytes)
{
    uint32_t *wholes = malloc((t->count + 1) * sizeof *wholes);
    char *names = NULL, *at;

    *bytes = 0;
    for (size_t i = 0; i < t->count; i++)
        *bytes += (uint64_t)t->entries[i].name_bytes + 1;
    if (wholes != NULL && *bytes <= NSC_DIGEST_BYTES_MAX)
        names = malloc(*bytes + 1);
    for (size_t i = 0; names != NULL && i < t->count; i++)
        wholes[i] = nsc_symtab_whole(t, (uint32_t)i);
    at = names;
    for (size_t i = 0; names != NULL && i < t->count; i++) {
        struct nsc_symtab_entry *e = &t->entries[i];

        memcpy(at, t->strings + e->name, e->name_bytes + 1u);
        e->name = (uint32_t)(at - names);
        e->group = wholes[i];
        at += e->name_bytes + 1u;
    }
    free(wholes);
    return names;
}

int nsc_digest_write(struct nsc_symbols *s, int fd)
{
    struct nsc_digest_head head = {
        .build_id_bytes = s->elf.build_id_bytes,
        .origin = origin_of(s),
        .has_lines = nsc_symbols_has_lines(s),
        .has_debug_file = s->debug.fd >= 0,
    };
    struct nsc_symbols_site *sites = NULL;
    char *names = pack_names(&s->table, &head.string_bytes);
    size_t count = 0;
    int error;

    if (names == NULL) {
        struct nsc_diag why = {.offset = NSC_DIAG_NO_OFFSET};

        error = nsc_diag_set(&why, NSC_DIAG_NO_OFFSET, ENOMEM,
                             "%s: its function names take too much memory", s->elf.path);
        return nsc_digest_write_error(error, &why, fd);
    }
    memcpy(head.build_id, s->elf.build_id, sizeof head.build_id);
    head.sites_error = nsc_symbols_sites(s, &sites, &count, NULL);
    head.site_count = head.sites_error == 0 ? count : 0;
    head.entry_count = s->table.count;
    error = nsc_write_all(fd, &head, sizeof head);
    if (error == 0)
        error = nsc_write_all(fd, s->table.entries, s->table.count * sizeof *s->table.entries);
    if (error == 0)
        error = nsc_write_all(fd, sites, head.site_count * sizeof *sites);
    if (error == 0)
        error = nsc_write_all(fd, names, head.string_bytes);
    free(sites);
    free(names);
    return error;
}

int nsc_digest_write_error(int error, const struct nsc_diag *why, int fd)
{
    struct nsc_digest_head head = {.error = error, .offset = why->offset};

    memcpy(head.message, why->message, sizeof head.message);
    return nsc_write_all(fd, &head, sizeof head);
}

/* ---- In the parent --------------------------------------------------------------------------- */

/* Do the parts fill the @length bytes exactly? */
static bool is_complete(const struct nsc_digest_head *h, size_t length)
{
    uint64_t left = length - sizeof *h;

    if (h->entry_count >= NSC_TABLE_NONE || h->entry_count > left / sizeof(struct nsc_symtab_entry))
        return false;
    left -= h->entry_count * sizeof(struct nsc_symtab_entry);
    if (h->site_count > left / sizeof(struct nsc_symbols_site))
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

/* The names fill the strings without a gap, so that all of them together are bounded as well. */
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

/* @depths: for each entry how many lie around it. */
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
