/*
 * handle_query.h - /api/query: SQL over the trace.
 *
 * Added to the engine's requests by the server; not in the engine, which is also built where there
 * is no SQLite.
 */
#ifndef NSC_VIEWER_SERVER_HANDLE_QUERY_H
#define NSC_VIEWER_SERVER_HANDLE_QUERY_H

#include "viewer/engine/engine.h"

#define NSC_SQL_ROWS       1000u
#define NSC_SQL_ROWS_MAX   100000u
#define NSC_SQL_BYTES_MAX  (16u << 20) /* of text in an answer; what goes beyond is "more" */
#define NSC_SQL_SECONDS    60u         /* that a statement may take */
#define NSC_SQL_MEMORY_MAX (256u << 20)

/* The handler, or NULL if SQLite cannot be used. Context: any thread. */
const struct nsc_engine_handler *nsc_query_handler(void);

#endif
