/*
 * handle_query.h - handler of /api/query: SQL over the trace.
 *
 * The server adds it to the engine's requests. It is not part of the engine, which is also built
 * without SQLite.
 */
#ifndef NSC_VIEWER_SERVER_HANDLE_QUERY_H
#define NSC_VIEWER_SERVER_HANDLE_QUERY_H

#include "viewer/engine/engine.h"

#define NSC_SQL_ROWS       1000u        /* default limit of rows */
#define NSC_SQL_ROWS_MAX   100000u      /* largest limit that a request may set */
#define NSC_SQL_BYTES_MAX  (16u << 20)  /* text bytes of an answer; further rows count as "more" */
#define NSC_SQL_SECONDS    60u          /* time limit of a statement */
#define NSC_SQL_MEMORY_MAX (256u << 20) /* memory limit of a statement, in bytes */

/* Return the handler, or NULL if SQLite cannot be loaded. Context: any thread. */
const struct nsc_engine_handler *nsc_query_handler(void);

#endif
