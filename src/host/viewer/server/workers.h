/*
 * workers.h - the threads that answer, each with an engine of its own over the same files.
 *
 * Called by the server. There are three kinds, so that pictures are not kept waiting by analyses,
 * nor both by SQL, which may take as long as it likes: what reads a whole trace is a slow request,
 * and two statements run at once while others wait. A worker opens its traces when it has the first
 * request.
 */
#ifndef NSC_VIEWER_SERVER_WORKERS_H
#define NSC_VIEWER_SERVER_WORKERS_H

#include <stdatomic.h>

#include "viewer/engine/engine.h"

struct nsc_workers;

/* A request under way. Begin with zeros. */
struct nsc_task {
    const char *request; /* "/api/trace"; borrowed until done() */
    struct nsc_engine_reply reply;
    atomic_bool gone; /* nobody waits for it any more: it need not be begun, or ended */
    /* Called by a worker as its last act on the task; the reply's status is 0 if it was given up.
     */
    void (*done)(struct nsc_task *task);
    struct nsc_task *next;
};

struct nsc_workers_options {
    const struct nsc_serve_trace *traces; /* borrowed until nsc_workers_free() */
    size_t trace_count;
    /* What serve/ answers itself, beside the engine. */
    const struct nsc_engine_handler *const *handlers;
    size_t handler_count;
    const struct nsc_category_rules *rules; /* as in nsc_engine_options */
};

/**
 * nsc_workers_start - start the threads.
 * Returns 0 or -errno: -ENOMEM, -EAGAIN (no more threads).
 */
int nsc_workers_start(const struct nsc_workers_options *options, struct nsc_workers **out);

/* Have a task done. Context: any thread. */
void nsc_workers_submit(struct nsc_workers *w, struct nsc_task *task);

/* End the threads: what waits, and what comes from now on, is given up; what is being answered is
 * waited for. @w may be NULL. */
void nsc_workers_stop(struct nsc_workers *w);
/* When no task can come any more. @w may be NULL. */
void nsc_workers_free(struct nsc_workers *w);

/* Whether a request is one that may take long. */
bool nsc_workers_is_slow(const char *request);

#endif
