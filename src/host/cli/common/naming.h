/*
 * naming.h - names for the functions of a growing trace; the recorder writes names only at its end.
 *
 * Called by cmd_open.c. The names come from those modules on this machine that are still the
 * recorded builds. They are cached, as a growing file is opened again and again.
 */
#ifndef NSC_CLI_COMMON_NAMING_H
#define NSC_CLI_COMMON_NAMING_H

#include "trace/read/reader.h"

struct nsc_naming;

/* Returns NULL if memory runs out. */
struct nsc_naming *nsc_naming_new(void);
void nsc_naming_free(struct nsc_naming *naming);

/**
 * nsc_naming_apply - set the names of the functions of a newly opened trace.
 * @naming: the struct nsc_naming of this file, which may be opened any number of times.
 *
 * A function without a known name keeps its address.
 * Context: any thread; a lock serialises the calls. Forks (symbols/isolated_child.h).
 */
void nsc_naming_apply(void *naming, struct nsc_trace *t);

#endif
