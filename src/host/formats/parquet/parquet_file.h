/*
 * parquet_file.h - write a Parquet file: row groups column by column, zstd pages, the footer.
 *
 * Called by parquet_export.c, which defines the columns. Memory: the pages of one column, and until
 * the end the footer's metadata of each row group. Sources: apache/parquet-format, parquet.thrift
 * and Encodings.md.
 */
#ifndef NSC_FORMATS_PARQUET_PARQUET_FILE_H
#define NSC_FORMATS_PARQUET_PARQUET_FILE_H

#include "util/os/gzip_output.h"

struct nsc_parquet_column {
    const char *name;
    enum { NSC_PARQUET_INT32 = 1, NSC_PARQUET_INT64 = 2, NSC_PARQUET_TEXT = 6 } type;
    bool optional;
};

/* A distinct value (dictionary entry) of a column in one row group: clean UTF-8, or a number. */
struct nsc_parquet_value {
    const char *text;
    size_t bytes;
    int64_t number;
};

struct nsc_parquet;

/**
 * nsc_parquet_new - start a file.
 * @out: the output; it keeps write errors.
 * @columns: array of @count columns; borrowed until nsc_parquet_free().
 * Returns NULL when out of memory.
 */
struct nsc_parquet *nsc_parquet_new(struct nsc_output *out,
                                    const struct nsc_parquet_column *columns, uint32_t count);
void nsc_parquet_free(struct nsc_parquet *p);

/* Starts a row group of @rows rows (at least 1). All columns must follow, in order. */
void nsc_parquet_begin_group(struct nsc_parquet *p, uint32_t rows);
/**
 * nsc_parquet_put_numbers - write a column of numbers, delta-encoded.
 * @values: one per row.
 * @none: number that means "no value" in an optional column.
 */
void nsc_parquet_put_numbers(struct nsc_parquet *p, const int64_t *values, int64_t none);
/**
 * nsc_parquet_put_chosen - write a dictionary-encoded column, for few distinct values.
 * @values: array of @count distinct values.
 * @index: index into @values, one per row; in an optional column, UINT32_MAX = no value.
 */
void nsc_parquet_put_chosen(struct nsc_parquet *p, const struct nsc_parquet_value *values,
                            uint32_t count, const uint32_t *index);
/* Ends a row group, after its last column. */
void nsc_parquet_end_group(struct nsc_parquet *p);

/**
 * nsc_parquet_end - write the footer.
 * @keys, @texts: @count key-value pairs of the file's metadata.
 * Returns 0, or -ENOMEM if memory ran out at any time; the file is invalid then.
 */
int nsc_parquet_end(struct nsc_parquet *p, const char *const *keys, const char *const *texts,
                    uint32_t count);

#endif
