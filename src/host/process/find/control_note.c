/* control_note.c - see control_note.h. */
#include "process/find/control_note.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "abi/control.h"
#include "symbols/elf_note.h"

/* Usual programs have about ten segments and a few hundred bytes of notes. */
#define SEGMENTS_MAX    256
#define NOTES_BYTES_MAX (256u << 10)

/* Return the offset of a segment's bytes in the image. */
static uint64_t place(const struct nsc_image *image, const Elf64_Phdr *segment, uint64_t first_va)
{
    return image->mapped ? segment->p_vaddr - first_va : segment->p_offset;
}

static bool look_in(const struct nsc_image *image, const Elf64_Phdr *segment, uint64_t first_va,
                    struct nsc_located *located)
{
    struct nsc_elf_note note;
    int64_t distance;
    uint8_t *block;
    size_t at = 0;
    bool found = false;

    if (segment->p_filesz > NOTES_BYTES_MAX || segment->p_filesz > *image->notes_left)
        return false;
    *image->notes_left -= segment->p_filesz;
    block = malloc((size_t)segment->p_filesz + 1);
    if (block == NULL ||
        !image->read(image->context, place(image, segment, first_va), block, segment->p_filesz)) {
        free(block);
        return false;
    }
    while (!found &&
           nsc_elf_note_next(block, (size_t)segment->p_filesz, segment->p_align, &at, &note))
        found = note.type == NSC_CONTROL_NOTE_TYPE && note.data_bytes == sizeof distance &&
                note.name_bytes == sizeof NSC_CONTROL_NOTE_NAME &&
                memcmp(note.name, NSC_CONTROL_NOTE_NAME, note.name_bytes) == 0;
    if (found) {
        memcpy(&distance, block + note.data_at, sizeof distance);
        located->note = segment->p_vaddr - first_va + note.data_at;
        located->control = located->note + (uint64_t)distance;
    }
    free(block);
    return found;
}

/* Find the virtual address, in the file's terms, of the image's first byte. */
static bool find_first(const Elf64_Phdr *segments, size_t count, uint64_t *first_va)
{
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD) {
            *first_va = segments[i].p_vaddr - segments[i].p_offset;
            return true;
        }
    return false;
}

enum nsc_control_note_class nsc_control_note_find(const struct nsc_image *image,
                                                  struct nsc_located *located)
{
    Elf64_Phdr segments[SEGMENTS_MAX];
    uint64_t first_va;
    Elf64_Ehdr head;

    if (!image->read(image->context, 0, &head, sizeof head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return NSC_CONTROL_NOTE_NOT_ELF;
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
        return NSC_CONTROL_NOTE_32_BIT;
    if (head.e_phentsize != sizeof segments[0] || head.e_phnum > SEGMENTS_MAX ||
        !image->read(image->context, head.e_phoff, segments, head.e_phnum * sizeof segments[0]) ||
        !find_first(segments, head.e_phnum, &first_va))
        return NSC_CONTROL_NOTE_WITHOUT;
    for (size_t i = 0; i < head.e_phnum; i++)
        if (segments[i].p_type == PT_NOTE && look_in(image, &segments[i], first_va, located))
            return NSC_CONTROL_NOTE_FOUND;
    return NSC_CONTROL_NOTE_WITHOUT;
}
