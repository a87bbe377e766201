/*
 * sqlite.h - SQLite, loaded when the first query is made.
 *
 * Internal to query/. Linking it would require it wherever a program is recorded.
 */
#ifndef NSC_QUERY_SQLITE_H
#define NSC_QUERY_SQLITE_H

#include <sqlite3.h>

#include "util/diag.h"

#define NSC_SQLITE_FUNCTIONS(x)                                                                    \
    x(aggregate_context) x(bind_int64) x(close) x(column_bytes) x(column_count) x(column_decltype) \
        x(column_double) x(column_int64) x(column_name) x(column_text) x(column_type)              \
            x(create_function_v2) x(create_module_v2) x(db_config) x(declare_vtab) x(errmsg)       \
                x(error_offset) x(extended_errcode) x(finalize) x(free) x(hard_heap_limit64)       \
                    x(limit) x(malloc64) x(mprintf) x(open_v2) x(prepare_v2) x(progress_handler)   \
                        x(realloc64) x(result_double) x(result_error) x(result_error_nomem)        \
                            x(result_int64) x(result_null) x(result_text) x(set_authorizer)        \
                                x(step) x(stmt_readonly) x(user_data) x(value_double)              \
                                    x(value_int64) x(value_numeric_type) x(value_type)             \
                                        x(vtab_config) x(vtab_in) x(vtab_in_first) x(vtab_in_next)

struct nsc_sqlite {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name */
#define NSC_SQLITE_MEMBER(name) __typeof__(sqlite3_##name) *name;
    NSC_SQLITE_FUNCTIONS(NSC_SQLITE_MEMBER)
#undef NSC_SQLITE_MEMBER
};

/* The library's functions; valid after nsc_sqlite_load() has succeeded. */
extern struct nsc_sqlite nsc_sqlite;

/**
 * nsc_sqlite_load - load the library if it is not loaded yet. It stays loaded.
 * Returns 0, or -ENOSYS with @diag: it is not installed, or too old.
 * Context: any thread.
 */
int nsc_sqlite_load(struct nsc_diag *diag);

#endif
