/*
 * engine.h - the engine of the viewer: takes a request, returns bytes.
 *
 * Called by viewer/server/ (over HTTP), by the page's module (WebAssembly) and by tests.
 * docs/viewer-protocol.md documents the requests. Reads only traces that are already open; starts
 * no threads, prints nothing.
 */
#ifndef NSC_VIEWER_ENGINE_ENGINE_H
#define NSC_VIEWER_ENGINE_ENGINE_H

#include "trace/read/reader.h"
#include "viewer/engine/context.h"

struct nsc_engine;

#define NSC_ENGINE_REQUEST_MAX (256u << 10) /* bytes of a request; longer ones are rejected */
#define NSC_ENGINE_TRACES_MAX  2u

/**
 * nsc_engine_open - create an engine for one user.
 * @traces, @count: one trace, or two for a comparison; borrowed. They must stay open, and no other
 *                  code may use them in the meantime.
 * @options: may be NULL.
 * @out: receives the engine; nsc_engine_close() frees it.
 * Returns 0, -EINVAL or -ENOMEM.
 * Context: an engine and its traces belong to one thread at a time. Several engines may run in
 * parallel if each has opened its traces itself.
 */
int nsc_engine_open(struct nsc_trace *const *traces, size_t count,
                    const struct nsc_engine_options *options, struct nsc_engine **out);
void nsc_engine_close(struct nsc_engine *a);

/**
 * nsc_engine_add - add handlers of other rooms, which the engine does not depend on.
 * @handlers, @count: borrowed until nsc_engine_close(). Returns 0 or -ENOMEM.
 */
int nsc_engine_add(struct nsc_engine *a, const struct nsc_engine_handler *handlers, size_t count);

/**
 * nsc_engine_answer - answer one request.
 * @request, @bytes: "/api/tiles?zoom=20&first=0"; any bytes, need not be terminated.
 * @reply: always filled; its status is the result. If there is no memory even for the error
 *         message, status is 500 and there are no bytes.
 */
void nsc_engine_answer(struct nsc_engine *a, const char *request, size_t bytes,
                       struct nsc_engine_reply *reply);

#endif
