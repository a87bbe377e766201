/*
 * parquet_file.h - write a Parquet file: row groups column by column, zstd pages, the footer.
 *
 * Called by parquet_export.c, which knows what the columns are. Holds one column's pages at a time
 * and, until the end, what the footer tells of each row group. Sources: apache/parquet-format,
 * parquet.thrift and Encodings.md.
 */
#ifndef NSC_FORMATS_PARQUET_PARQUET_FILE_H
#define NSC_FORMATS_PARQUET_PARQUET_FILE_H

#include "util/os/gzip_output.h"

struct nsc_parquet_column {
    const char *name;
    enum { NSC_PARQUET_INT32 = 1, NSC_PARQUET_INT64 = 2, NSC_PARQUET_TEXT = 6 } type;
    bool optional;
};

/* Different values of a column of one row group; rows have an index. Clean UTF-8, or numbers. */
struct nsc_parquet_value {
    const char *text;
    size_t bytes;
    int64_t number;
};

struct nsc_parquet;

/**
 * nsc_parquet_new - begin a file.
 * @out: where it goes; write errors stay there.
 * @columns: @count of them; borrowed until the end.
 * Returns NULL without memory.
 */
struct nsc_parquet *nsc_parquet_new(struct nsc_output *out,
                                    const struct nsc_parquet_column *columns, uint32_t count);
void nsc_parquet_free(struct nsc_parquet *p);

/* Begin a row group of @rows rows, at least one; its columns follow, all of them in order. */
void nsc_parquet_begin_group(struct nsc_parquet *p, uint32_t rows);
/**
 * nsc_parquet_put_numbers - a column of numbers, each as its difference from the one before.
 * @values: one for each row.
 * @none: the value that stands for no value in an optional column.
 */
void nsc_parquet_put_numbers(struct nsc_parquet *p, const int64_t *values, int64_t none);
/**
 * nsc_parquet_put_chosen - a column of few different values.
 * @values: @count of them.
 * @index: which one each row has; UINT32_MAX in an optional column: none.
 */
void nsc_parquet_put_chosen(struct nsc_parquet *p, const struct nsc_parquet_value *values,
                            uint32_t count, const uint32_t *index);
/* The group's columns are all there. */
void nsc_parquet_end_group(struct nsc_parquet *p);

/**
 * nsc_parquet_end - the footer.
 * @keys, @texts: @count pairs that the file says of itself.
 * Returns 0, or -ENOMEM: at some time there was no memory, and the file is no good.
 */
int nsc_parquet_end(struct nsc_parquet *p, const char *const *keys, const char *const *texts,
                    uint32_t count);

#endif
