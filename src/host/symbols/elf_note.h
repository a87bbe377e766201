/*
 * elf_note.h - iterate over the notes in a note segment or section of an ELF file. The input is
 * hostile.
 *
 * For elf_file.c and for reach/, which reads the notes of running programs.
 */
#ifndef NSC_SYMBOLS_ELF_NOTE_H
#define NSC_SYMBOLS_ELF_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nsc_elf_note {
    uint32_t type;
    const uint8_t *name; /* with its NUL, as a rule */
    uint32_t name_bytes;
    uint32_t data_bytes;
    size_t data_at; /* offset of the description in the block */
};

/**
 * nsc_elf_note_next - parse the note at @at.
 * @block: @bytes of notes; @note points into it.
 * @align: alignment of the segment or section: 8; any other value means 4.
 * @at: offset of the note; receives that of the next one. Begin with 0.
 * Returns false at the end, or if the note exceeds the block.
 */
bool nsc_elf_note_next(const uint8_t *block, size_t bytes, uint64_t align, size_t *at,
                       struct nsc_elf_note *note);

#endif
