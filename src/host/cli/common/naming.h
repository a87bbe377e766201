/*
 * naming.h - names for the functions of a recording that goes on: it gets its own when it ends.
 *
 * Called by cmd_open.c. They come from the modules on this machine that are still the recorded
 * ones, and are kept, since a file that grows is opened again and again.
 */
#ifndef NSC_CLI_COMMON_NAMING_H
#define NSC_CLI_COMMON_NAMING_H

#include "trace/read/reader.h"

struct nsc_naming;

/* NULL without memory. */
struct nsc_naming *nsc_naming_new(void);
void nsc_naming_free(struct nsc_naming *naming);

/**
 * nsc_naming_apply - name the functions of a trace that was just opened.
 * @naming: of this file, opened as often as you like. What cannot be named keeps its address.
 * Context: any thread; one at a time gets names, others wait for it. Forks
 * (symbols/isolated_child.h).
 */
void nsc_naming_apply(void *naming, struct nsc_trace *t);

#endif
