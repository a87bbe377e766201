/*
 * object.h - definition of struct nsc_symbols, and functions shared by the files of symbols/.
 *
 * Private to symbols/.
 */
#ifndef NSC_SYMBOLS_OBJECT_H
#define NSC_SYMBOLS_OBJECT_H

#include "symbols/digest.h"
#include "symbols/elf_file.h"
#include "symbols/symbols.h"
#include "symbols/symtab.h"

struct nsc_symbols {
    struct nsc_elf elf;   /* with a digest: only fd, path and build id are set */
    struct nsc_elf debug; /* separate debug file; fd < 0: none */
    struct nsc_symtab table;
    const char *origin;
    struct nsc_digest digest; /* from a confined child; bytes == NULL: parsed in this process */
    size_t digest_bytes;      /* size of digest.bytes */
    struct nsc_credentials confined_as; /* with a digest: credentials of the file's user */
};

/* Where nsc_symbols_read() looks for a separate debug file. */
struct nsc_debug_place {
    const char *root; /* folder of debug files; NULL = do not search */
    bool links;       /* also follow .gnu_debuglink */
    int fd;           /* an open debug file, owned by the result; negative = none */
    const char *path; /* of @fd */
};

/**
 * nsc_symbols_read - parse a file in this process: nsc_symbols_open_fd() without confinement.
 * @fd: owned by the result, also on failure; so is that of @place.
 * @block_max: see nsc_elf_open().
 */
int nsc_symbols_read(int fd, const char *path, const struct nsc_symbols_options *options,
                     const struct nsc_debug_place *place, uint64_t block_max,
                     struct nsc_symbols **out, struct nsc_diag *diag);

/* Remaining time budget of confined children for files of other users; reduce it by @ns. */
uint64_t nsc_confined_time_left_ns(void);
void nsc_confined_spend(uint64_t ns);
/* Parse a file in a confined child, for options with confine_as. As nsc_symbols_open_fd(). */
int nsc_confined_open(int fd, const char *path, const struct nsc_symbols_options *options,
                      struct nsc_symbols **out, struct nsc_diag *diag);
/* Free the child's digest. */
void nsc_confined_close(struct nsc_symbols *s);

/* Whether the file or its debug file may have line tables. */
bool nsc_symbols_has_lines(const struct nsc_symbols *s);

/* Build the path of the debug file of a build id below @root. Returns false if there is none. */
bool nsc_debug_file_path(const char *root, const uint8_t *build_id, uint32_t bytes, char *path,
                         size_t path_bytes);

/**
 * nsc_debug_file_open - find and open the separate debug file of an ELF file.
 * @root: folder of debug files, e.g. /usr/lib/debug.
 * @links: also by .gnu_debuglink, which is relative to the path of the ELF file.
 * @debug: filled on success.
 * Returns 0, or -ENOENT if no debug file matches the ELF file.
 */
int nsc_debug_file_open(const struct nsc_elf *elf, const char *root, bool links,
                        struct nsc_elf *debug);

/* Take @fd as the debug file of @elf if the build ids match. Returns 0, or -ENOENT after closing
 * @fd. */
int nsc_debug_file_take(const struct nsc_elf *elf, int fd, const char *path, struct nsc_elf *debug);

#endif
