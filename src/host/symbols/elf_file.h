/*
 * elf_file.h - bounded reading of an ELF file: headers, sections, build id.
 *
 * Private to symbols/. Every offset and size is checked against the file. The file is read with
 * pread, not mmap: a file that shrinks meanwhile must not raise SIGBUS.
 */
#ifndef NSC_SYMBOLS_ELF_FILE_H
#define NSC_SYMBOLS_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"

#define NSC_ELF_BUILD_ID_MAX 32

struct nsc_elf {
    int fd;
    char *path; /* for messages */
    uint64_t file_bytes;
    uint64_t block_max; /* limit of a section's bytes; larger sections are refused */
    Elf64_Ehdr header;
    Elf64_Shdr *sections;
    uint32_t section_count;
    char *names; /* section names, NUL terminated as a whole */
    size_t names_bytes;
    uint8_t build_id[NSC_ELF_BUILD_ID_MAX];
    uint32_t build_id_bytes;
};

/**
 * nsc_elf_open - read the headers of an ELF file.
 * @fd: a regular file; owned by @elf after success, untouched on failure.
 * @block_max: the largest section that is read, in bytes; UINT64_MAX = any.
 * @elf: filled on success; nsc_elf_close() releases it.
 * Returns 0, -ENOEXEC, -EBADMSG, -EFBIG, -EIO or -ENOMEM.
 */
int nsc_elf_open(int fd, const char *path, uint64_t block_max, struct nsc_elf *elf,
                 struct nsc_diag *diag);
void nsc_elf_close(struct nsc_elf *elf);

/* Find the first section of that name with contents in the file, or NULL. */
const Elf64_Shdr *nsc_elf_section(const struct nsc_elf *elf, const char *name);

/**
 * nsc_elf_read - read a section.
 * @data: receives a malloc'ed buffer with one NUL after the last byte.
 * Returns 0, -EBADMSG (not inside the file), -ENOTSUP (compressed), -EFBIG, -EIO, -ENOMEM.
 */
int nsc_elf_read(const struct nsc_elf *elf, const Elf64_Shdr *section, uint8_t **data,
                 size_t *bytes, struct nsc_diag *diag);

#endif
