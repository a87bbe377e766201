/*
 * symbols.h - look up functions, source lines and hook sites of addresses in an ELF file.
 *
 * Called by record/ (names for a trace, filter decisions) and cli/ (doctor). Input is hostile:
 * whatever the file contains, the worst outcome is a missing or wrong name. Never accesses the
 * network, never prints.
 *
 * All addresses here are ELF virtual addresses: run-time address minus load bias.
 */
#ifndef NSC_SYMBOLS_SYMBOLS_H
#define NSC_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/diag.h"
#include "util/privileges/credentials.h"

struct nsc_symbols; /* one open ELF file; not thread-safe per object */

struct nsc_symbols_options {
    size_t size;             /* sizeof(struct nsc_symbols_options) */
    const uint8_t *build_id; /* the file must have this build id; NULL = do not check */
    uint32_t build_id_bytes;
    bool no_debug_files;    /* do not look for separate debug files */
    bool no_debug_links;    /* do not follow .gnu_debuglink, for a path that may be false */
    const char *debug_root; /* folder of debug files; NULL = /usr/lib/debug */
    /* For a file of another user: parse it in a child with that user's credentials, confined by
     * util/privileges/confine.h. NULL = parse it in this process. */
    const struct nsc_credentials *confine_as;
};

/* A function. The name is owned by the nsc_symbols object. */
struct nsc_symbol {
    const char *name; /* linker symbol (mangled); never NULL or empty */
    uint64_t va;      /* entry address */
    uint64_t size;    /* bytes; a symbol without size extends to the next one */
};

/**
 * nsc_symbols_open - read the function symbols of an ELF file (64-bit, little endian).
 * @path: the file. If it has no .symtab or no DWARF, a separate debug file is searched: by build id
 *        below <debug_root>/.build-id; by .gnu_debuglink next to the file, in .debug/ and below
 *        <debug_root>.
 * @options: may be NULL for defaults.
 * @out: receives the object; close with nsc_symbols_close().
 * @diag: may be NULL.
 *
 * A file without symbols is not an error. Costs about 0.15 us per symbol.
 * Returns 0, or -errno: -ENOENT, -EACCES..., -ENOEXEC (not an ELF file of that kind), -EBADMSG
 * (damaged), -ESTALE (different build id), -ENOMEM.
 *
 * With options->confine_as this process does not read the file. The cost is a fork and some
 * milliseconds. Limits: 10 s of parsing, 256 MiB in this process, 1 GiB in the child; beyond,
 * -ETIMEDOUT, -EFBIG or -ENOMEM. The only debug file considered is that of options->build_id below
 * <debug_root>/.build-id, if that user can read it. All other functions work on the result as
 * usual.
 */
int nsc_symbols_open(const char *path, const struct nsc_symbols_options *options,
                     struct nsc_symbols **out, struct nsc_diag *diag);
/* The same for an open regular file; takes ownership of @fd, also on failure.
 * @path is used in messages and in the search for debug files. */
int nsc_symbols_open_fd(int fd, const char *path, const struct nsc_symbols_options *options,
                        struct nsc_symbols **out, struct nsc_diag *diag);
void nsc_symbols_close(struct nsc_symbols *s);

/* Whether an open ELF file has that build id. Reads its headers and notes only. */
bool nsc_symbols_is_build(int fd, const uint8_t *build_id, uint32_t bytes);
/* The same for a file of another user, in a child confined as by options->confine_as; NULL = in
 * this process. Not needed before nsc_symbols_open(), which checks options->build_id. */
bool nsc_symbols_is_build_as(const struct nsc_credentials *confine_as, int fd,
                             const uint8_t *build_id, uint32_t bytes);

/* Build id (at most 32 bytes, 0 bytes = none); owned by @s. */
uint32_t nsc_symbols_build_id(const struct nsc_symbols *s, const uint8_t **id);
/* Source of the symbols: ".symtab", ".dynsym", the path of a debug file, or "" without symbols. */
const char *nsc_symbols_origin(const struct nsc_symbols *s);

/**
 * nsc_symbols_find - find the function whose code contains an address; O(log n).
 *
 * Of overlapping functions, returns the innermost. Of several names for one address: global before
 * local before weak, then the shorter, then the first by strcmp. For the outlined cold part of a
 * function (`foo.cold`), @out is foo. Clones (foo.part.0, foo.constprop.0, foo.isra.0) are separate
 * functions, since they are called themselves.
 *
 * Returns false, @out untouched, when no function covers @va.
 */
