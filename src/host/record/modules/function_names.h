/*
 * function_names.h - name the functions of a trace: at the end of the recording, and when reading a
 * trace that is not complete.
 */
#ifndef NSC_RECORD_MODULES_FUNCTION_NAMES_H
#define NSC_RECORD_MODULES_FUNCTION_NAMES_H

#include "record/modules/modules.h"
#include "trace/read/reader.h"

/* Looks up the symbol, readable name and line of every function id. Makes ids of the same symbol
 * aliases. A function without a symbol is named by its address. Returns 0 or -ENOMEM. */
int nsc_names_resolve(struct nsc_modules *modules);

/* A function table to be named: of a trace that is being written, or of a trace that was read and
 * has no names yet. The members work as nsc_writer_set_function() and its neighbours. */
struct nsc_names_table {
    void *of;
    uint32_t (*count)(const void *of);
    int (*get)(const void *of, uint32_t id, struct nsc_function *out);
    int (*set)(void *of, uint32_t id, const struct nsc_function *f);
    int (*alias)(void *of, uint32_t id, uint32_t canonical);
};

struct nsc_names_table nsc_names_of_writer(struct nsc_writer *w);
struct nsc_names_table nsc_names_of_trace(struct nsc_trace *t);

/**
 * nsc_names_resolve_files - name the functions of all modules whose files are on this machine,
 * matched by build ID. The others keep their addresses.
 * @t: has the modules.
 * Returns 0 or -ENOMEM.
 */
int nsc_names_resolve_files(const struct nsc_names_table *table, const struct nsc_trace *t);

#endif
