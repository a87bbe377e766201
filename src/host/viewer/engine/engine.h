/*
 * engine.h - the engine of the viewer: a request in, bytes out.
 *
 * Called by viewer/server/ (over HTTP), by the page's module (WebAssembly) and by tests. The
 * requests are docs/viewer-protocol.md. Reads nothing but traces that are open already; no threads,
 * no output.
 */
#ifndef NSC_VIEWER_ENGINE_ENGINE_H
#define NSC_VIEWER_ENGINE_ENGINE_H

#include "trace/read/reader.h"
#include "viewer/engine/context.h"

struct nsc_engine;

#define NSC_ENGINE_REQUEST_MAX (256u << 10) /* bytes of a request; longer ones are refused */
#define NSC_ENGINE_TRACES_MAX  2u

/**
 * nsc_engine_open - make an engine for one user.
 * @traces, @count: one trace, or two for a comparison; borrowed, must stay open, and no one else
 *                  may use them meanwhile.
 * @options: may be NULL.
 * @out: receives the engine; nsc_engine_close() frees it.
 * Returns 0, -EINVAL or -ENOMEM.
 * Context: an engine and its traces belong to one thread at a time. Many engines, over traces
 * opened anew, may work at once.
 */
int nsc_engine_open(struct nsc_trace *const *traces, size_t count,
                    const struct nsc_engine_options *options, struct nsc_engine **out);
void nsc_engine_close(struct nsc_engine *a);

/**
 * nsc_engine_add - have further requests answered, by rooms that answer/ does not know.
 * @handlers, @count: borrowed until nsc_engine_close(). Returns 0 or -ENOMEM.
 */
int nsc_engine_add(struct nsc_engine *a, const struct nsc_engine_handler *handlers, size_t count);

/**
 * nsc_engine_context - answer one request.
 * @request, @bytes: "/api/tiles?zoom=20&first=0"; any bytes, no NUL needed.
 * @reply: filled in any case; its status says what happened. If there is no memory even for saying
 *         so, status is 500 and there are no bytes.
 */
void nsc_engine_answer(struct nsc_engine *a, const char *request, size_t bytes,
                       struct nsc_engine_reply *reply);

#endif
