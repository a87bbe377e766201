/*
 * trace_output.h - checks and moves the output file of a recording. Called by recorder.c, and by
 * cli/ where the final path is known only at the end.
 */
#ifndef NSC_RECORD_RECORDER_TRACE_OUTPUT_H
#define NSC_RECORD_RECORDER_TRACE_OUTPUT_H

#include "util/diag.h"

/* Check that a trace may be written to @path. Only a trace may be replaced by a trace, so that a
 * mistake (-o main.c) does not destroy a file. Returns 0 or -EEXIST with @diag. */
int nsc_output_check(const char *path, struct nsc_diag *diag);

/**
 * nsc_output_move - rename a complete trace, to another file system if needed. A file at @to is
 * complete at any time. On failure the trace stays at @from.
 * Returns 0 or -errno with @diag.
 */
int nsc_output_move(const char *from, const char *to, struct nsc_diag *diag);

#endif
