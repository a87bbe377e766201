/*
 * info_left_out.h - `info --left-out`: a table of the calls that a recording left out, and when.
 *
 * Called by cmd_info.c.
 */
#ifndef NSC_CLI_ANALYZE_INFO_LEFT_OUT_H
#define NSC_CLI_ANALYZE_INFO_LEFT_OUT_H

#include "trace/read/reader.h"
#include "util/text/table.h"

/* Returns the table, or NULL if memory runs out. */
struct nsc_table *nsc_cli_left_out_table(const struct nsc_trace *t);

#endif
