/*
 * trace_output.h - the place of the trace that a recording makes. Called by recorder.c, and by cli/
 * where that place is known at the end only.
 */
#ifndef NSC_RECORD_RECORDER_TRACE_OUTPUT_H
#define NSC_RECORD_RECORDER_TRACE_OUTPUT_H

#include "util/diag.h"

/* May a trace go there? A slip of the finger (-o main.c) must not cost a file: only a trace is
 * replaced by a trace. 0 or -EEXIST with @diag. */
int nsc_output_check(const char *path, struct nsc_diag *diag);

/**
 * nsc_output_move - give a complete trace another name, in another file system if need be.
 * Whatever is at @to is whole at any time. On failure the trace stays at @from.
 * Returns 0 or -errno with @diag.
 */
int nsc_output_move(const char *from, const char *to, struct nsc_diag *diag);

#endif
