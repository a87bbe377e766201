/*
 * table.h - a table of results, written as aligned text, CSV or JSON.
 *
 * Called by cli/ for every command that lists things. Keeps all rows in memory until it is written:
 * use it for results of bounded size (functions, threads, the slowest n calls), not for events.
 */
#ifndef NSC_UTIL_TEXT_TABLE_H
#define NSC_UTIL_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/text/json_writer.h"

enum nsc_table_format {
    NSC_TABLE_ALIGNED = 0,
    NSC_TABLE_CSV = 1,
    NSC_TABLE_JSON = 2,
};

enum nsc_table_kind {
    NSC_TABLE_TEXT = 0,
    NSC_TABLE_COUNT = 1,     /* aligned: with thousands marks */
    NSC_TABLE_NUMBER = 2,    /* an id: plain digits */
    NSC_TABLE_NS = 3,        /* aligned: 1.234 ms */
    NSC_TABLE_TIME = 4,      /* in ns; aligned: 0.001234567s */
    NSC_TABLE_BYTES = 5,     /* aligned: 3.70 MiB */
    NSC_TABLE_CHANGE = 6,    /* may be negative; aligned: with sign and thousands marks */
    NSC_TABLE_CHANGE_NS = 7, /* may be negative; aligned: +1.234 ms */
    NSC_TABLE_RATIO = 8,     /* in thousandths: 1.250 */
    NSC_TABLE_SHARE = 9,     /* in millionths: 0.785714; aligned: 78.57% */
};

#define NSC_TABLE_LAST     1u  /* aligned: moved to the end of the row (long names) */
#define NSC_TABLE_NO_HUMAN 2u  /* absent from the aligned form */
#define NSC_TABLE_NO_CSV   4u  /* absent from CSV */
#define NSC_TABLE_NO_JSON  8u  /* absent from JSON */
#define NSC_TABLE_LEFT     16u /* aligned: left-justified; default for text */
#define NSC_TABLE_RIGHT    32u /* aligned: right-justified; default for numbers */

struct nsc_table_column {
    const char *key;   /* CSV header and JSON member: "total_ns" */
    const char *title; /* heading of the aligned form: "TOTAL" */
    enum nsc_table_kind kind;
    unsigned flags; /* NSC_TABLE_* */
};

struct nsc_table;

/**
 * nsc_table_new - create a table.
 * @columns: array of @count columns, borrowed until nsc_table_free().
 * Returns NULL if out of memory.
 */
struct nsc_table *nsc_table_new(const struct nsc_table_column *columns, size_t count);
void nsc_table_free(struct nsc_table *t);

/* Add the next cell of the row, from the first to the last column. Its kind must be that of the
 * column. Text is copied. If memory runs out, the writing functions return the error. */
void nsc_table_add_text(struct nsc_table *t, const char *text);
void nsc_table_add(struct nsc_table *t, uint64_t value);
/* Add a cell of the kind NSC_TABLE_SHARE: @part / @whole; no value if @whole is 0. */
void nsc_table_add_share(struct nsc_table *t, uint64_t part, uint64_t whole);
/* Add a cell of a kind that may be negative. */
void nsc_table_add_change(struct nsc_table *t, int64_t value);
/* Add an estimate; the aligned form marks it with "~". */
void nsc_table_add_estimate(struct nsc_table *t, uint64_t value);
/* Add a lower bound of an unknown value; the aligned form marks it with ">=". */
void nsc_table_add_least(struct nsc_table *t, uint64_t value);
/* Add a cell without a value: "-" in the aligned form, an empty CSV field, null in JSON. */
void nsc_table_add_nothing(struct nsc_table *t);

size_t nsc_table_rows(const struct nsc_table *t);

/**
 * nsc_table_write - write the whole table with a heading, as aligned text or CSV.
 * @format: NSC_TABLE_ALIGNED or NSC_TABLE_CSV; for JSON use nsc_table_write_json().
 * Returns 0, -ENOMEM (a cell could not be added; nothing is written) or -EIO (the stream has an
 * error).
 */
int nsc_table_write(const struct nsc_table *t, enum nsc_table_format format, FILE *out);

/* Write the rows as an array of objects under @key. Returns as nsc_table_write(). */
int nsc_table_write_json(const struct nsc_table *t, struct nsc_json *j, const char *key);

/* Parse "table", "csv" or "json" into @format. Returns 0 or -EINVAL. */
int nsc_table_parse_format(const char *text, enum nsc_table_format *format);

#endif
