/*
 * symbols.h - from addresses in an ELF file to functions, source lines and hook sites.
 *
 * Called by record/ (names for a trace, filter verdicts) and cli/ (doctor). Input is hostile:
 * whatever the file holds, the worst outcome is a missing name. Never touches the network, never
 * prints.
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
    const char *debug_root; /* where they are; NULL = /usr/lib/debug */
    /* Whose file it is: another user's is parsed in a child that has these credentials and is
     * confined (util/privileges/confine.h). NULL = this process parses it. */
    const struct nsc_credentials *confine_as;
};

/* A function. The name is owned by the nsc_symbols object. */
struct nsc_symbol {
    const char *name; /* as linked; never NULL or empty */
    uint64_t va;      /* entry */
    uint64_t size;    /* bytes; for a symbol without size, up to the next one */
};

/**
 * nsc_symbols_open - read the function symbols of an ELF file (64-bit, little endian).
 * @path: the file. Separate debug files are looked for when it has no .symtab or no DWARF: by build
 *        id below <debug_root>/.build-id, by .gnu_debuglink beside the file, in .debug/ and below
 * debug_root.
 * @options: may be NULL for defaults.
 * @out: receives the object; close with nsc_symbols_close().
 * @diag: may be NULL.
 *
 * A file without any symbol is no error. Costs about 0.15 us a symbol.
 * Returns 0, or -errno: -ENOENT, -EACCES..., -ENOEXEC (not an ELF file of that kind), -EBADMSG
 * (damaged), -ESTALE (another build id), -ENOMEM.
 *
 * With options->confine_as this process reads nothing of the file. It takes a fork and some
 * milliseconds, at most 15 s and 256 MiB here and 1 GiB in the child; beyond, -ETIMEDOUT, -EFBIG or
 * -ENOMEM. The only debug file is the one below <debug_root>/.build-id of options->build_id, if
 * that user can read it. All other functions work on the result as usual.
 */
int nsc_symbols_open(const char *path, const struct nsc_symbols_options *options,
                     struct nsc_symbols **out, struct nsc_diag *diag);
/* The same over an open descriptor of a regular file; takes ownership of @fd, also on failure.
 * @path serves messages and the search for debug files. */
int nsc_symbols_open_fd(int fd, const char *path, const struct nsc_symbols_options *options,
                        struct nsc_symbols **out, struct nsc_diag *diag);
void nsc_symbols_close(struct nsc_symbols *s);

/* Whether an open ELF file has that build id. Reads its headers and notes only. */
bool nsc_symbols_is_build(int fd, const uint8_t *build_id, uint32_t bytes);
/* The same for a file of another user, in a child confined as by options->confine_as; NULL = here.
 * A file that is to be opened anyway needs no such check: options->build_id makes one. */
bool nsc_symbols_is_build_as(const struct nsc_credentials *confine_as, int fd,
                             const uint8_t *build_id, uint32_t bytes);

/* Build id (at most 32 bytes, 0 bytes = none); owned by @s. */
uint32_t nsc_symbols_build_id(const struct nsc_symbols *s, const uint8_t **id);
/* Where the symbols came from: ".symtab", ".dynsym", the path of a debug file, or "". */
const char *nsc_symbols_origin(const struct nsc_symbols *s);

/**
 * nsc_symbols_find - the function whose code holds an address; O(log n).
 *
 * Of nested functions the innermost. Of several names for one address: global before local before
 * weak, then the shorter, then the first by strcmp. The outlined cold part of a function
 * (`foo.cold`) belongs to foo: @out is foo. Clones (foo.part.0, foo.constprop.0, foo.isra.0) are
 * functions of their own, since calls go to them.
 *
 * Returns false, @out untouched, when no function covers @va.
 */
bool nsc_symbols_find(struct nsc_symbols *s, uint64_t va, struct nsc_symbol *out);

/* All function entries, by ascending address, one for each address; index below the count. Cold
 * parts are included under their own name. */
