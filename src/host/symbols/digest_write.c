/* digest_write.c - see digest.h: serialization in the child. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/object.h"
#include "util/os/write_all.h"

static uint8_t origin_of(const struct nsc_symbols *s)
{
    if (s->origin[0] == 0)
        return NSC_DIGEST_NONE;
    if (s->debug.fd >= 0 && s->origin == s->debug.path)
        return NSC_DIGEST_DEBUG_FILE;
    return strcmp(s->origin, ".symtab") == 0 ? NSC_DIGEST_SYMTAB : NSC_DIGEST_DYNSYM;
}

/* Concatenate the names and let the entries refer to them. Also resolve cold parts, since the
 * child's time is limited. Returns NULL if out of memory or if the names are too large. */
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
    if (head.sites_error == 0 && count > NSC_DIGEST_SITES_MAX)
        head.sites_error = -E2BIG;
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
