/*
 * object.h - what a struct nsc_symbols is made of.
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
    struct nsc_elf elf;   /* parsed by a confined child: only fd and path */
    struct nsc_elf debug; /* separate debug file; fd < 0 when there is none */
    struct nsc_symtab table;
    const char *origin;
    struct nsc_digest digest; /* what a confined child has sent; bytes == NULL: parsed here */
    size_t digest_bytes;      /* of it */
    struct nsc_credentials confined_as; /* with a digest: whose file it is */
};

/* Where nsc_symbols_read() looks for a separate debug file. */
struct nsc_debug_place {
    const char *root; /* folder of debug files; NULL = look for none */
    int fd;           /* or one that is open already and is owned by the result; negative = none */
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

/* What is left of the time that children may take for files of other users; less of it. */
uint64_t nsc_confined_time_left_ns(void);
void nsc_confined_spend(uint64_t ns);
/* Parse it in a confined child: for options with confine_as. As nsc_symbols_open_fd(). */
int nsc_confined_open(int fd, const char *path, const struct nsc_symbols_options *options,
                      struct nsc_symbols **out, struct nsc_diag *diag);
/* Frees what the child has sent. */
void nsc_confined_close(struct nsc_symbols *s);

/* May there be line tables? */
bool nsc_symbols_has_lines(const struct nsc_symbols *s);

/* The path of the debug file of that build id below @root. Returns false when it has none. */
bool nsc_debug_file_path(const char *root, const uint8_t *build_id, uint32_t bytes, char *path,
                         size_t path_bytes);

/**
 * nsc_debug_file_open - find and open the separate debug file of an ELF file.
 * @root: folder of debug files, e.g. /usr/lib/debug.
 * @debug: filled on success.
 * Returns 0 or -ENOENT: a debug file that does not fit the file counts as none.
 */
int nsc_debug_file_open(const struct nsc_elf *elf, const char *root, struct nsc_elf *debug);

/* Take @fd as the debug file of @elf if its build id says so. Returns 0 or -ENOENT: @fd is closed.
 */
int nsc_debug_file_take(const struct nsc_elf *elf, int fd, const char *path, struct nsc_elf *debug);

#endif
