/* elf_file.c - see elf_file.h. */
#include "symbols/elf_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf_note.h"

/* Read exactly @bytes at @at; the caller has checked them against the file size. */
static int read_exactly(int fd, void *buffer, size_t bytes, uint64_t at)
{
    uint8_t *to = buffer;

    while (bytes > 0) {
        ssize_t n = pread(fd, to, bytes, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO; /* the file shrank */
        to += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return 0;
}

static bool inside(const struct nsc_elf *elf, uint64_t at, uint64_t bytes)
{
    return at <= elf->file_bytes && bytes <= elf->file_bytes - at;
}

static int read_block(const struct nsc_elf *elf, uint64_t at, uint64_t bytes, uint8_t **data,
                      struct nsc_diag *diag)
{
    uint8_t *buffer;
    int rc;

    if (!inside(elf, at, bytes))
        return nsc_diag_set(diag, at, EBADMSG,
                            "%s: the ELF file is cut off: it says %llu bytes here", elf->path,
                            (unsigned long long)bytes);
    if (bytes > elf->block_max)
        return nsc_diag_set(
            diag, at, EFBIG, "%s: the ELF file says %llu bytes here, and at most %llu are read",
            elf->path, (unsigned long long)bytes, (unsigned long long)elf->block_max);
    buffer = calloc(1, (size_t)bytes + 1);
    if (buffer == NULL)
        return nsc_diag_set(diag, at, ENOMEM, "%s: out of memory", elf->path);
    rc = read_exactly(elf->fd, buffer, (size_t)bytes, at);
    if (rc < 0) {
        free(buffer);
        return nsc_diag_set(diag, at, rc, "%s: cannot read: %s", elf->path, strerror(-rc));
    }
    *data = buffer;
    return 0;
}

static int read_header(struct nsc_elf *elf, struct nsc_diag *diag)
{
    const unsigned char *ident = elf->header.e_ident;
    int rc;

    if (elf->file_bytes < sizeof elf->header)
        return nsc_diag_set(diag, 0, ENOEXEC, "%s: not an ELF file (too short)", elf->path);
    rc = read_exactly(elf->fd, &elf->header, sizeof elf->header, 0);
    if (rc < 0)
        return nsc_diag_set(diag, 0, rc, "%s: cannot read: %s", elf->path, strerror(-rc));
    if (memcmp(ident, ELFMAG, SELFMAG) != 0)
        return nsc_diag_set(diag, 0, ENOEXEC, "%s: not an ELF file", elf->path);
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
        return nsc_diag_set(diag, EI_CLASS, ENOEXEC,
                            "%s: not a 64-bit little-endian ELF file: its functions stay unnamed",
                            elf->path);
    return 0;
}

static int read_sections(struct nsc_elf *elf, struct nsc_diag *diag)
{
    const Elf64_Ehdr *h = &elf->header;
    uint64_t count = h->e_shnum, names = h->e_shstrndx;
    Elf64_Shdr first;
    uint8_t *data;
    int rc;

    if (h->e_shoff == 0)
        return 0; /* no section headers: only the program headers have information */
    if (h->e_shentsize != sizeof(Elf64_Shdr) || !inside(elf, h->e_shoff, sizeof first))
        return nsc_diag_set(diag, h->e_shoff, EBADMSG, "%s: bad section header table", elf->path);
    rc = read_exactly(elf->fd, &first, sizeof first, h->e_shoff);
    if (rc < 0)
        return nsc_diag_set(diag, h->e_shoff, rc, "%s: cannot read: %s", elf->path, strerror(-rc));
    if (count == 0)
        count = first.sh_size; /* extended numbering */
    if (names == SHN_XINDEX)
        names = first.sh_link;
    if (count == 0)
        return 0;
    if (count > elf->file_bytes / sizeof first)
        return nsc_diag_set(diag, h->e_shoff, EBADMSG, "%s: %llu sections do not fit the file",
                            elf->path, (unsigned long long)count);
    rc = read_block(elf, h->e_shoff, count * sizeof first, &data, diag);
    if (rc < 0)
        return rc;
    elf->sections = (Elf64_Shdr *)(void *)data;
    elf->section_count = (uint32_t)count;
    if (names == SHN_UNDEF || names >= count)
        return 0; /* sections without names: lookups by name find none */
    rc = nsc_elf_read(elf, &elf->sections[names], &data, &elf->names_bytes, diag);
    if (rc < 0)
        return rc;
    elf->names = (char *)data;
    return 0;
}

/* Search a block of notes for NT_GNU_BUILD_ID; keep the first one found. */
static void scan_notes(struct nsc_elf *elf, uint64_t at, uint64_t bytes, uint64_t align)
{
    struct nsc_elf_note note;
    uint8_t *data;
    size_t pos = 0;

    /* A build id note is tiny: skip huge note sections, like those of core dumps. */
    if (elf->build_id_bytes != 0 || bytes > 1u << 20 || read_block(elf, at, bytes, &data, NULL) < 0)
        return;
    while (nsc_elf_note_next(data, (size_t)bytes, align, &pos, &note)) {
        if (note.type != NT_GNU_BUILD_ID || note.name_bytes != 4 ||
            memcmp(note.name, "GNU", 4) != 0 || note.data_bytes == 0 ||
            note.data_bytes > NSC_ELF_BUILD_ID_MAX)
            continue;
        memcpy(elf->build_id, data + note.data_at, note.data_bytes);
        elf->build_id_bytes = note.data_bytes;
        break;
    }
    free(data);
}

static void read_build_id(struct nsc_elf *elf)
{
    const Elf64_Ehdr *h = &elf->header;
    uint8_t *data;

    for (uint32_t i = 0; i < elf->section_count; i++)
        if (elf->sections[i].sh_type == SHT_NOTE)
            scan_notes(elf, elf->sections[i].sh_offset, elf->sections[i].sh_size,
                       elf->sections[i].sh_addralign);
    if (elf->build_id_bytes != 0 || h->e_phentsize != sizeof(Elf64_Phdr) ||
        read_block(elf, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), &data, NULL) < 0)
        return;
    for (uint32_t i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr ph;

        memcpy(&ph, data + i * sizeof ph, sizeof ph);
        if (ph.p_type == PT_NOTE)
            scan_notes(elf, ph.p_offset, ph.p_filesz, ph.p_align);
    }
    free(data);
}

int nsc_elf_open(int fd, const char *path, uint64_t block_max, struct nsc_elf *elf,
                 struct nsc_diag *diag)
{
    struct nsc_elf e = {.fd = fd, .block_max = block_max};
    struct stat st;
    int rc;

    if (fstat(fd, &st) < 0)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, errno, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOEXEC, "%s: not a regular file", path);
    e.file_bytes = (uint64_t)st.st_size;
    e.path = strdup(path);
    if (e.path == NULL)
        return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOMEM, "%s: out of memory", path);
    rc = read_header(&e, diag);
    if (rc == 0)
        rc = read_sections(&e, diag);
    if (rc < 0) {
        e.fd = -1; /* the caller keeps it */
        nsc_elf_close(&e);
        return rc;
    }
    read_build_id(&e);
    *elf = e;
    return 0;
}

