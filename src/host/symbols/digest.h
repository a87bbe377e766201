/*
 * digest.h - the serialized results of parsing an ELF file in a confined child: one block of bytes.
 *
 * Private to symbols/ (and its fuzz target). The child writes it (digest_write.c), the parent reads
 * it (digest.c). A hostile file may have compromised the child, so the parent validates everything
 * before use. Both are the same program: the block has no version.
 *
 *   struct nsc_digest_head
 *   struct nsc_symtab_entry[entry_count]    group: index of the entry it is a cold part of, or its
 *                                           own index
 *   struct nsc_symbols_site[site_count]
 *   names, each with its NUL, in the order of the entries: string_bytes
 */
#ifndef NSC_SYMBOLS_DIGEST_H
#define NSC_SYMBOLS_DIGEST_H

#include <stdbool.h>

#include "symbols/symbols.h"
#include "symbols/symtab.h"

#define NSC_DIGEST_BYTES_MAX (256u << 20)
#define NSC_DIGEST_SITES_MAX (4u << 20) /* the recorder needs about 160 bytes per site */
#define NSC_DIGEST_DEPTH_MAX 256 /* nesting depth of functions; bounds the cost of a lookup */

enum nsc_digest_origin {
    NSC_DIGEST_NONE = 0,
    NSC_DIGEST_SYMTAB = 1,
    NSC_DIGEST_DYNSYM = 2,
    NSC_DIGEST_DEBUG_FILE = 3,
};

struct nsc_digest_head {
    int32_t error; /* 0, or -errno: @message is the reason, and nothing follows */
    uint32_t build_id_bytes;
    uint8_t build_id[NSC_ELF_BUILD_ID_MAX];
    uint64_t entry_count;
    uint64_t site_count;
    uint64_t string_bytes;
    int32_t sites_error; /* 0, -E2BIG or an error of nsc_symbols_sites(): no sites then */
    uint8_t origin;      /* enum nsc_digest_origin */
    uint8_t has_lines;
    uint8_t has_debug_file; /* the debug file matches the ELF file */
    uint8_t reserved;
    uint64_t offset; /* of the error in the file, or NSC_DIAG_NO_OFFSET */
    char message[480];
};

/* A validated digest. */
struct nsc_digest {
    uint8_t *bytes; /* all of it; NULL = none */
    struct nsc_digest_head head;
    const struct nsc_symbols_site *sites; /* in @bytes */
};

/* In the child: write the digest of @s. Changes the table of @s, which is unusable afterwards.
 * Returns 0 or -errno. */
int nsc_digest_write(struct nsc_symbols *s, int fd);
/* In the child: write only a head, with @error (0 or -errno) and its reason. */
int nsc_digest_write_error(int error, const struct nsc_diag *why, int fd);

/**
 * nsc_digest_read - validate a digest.
 * @bytes, @length: aligned for uint64_t; owned by @digest after success, untouched on failure.
 * @digest, @table: filled on success. The entries and strings of @table are in @bytes: free
 * @digest->bytes, not the table.
 *
 * Linear in @length. Returns 0, -EPROTO (malformed), -ENOMEM or the error stored in the digest.
 */
int nsc_digest_read(uint8_t *bytes, size_t length, struct nsc_digest *digest,
                    struct nsc_symtab *table, struct nsc_diag *diag);

#endif
