/* elf_note.c - see elf_note.h. */
#include "symbols/elf_note.h"

#include <elf.h>
#include <string.h>

bool nsc_elf_note_next(const uint8_t *block, size_t bytes, uint64_t align, size_t *at,
                       struct nsc_elf_note *note)
{
    uint64_t mask = align == 8 ? 7 : 3, data_at, end;
    Elf64_Nhdr head;

    if (*at > bytes || bytes - *at < sizeof head)
        return false;
    memcpy(&head, block + *at, sizeof head);
    data_at = *at + ((sizeof head + head.n_namesz + mask) & ~mask);
    end = data_at + head.n_descsz;
    if (end > bytes)
        return false;
    *note = (struct nsc_elf_note){.type = head.n_type,
                                  .name = block + *at + sizeof head,
                                  .name_bytes = head.n_namesz,
                                  .data_bytes = head.n_descsz,
                                  .data_at = (size_t)data_at};
    end = (end + mask) & ~mask;
    *at = end < bytes ? (size_t)end : bytes;
    return true;
}
