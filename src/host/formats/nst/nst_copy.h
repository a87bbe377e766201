/*
 * nst_copy.h - a trace written anew: out of what is whole of a cut file, or compressed.
 *
 * Called by cli/ (recover, record --compress). One pass over each thread; memory as the writer's.
 */
#ifndef NSC_FORMATS_NST_NST_COPY_H
#define NSC_FORMATS_NST_NST_COPY_H

#include "trace/read/reader.h"
#include "trace/write/writer.h"

/**
 * nsc_nst_recover - write a whole trace out of an incomplete or damaged one.
 * @in: the file; it is not changed.
 * @out: path of the new trace; see nsc_writer_create() for what is refused.
 * @options: of the new trace; may be NULL.
 * @complete: called before the new trace is finished, to add what the old one lacks (names of
 *        functions); its error ends the work. May be NULL.
 * @info: receives what was found in @in, with the warning; may be NULL.
 * Returns 0 or -errno with @diag.
 */
int nsc_nst_recover(const char *in, const char *out, const struct nsc_writer_options *options,
                    int (*complete)(struct nsc_trace *t, struct nsc_writer *w),
                    struct nsc_trace_info *info, struct nsc_diag *diag);

/**
 * nsc_nst_compress - write a whole trace again with each block compressed by zstd.
 * Any part of it can still be read without the rest. @out may be @in with @overwrite.
 * Returns 0 or -errno with @diag.
 */
int nsc_nst_compress(const char *in, const char *out, bool overwrite, struct nsc_diag *diag);

#endif
