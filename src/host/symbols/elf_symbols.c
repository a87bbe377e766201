/* elf_symbols.c - see symbols.h: open a file and find functions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/object.h"
#include "util/os/regular_file.h"

static const Elf64_Shdr *section_of_type(const struct nsc_elf *elf, uint32_t type)
{
    for (uint32_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].sh_type == type)
            return &elf->sections[i];
    return NULL;
}

/* Read the table of @type from @elf. Returns 1 if read, 0 if there is none, or -errno. */
static int read_table(struct nsc_symbols *s, const struct nsc_elf *elf, uint32_t type,
                      const char *origin, struct nsc_diag *diag)
{
    const Elf64_Shdr *section = section_of_type(elf, type);
    int rc;

    if (section == NULL)
        return 0;
    rc = nsc_symtab_read(elf, section, &s->table, diag);
    if (rc < 0)
        return rc;
    s->origin = origin;
    return 1;
}

/* Load the best available table: .symtab, the debug file's .symtab, .dynsym. Skip a damaged one if
 * another is intact. */
static int load_symbols(struct nsc_symbols *s, struct nsc_diag *diag)
{
    int rc = read_table(s, &s->elf, SHT_SYMTAB, ".symtab", diag), other;

    if (rc == 1 || rc == -ENOMEM)
        return rc < 0 ? rc : 0;
    if (s->debug.fd >= 0) {
        other = read_table(s, &s->debug, SHT_SYMTAB, s->debug.path, NULL);
        if (other == 1)
            return 0;
    }
    other = read_table(s, &s->elf, SHT_DYNSYM, ".dynsym", NULL);
    return other == 1 || rc == 0 ? 0 : rc;
}

bool nsc_symbols_is_build(int fd, const uint8_t *build_id, uint32_t bytes)
{
    struct nsc_elf elf;
    bool same;

    if (nsc_elf_open(fd, "", UINT64_MAX, &elf, NULL) != 0)
        return false;
    same = elf.build_id_bytes == bytes && memcmp(elf.build_id, build_id, bytes) == 0;
    elf.fd = -1; /* the caller keeps it */
    nsc_elf_close(&elf);
    return same;
}

static int check_build_id(const struct nsc_symbols *s, const struct nsc_symbols_options *o,
                          struct nsc_diag *diag)
{
    if (o == NULL || o->build_id == NULL || o->build_id_bytes == 0)
        return 0;
    if (s->elf.build_id_bytes == o->build_id_bytes &&
        memcmp(s->elf.build_id, o->build_id, o->build_id_bytes) == 0)
        return 0;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ESTALE,
                        "%s: not the file that was loaded (its build id differs); was it rebuilt?",
                        s->elf.path);
}

static bool has_dwarf(const struct nsc_elf *elf)
{
    return nsc_elf_section(elf, ".debug_info") != NULL ||
           nsc_elf_section(elf, ".zdebug_info") != NULL;
}

bool nsc_symbols_has_lines(const struct nsc_symbols *s)
{
    if (s->digest.bytes != NULL)
        return s->digest.head.has_lines != 0;
    return nsc_elf_section(&s->elf, ".debug_line") != NULL ||
           nsc_elf_section(&s->elf, ".zdebug_line") != NULL || s->debug.fd >= 0;
}

static void find_debug_file(struct nsc_symbols *s, const struct nsc_debug_place *place)
{
    bool wanted = section_of_type(&s->elf, SHT_SYMTAB) == NULL || !has_dwarf(&s->elf);

    if (wanted && place->fd >= 0)
        (void)nsc_debug_file_take(&s->elf, place->fd, place->path, &s->debug);
    else if (place->fd >= 0)
        close(place->fd);
    else if (wanted && place->root != NULL)
        (void)nsc_debug_file_open(&s->elf, place->root, place->links, &s->debug);
}

int nsc_symbols_read(int fd, const char *path, const struct nsc_symbols_options *options,
                     const struct nsc_debug_place *place, uint64_t block_max,
                     struct nsc_symbols **out, struct nsc_diag *diag)
{
    struct nsc_symbols *s = calloc(1, sizeof *s);
    int rc;

    if (s == NULL) {
        close(fd);
        if (place->fd >= 0)
            close(place->fd);
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", path);
    }
    s->elf.fd = s->debug.fd = -1;
    s->origin = "";
    rc = nsc_elf_open(fd, path, block_max, &s->elf, diag);
    if (rc < 0)
        close(fd);
    else
        rc = check_build_id(s, options, diag);
    if (rc == 0)
        find_debug_file(s, place);
    else if (place->fd >= 0)
        close(place->fd);
    if (rc == 0)
        rc = load_symbols(s, diag);
    if (rc < 0) {
        nsc_symbols_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

int nsc_symbols_open_fd(int fd, const char *path, const struct nsc_symbols_options *options,
                        struct nsc_symbols **out, struct nsc_diag *diag)
{
    struct nsc_debug_place place = {.root = "/usr/lib/debug", .links = true, .fd = -1};

    if (options != NULL && options->confine_as != NULL)
        return nsc_confined_open(fd, path, options, out, diag);
    if (options != NULL && options->debug_root != NULL)
        place.root = options->debug_root;
    if (options != NULL && options->no_debug_links)
        place.links = false;
    if (options != NULL && options->no_debug_files)
        place.root = NULL;
    return nsc_symbols_read(fd, path, options, &place, UINT64_MAX, out, diag);
}

int nsc_symbols_open(const char *path, const struct nsc_symbols_options *options,
                     struct nsc_symbols **out, struct nsc_diag *diag)
{
    int fd = nsc_regular_file_open(path);

    if (fd == -EINVAL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOEXEC, "%s: not a regular file", path);
    if (fd < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, fd, "%s: %s", path, strerror(-fd));
    return nsc_symbols_open_fd(fd, path, options, out, diag);
}

void nsc_symbols_close(struct nsc_symbols *s)
{
    if (s == NULL)
        return;
    nsc_elf_close(&s->elf);
    nsc_elf_close(&s->debug);
    if (s->digest.bytes != NULL)
        nsc_confined_close(s);
    else
        nsc_symtab_free(&s->table);
    free(s);
}

uint32_t nsc_symbols_build_id(const struct nsc_symbols *s, const uint8_t **id)
{
    *id = s->elf.build_id;
    return s->elf.build_id_bytes;
}

const char *nsc_symbols_origin(const struct nsc_symbols *s)
{
    return s->origin;
}

bool nsc_symbols_find(struct nsc_symbols *s, uint64_t va, struct nsc_symbol *out)
{
    uint32_t index = nsc_symtab_find(&s->table, va);

    if (index == NSC_TABLE_NONE)
        return false;
    *out = nsc_symbols_at(s, nsc_symtab_whole(&s->table, index));
    return true;
}

size_t nsc_symbols_count(const struct nsc_symbols *s)
{
    return s->table.count;
}

struct nsc_symbol nsc_symbols_at(const struct nsc_symbols *s, size_t index)
{
    const struct nsc_symtab_entry *e = &s->table.entries[index];

    return (struct nsc_symbol){s->table.strings + e->name, e->va, e->end - e->va};
}
