/*
 * names.h - give the functions of a trace their names, at the end of the recording.
 */
#ifndef NSC_RECORD_NAMES_H
#define NSC_RECORD_NAMES_H

#include "record/modules.h"

/* Looks up every function id's symbol, readable name and line, and makes addresses of one symbol
 * aliases. What cannot be found keeps its address for a name. 0 or -ENOMEM. */
int nsc_names_resolve(struct nsc_modules *modules);

/**
 * nsc_names_resolve_module - the same for the functions of one module of a trace that have no name.
 * @module: in the writer's module table, or NSC_NO_ID for functions that no module holds.
 * @symbols: of the module; NULL when they cannot be had.
 */
int nsc_names_resolve_module(struct nsc_writer *w, uint32_t module, struct nsc_symbols *symbols);

#endif
