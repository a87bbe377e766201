/*
 * function_names.h - give the functions of a trace their names: at the end of the recording, and by
 * those who read one that has not ended.
 */
#ifndef NSC_RECORD_MODULES_FUNCTION_NAMES_H
#define NSC_RECORD_MODULES_FUNCTION_NAMES_H

#include "record/modules/modules.h"
#include "trace/read/reader.h"

/* Looks up every function id's symbol, readable name and line, and makes addresses of one symbol
 * aliases. What cannot be found keeps its address for a name. 0 or -ENOMEM. */
int nsc_names_resolve(struct nsc_modules *modules);

/* A table of functions that get names: that of a trace which is written, or of one which is read
 * and has no names yet. The members are as nsc_writer_set_function() and its neighbours. */
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
 * nsc_names_resolve_files - the same for functions of all modules that are on this machine, as
 * their build ids tell. The others keep their addresses.
 * @t: has the modules.
 * Returns 0 or -ENOMEM.
 */
int nsc_names_resolve_files(const struct nsc_names_table *table, const struct nsc_trace *t);

#endif
