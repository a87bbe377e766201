/*
 * dex_read_state.h - the state of one nsc_dex_read(), between dex_read.c and dex_read_data.c only.
 *
 * A file's map says where the sections are and how many items each has. Each section is read once,
 * from its beginning to where the next one begins, and what is referred to by offset must be an
 * item of its section: so items cannot overlap, memory is in proportion, and what nobody refers to
 * is kept as well.
 */
#ifndef NSC_ANDROID_DEX_DEX_READ_STATE_H
#define NSC_ANDROID_DEX_DEX_READ_STATE_H

#include "android/dex/dex_state.h"

struct nsc_dex_section {
    bool present;
    uint32_t offset, count;
    uint32_t limit;    /* where the next section begins */
    uint32_t end;      /* of the last item */
    uint32_t *offsets; /* of the items, ascending; NULL: nothing refers to them */
};

struct nsc_dex_reading {
    const uint8_t *data;
    uint32_t bytes;
    struct nsc_dex *dex;
    struct nsc_diag *diag;
    struct nsc_dex_section sections[NSC_DEX_KINDS];
    uint64_t debug_bytes; /* of debug information, as often as code has it */
};

/* The item of a section that is at @offset; offset 0 is none. Returns 0 or -EBADMSG with a message
 * that says that @where, at @at, is wrong. */
int nsc_dex_resolve(struct nsc_dex_reading *r, enum nsc_dex_kind kind, uint32_t offset, uint64_t at,
                    uint32_t *index);
/* An index beyond its table. -EBADMSG. */
int nsc_dex_bad_index(struct nsc_dex_reading *r, uint64_t at, const char *what, uint32_t index);
/* Read @count items of @kind's section, each by @item, which moves the span behind it. */
int nsc_dex_each_item(struct nsc_dex_reading *r, enum nsc_dex_kind kind,
                      int (*item)(struct nsc_dex_reading *r, struct nsc_span *span, uint32_t i));

/* Memory for a table as the map has it, each element @item bytes of 0; *@table and *@count stay as
 * they are where there is none. @table: of struct nsc_dex. */
int nsc_dex_make_table(struct nsc_dex_reading *r, enum nsc_dex_kind kind, size_t item, void *table,
                       uint32_t *count);

/* dex_read_data.c: everything that is reached by offsets. Strings, types and the other ids are
 * there already, as their limits are needed. */
int nsc_dex_read_lists(struct nsc_dex_reading *r);
int nsc_dex_read_data(struct nsc_dex_reading *r);

#endif
