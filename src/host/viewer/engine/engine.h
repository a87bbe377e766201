/*
 * engine.h - the engine of the viewer: a request in, bytes out.
 *
 * Called by viewer/server/ (over HTTP), by the page's module (WebAssembly) and by tests. The
 * requests are docs/viewer-protocol.md. Reads nothing but traces that are open already; no threads,
 * no output.
 */
#ifndef NSC_VIEWER_ENGINE_ENGINE_H
#define NSC_VIEWER_ENGINE_ENGINE_H

#include "analyze/functions/category.h"
#include "trace/read/reader.h"

struct nsc_engine;
struct nsc_engine_context;

#define NSC_ENGINE_REQUEST_MAX (256u << 10) /* bytes of a request; longer ones are refused */
#define NSC_ENGINE_TRACES_MAX  2u

struct nsc_engine_options {
    size_t size;                            /* of this structure */
    size_t cache_bytes;                     /* for decoded pieces of the traces; 0: 16 MiB */
    bool growing;                           /* the (first) trace is still being recorded */
    const struct nsc_category_rules *rules; /* borrowed; NULL: the ready ones */
    /* Asked before each chunk whose events are read: true, and nobody waits any more. The request
     * ends, with status 500. */
    bool (*is_gone)(void *context);
    void *context;
};

/* What came of a request. Begin with zeros; may be used again for the next request. */
struct nsc_engine_reply {
    int status;       /* as in HTTP: 200, 400, 404, 500 */
    const char *type; /* content type; static */
    uint8_t *bytes;   /* malloc'ed, the caller's: see nsc_engine_reply_free() */
    size_t count;     /* bytes of the answer */
    size_t room;
};

/**
 * struct nsc_engine_handler - what answers the requests of one path.
 * @path: "/api/trace".
 * @can: the name by which /api/trace offers it, or NULL for what is always there.
 * @answer: see context.h for what it may do. Returns 0 (answered), -EINVAL (the request is wrong:
 * 400), -ENOENT (there is no such thing: 404) or another -errno (500), with the ask's diagnostic
 *          filled.
 */
struct nsc_engine_handler {
    const char *path;
    const char *can;
    int (*answer)(struct nsc_engine_context *ask);
};

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

void nsc_engine_reply_free(struct nsc_engine_reply *reply);

#endif
