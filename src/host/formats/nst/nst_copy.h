/*
 * nst_copy.h - write a .nst trace again: recover the intact part of an incomplete file, or compress
 * a trace.
 *
 * Called by cli/ (recover, record --compress). Reads each thread once. Memory: that of the writer.
 */
#ifndef NSC_FORMATS_NST_NST_COPY_H
#define NSC_FORMATS_NST_NST_COPY_H

#include "trace/read/reader.h"
#include "trace/write/writer.h"

/**
 * nsc_nst_recover - write a complete trace from an incomplete or damaged one.
 * @in: the file; it is not changed.
 * @out: path of the new trace; see nsc_writer_create() for paths that it refuses.
 * @options: of the new trace; may be NULL.
 * @complete: called before the new trace is finished, to add what the old one lacks (function
 *            names). Its error ends the recovery. May be NULL.
 * @info: receives the properties of @in, with the warning on its damage; may be NULL.
 * Returns 0 or -errno with @diag.
 */
int nsc_nst_recover(const char *in, const char *out, const struct nsc_writer_options *options,
                    int (*complete)(struct nsc_trace *t, struct nsc_writer *w),
                    struct nsc_trace_info *info, struct nsc_diag *diag);

/**
 * nsc_nst_compress - write a complete trace again, with each block compressed by zstd.
 * Blocks stay independent: any part can be read without the rest. @out may be @in with @overwrite.
 * Returns 0 or -errno with @diag.
 */
int nsc_nst_compress(const char *in, const char *out, bool overwrite, struct nsc_diag *diag);

#endif