bool nsc_symbols_find(struct nsc_symbols *s, uint64_t va, struct nsc_symbol *out);

/* All function entries in ascending order, one per address; @index below the count. Includes cold
 * parts under their own name. */
size_t nsc_symbols_count(const struct nsc_symbols *s);
struct nsc_symbol nsc_symbols_at(const struct nsc_symbols *s, size_t index);

/* A source position. */
struct nsc_symbols_line {
    char *file; /* as the compiler recorded it, made absolute with the unit's folder; NULL = unknown
                 */
    uint32_t line; /* 1-based; 0 = unknown */
};

/**
 * nsc_symbols_lines - source positions of addresses, from DWARF 2 to 5.
 * @vas, @count: addresses in any order.
 * @out: array of @count; unknown positions are {NULL, 0}. Release each file with free(), or all
 *       with nsc_symbols_lines_free().
 *
 * The DWARF is parsed in a forked child (see isolated_child.h), so that neither a fault in libdw
 * nor endless work on a hostile file affects the caller. Pass many addresses at once: each call
 * forks. Returns 0 or -ENOMEM.
 */
int nsc_symbols_lines(struct nsc_symbols *s, const uint64_t *vas, size_t count,
                      struct nsc_symbols_line *out);
void nsc_symbols_lines_free(struct nsc_symbols_line *lines, size_t count);

/**
 * nsc_symbols_demangle - demangle many linker symbols and shorten them (cxx_name.h).
 * @symbols, @count: linker symbols.
 * @out: array of @count; each receives a malloc'ed string: the demangled name, or a copy of the
 *       symbol if it is not a C++ name or its demangled form exceeds 16 KiB. Clones are marked:
 *       "f(int) [clone .part.0]".
 *
 * Demangling C++ names runs in a forked child, too: some mangled names expand without end.
 * Returns 0 or -ENOMEM (then no entry of @out is set).
 */
int nsc_symbols_demangle(const char *const *symbols, size_t count, char **out);
/* Length of a linker symbol without compiler suffixes: `foo.constprop.0.cold` gives that of `foo`.
 */
size_t nsc_symbols_base_length(const char *symbol);

/* ---- Hook sites ---- */

enum nsc_symbols_site_table {
    NSC_SYMBOLS_SITES_OWN = 0,  /* section nanoscope_sites, see abi/live.h */
    NSC_SYMBOLS_SITES_XRAY = 1, /* section xray_instr_map */
    NSC_SYMBOLS_SITES_NOPS = 2, /* section __patchable_function_entries: clang's entry sleds */
};

#define NSC_SYMBOLS_SITE_OTHER                                                                     \
    UINT32_MAX /* a site that nanoscope does not use (XRay custom events) */

/* How a sled is enabled and disabled, once the runtime has prepared it. The bytes that follow are
 * the same in both states and hold the displacement to the trampoline. */
enum nsc_symbols_sled_form {
    NSC_SYMBOLS_SLED_NONE = 0,   /* no sled, or a form that does not exist on this architecture */
    NSC_SYMBOLS_SLED_TEST = 1,   /* x86-64, first byte: a9 disabled, e8 enabled */
    NSC_SYMBOLS_SLED_RET = 2,    /* x86-64, clang's exit: c3 disabled, e8 enabled; c3 at byte 5 */
    NSC_SYMBOLS_SLED_BRANCH = 3, /* AArch64, first word: branch over the sled or nop (enabled) */
};

struct nsc_symbols_site {
    uint64_t va;    /* of the sled or hook */
    uint32_t kind;  /* enum nsc_live_site_kind, or NSC_SYMBOLS_SITE_OTHER */
    uint16_t table; /* enum nsc_symbols_site_table */
    uint16_t form;  /* enum nsc_symbols_sled_form */
};

/**
 * nsc_symbols_sites - read the module's hook sites, in the order of the bits in filter bitmaps:
 * section nanoscope_sites, then xray_instr_map, then __patchable_function_entries, each in file
 * order.
 * @out: receives a malloc'ed array (NULL when there is none), @count its length.
 * Returns 0, -EBADMSG (a section's size is not a multiple of its record size), -E2BIG (a confined
 * file with more than 4 Mi sites), -EIO or -ENOMEM.
 */
int nsc_symbols_sites(const struct nsc_symbols *s, struct nsc_symbols_site **out, size_t *count,
                      struct nsc_diag *diag);

#endif