size_t nsc_symbols_count(const struct nsc_symbols *s);
struct nsc_symbol nsc_symbols_at(const struct nsc_symbols *s, size_t index);

/* A place in the source. */
struct nsc_symbols_line {
    char *file; /* as the compiler recorded it, made absolute with the unit's folder; NULL = unknown
                 */
    uint32_t line; /* 1-based; 0 = unknown */
};

/**
 * nsc_symbols_lines - source positions of addresses, from DWARF 2 to 5.
 * @vas, @count: addresses in any order.
 * @out: array of @count; entries without answer get {NULL, 0}. Release each file with free(), or
 * all with nsc_symbols_lines_free().
 *
 * The DWARF is parsed in a forked child (see isolated_child.h), so that neither a fault in libdw
 * nor endless work on a hostile file reaches the caller: ask for many addresses at once. Returns 0
 * or -ENOMEM.
 */
int nsc_symbols_lines(struct nsc_symbols *s, const uint64_t *vas, size_t count,
                      struct nsc_symbols_line *out);
void nsc_symbols_lines_free(struct nsc_symbols_line *lines, size_t count);

/**
 * nsc_symbols_demangle - readable forms of many linker names, as short as people write them.
 * @symbols, @count: names as linked.
 * @out: array of @count; each receives a malloc'ed string: the demangled name, or a copy of the
 * name when it is not a C++ name or its readable form is longer than 16 KiB. Clones say so: "f(int)
 * [clone .part.0]".
 *
 * C++ names run in a forked child too: mangled names exist that expand without end.
 * Returns 0 or -ENOMEM (then no entry of @out is set).
 */
int nsc_symbols_demangle(const char *const *symbols, size_t count, char **out);
/* Length of a linker name without compiler suffixes: `foo.constprop.0.cold` gives that of `foo`. */
size_t nsc_symbols_base_length(const char *symbol);

/* ---- Hook sites ---- */

enum nsc_symbols_site_table {
    NSC_SYMBOLS_SITES_OWN = 0,  /* section nanoscope_sites, see abi/live.h */
    NSC_SYMBOLS_SITES_XRAY = 1, /* section xray_instr_map */
    NSC_SYMBOLS_SITES_NOPS = 2, /* section __patchable_function_entries: entries of clang's */
};

#define NSC_SYMBOLS_SITE_OTHER                                                                     \
    UINT32_MAX /* a site that no hook of ours uses (XRay custom events) */

/* How a sled is switched, once the runtime has made it ready. The bytes behind are the same in both
 * states, and hold the distance of the trampoline. */
enum nsc_symbols_sled_form {
    NSC_SYMBOLS_SLED_NONE = 0,   /* no sled, or one that this processor has not */
    NSC_SYMBOLS_SLED_TEST = 1,   /* x86-64, first byte: a9 off, e8 on */
    NSC_SYMBOLS_SLED_RET = 2,    /* x86-64, clang's exit: c3 off, e8 on; c3 again at byte 5 */
    NSC_SYMBOLS_SLED_BRANCH = 3, /* AArch64, first word: branch over the sled off, nop on */
};

struct nsc_symbols_site {
    uint64_t va;    /* of the sled or hook */
    uint32_t kind;  /* enum nsc_live_site_kind, or NSC_SYMBOLS_SITE_OTHER */
    uint16_t table; /* enum nsc_symbols_site_table */
    uint16_t form;  /* enum nsc_symbols_sled_form */
};

/**
 * nsc_symbols_sites - the module's hook sites, in the order that filter bitmaps count in: section
 * nanoscope_sites, then xray_instr_map, then __patchable_function_entries, each in file order.
 * @out: receives a malloc'ed array (NULL when there is none), @count its length.
 * Returns 0, -EBADMSG (a section that is no whole number of records), -EIO or -ENOMEM.
 */
int nsc_symbols_sites(const struct nsc_symbols *s, struct nsc_symbols_site **out, size_t *count,
                      struct nsc_diag *diag);

#endif
