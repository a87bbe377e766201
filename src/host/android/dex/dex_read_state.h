/*
 * dex_read_state.h - state of one nsc_dex_read(), shared by dex_read.c and dex_read_data.c only.
 *
 * A file's map lists the sections with their offsets and item counts. Each section is read once, up
 * to the start of the next one. An offset reference must point to an item of its section. So items
 * cannot overlap, memory is linear in the file, and unreferenced items are kept, too.
 */
#ifndef NSC_ANDROID_DEX_DEX_READ_STATE_H
#define NSC_ANDROID_DEX_DEX_READ_STATE_H

#include "android/dex/dex_state.h"

struct nsc_dex_section {
    bool present;
    uint32_t offset, count;
    uint32_t limit;    /* start of the next section */
    uint32_t end;      /* end of the last item */
    uint32_t *offsets; /* of the items, ascending; NULL: not referred to by offset */
};

struct nsc_dex_reading {
    const uint8_t *data;
    uint32_t bytes;
    struct nsc_dex *dex;
    struct nsc_diag *diag;
    struct nsc_dex_section sections[NSC_DEX_KINDS];
    uint64_t debug_bytes; /* of debug information, counted once per code item that uses it */
};

/* Find the item of a section at @offset; offset 0 gives NSC_DEX_NONE. Returns 0, or -EBADMSG with a
 * message; @at is the position of the bad reference. */
int nsc_dex_resolve(struct nsc_dex_reading *r, enum nsc_dex_kind kind, uint32_t offset, uint64_t at,
                    uint32_t *index);
/* Report an index beyond its table. Returns -EBADMSG. */
int nsc_dex_bad_index(struct nsc_dex_reading *r, uint64_t at, const char *what, uint32_t index);
/* Read all items of @kind's section, each by @item, which advances the span past it. */
int nsc_dex_each_item(struct nsc_dex_reading *r, enum nsc_dex_kind kind,
                      int (*item)(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i));

/* Allocate a zeroed table with the map's item count, @item bytes per element. Without such a
 * section *@table and *@count are unchanged. @table: pointer to a table of struct nsc_dex. */
int nsc_dex_make_table(struct nsc_dex_reading *r, enum nsc_dex_kind kind, size_t item, void *table,
                       uint32_t *count);

/* dex_read_data.c: read everything that is reached by offsets. nsc_dex_read_data() needs the tables
 * of ids, for their limits. */
int nsc_dex_read_lists(struct nsc_dex_reading *r);
int nsc_dex_read_data(struct nsc_dex_reading *r);

#endif