void nsc_elf_close(struct nsc_elf *elf)
{
    if (elf->fd >= 0)
        close(elf->fd);
    free(elf->path);
    free(elf->sections);
    free(elf->names);
    *elf = (struct nsc_elf){.fd = -1};
}

const Elf64_Shdr *nsc_elf_section(const struct nsc_elf *elf, const char *name)
{
    for (uint32_t i = 0; i < elf->section_count; i++) {
        const Elf64_Shdr *s = &elf->sections[i];

        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL && s->sh_name < elf->names_bytes &&
            strcmp(elf->names + s->sh_name, name) == 0)
            return s;
    }
    return NULL;
}

int nsc_elf_read(const struct nsc_elf *elf, const Elf64_Shdr *section, uint8_t **data,
                 size_t *bytes, struct nsc_diag *diag)
{
    uint8_t *buffer;
    int rc;

    if (section->sh_type == SHT_NOBITS)
        return nsc_diag_set(diag, section->sh_offset, EBADMSG, "%s: a section without bytes",
                            elf->path);
    if (section->sh_flags & SHF_COMPRESSED)
        return nsc_diag_set(diag, section->sh_offset, ENOTSUP, "%s: a compressed section",
                            elf->path);
    rc = read_block(elf, section->sh_offset, section->sh_size, &buffer, diag);
    if (rc < 0)
        return rc;
    *data = buffer;
    *bytes = (size_t)section->sh_size;
    return 0;
}
