/*
 * module_elf.c - reads a module's properties from the ELF headers that the loader has mapped; see
 * module_elf.h.
 */
#include "linux/patch/module_elf.h"

#include <elf.h>

#include "linux/sys/sys.h"

#define BUILD_ID_TYPE 3 /* NT_GNU_BUILD_ID */

static void copy_build_id(const uint8_t *notes, uint64_t bytes, struct nsc_live_module *to)
{
    uint64_t at = 0;

    while (at + sizeof(Elf64_Nhdr) <= bytes) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)(const void *)(notes + at);
        uint64_t name = at + sizeof(*note);
        uint64_t body = name + ((note->n_namesz + 3ull) & ~3ull);
        uint32_t i;

        if (body > bytes || note->n_descsz > bytes - body)
            return;
        if (note->n_type == BUILD_ID_TYPE && note->n_namesz == 4 && notes[name] == 'G' &&
            notes[name + 1] == 'N' && notes[name + 2] == 'U') {
            to->build_id_bytes = note->n_descsz < sizeof(to->build_id)
                                     ? note->n_descsz
                                     : (uint32_t)sizeof(to->build_id);
            for (i = 0; i < to->build_id_bytes; i++)
                to->build_id[i] = notes[body + i];
            return;
        }
        at = body + ((note->n_descsz + 3ull) & ~3ull);
    }
}

int nsc_elf_describe(const void *elf_header, struct nsc_live_module *to)
{
    const uint8_t *base = elf_header;
    const Elf64_Ehdr *eh = elf_header;
    const Elf64_Phdr *ph;
    uint64_t bias = (uint64_t)(uintptr_t)base;
    int found = 0;
    unsigned i;

    if (base == NULL || eh->e_ident[0] != 0x7f || eh->e_ident[1] != 'E' ||
        eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_phentsize != sizeof(*ph))
        return -1;
    ph = (const Elf64_Phdr *)(const void *)(base + eh->e_phoff);
    for (i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type == PT_LOAD && ph[i].p_offset == 0) {
            bias -= ph[i].p_vaddr;
            found = 1;
            break;
        }
    }
    if (!found)
        return -1;
    to->bias = bias;
    to->text_start = UINT64_MAX;
    to->text_end = 0;
    for (i = 0; i < eh->e_phnum; i++) {
        uint64_t start = bias + ph[i].p_vaddr;

        if (ph[i].p_type == PT_NOTE && to->build_id_bytes == 0)
            copy_build_id((const uint8_t *)(uintptr_t)start, ph[i].p_filesz, to);
        if (ph[i].p_type != PT_LOAD || (ph[i].p_flags & PF_X) == 0)
            continue;
        if (start < to->text_start)
            to->text_start = start;
        if (start + ph[i].p_memsz > to->text_end)
            to->text_end = start + ph[i].p_memsz;
    }
    return to->text_start < to->text_end ? 0 : -1;
}

int nsc_elf_text(const void *elf_header, uint64_t bias, uint64_t page_bytes, unsigned *at,
                 struct nsc_elf_segment *to)
{
    const uint8_t *base = elf_header;
    const Elf64_Ehdr *eh = elf_header;
    const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)(base + eh->e_phoff);

    for (; *at < eh->e_phnum; ++*at) {
        const Elf64_Phdr *p = &ph[*at];
        uint64_t start = bias + p->p_vaddr;

        if (p->p_type != PT_LOAD || (p->p_flags & PF_X) == 0)
            continue;
        to->start = start & ~(page_bytes - 1);
        to->end = (start + p->p_memsz + page_bytes - 1) & ~(page_bytes - 1);
        to->protection = NSC_SYS_EXEC | (p->p_flags & PF_R ? NSC_SYS_READ : 0) |
                         (p->p_flags & PF_W ? NSC_SYS_WRITE : 0);
        ++*at;
        return 1;
    }
    return 0;
}

int nsc_elf_is_program(const void *elf_header)
{
    const uint8_t *base = elf_header;
    const Elf64_Ehdr *eh = elf_header;
    const Elf64_Phdr *ph = (const Elf64_Phdr *)(const void *)(base + eh->e_phoff);
    unsigned i;

    for (i = 0; i < eh->e_phnum; i++)
        if (ph[i].p_type == PT_INTERP)
            return 1;
    return eh->e_type == ET_EXEC;
}
