/*
 * workers.h - worker threads that answer requests, each with its own engine over the same files.
 *
 * Called by the server. There are three classes of workers, two threads each: for quick requests
 * (such as pictures of the timeline), for slow ones that read a whole trace, and for SQL
 * statements. So slow requests do not delay quick ones, and SQL delays neither. A worker opens its
 * traces at its first request.
 */
#ifndef NSC_VIEWER_SERVER_WORKERS_H
#define NSC_VIEWER_SERVER_WORKERS_H

#include <stdatomic.h>

#include "viewer/engine/engine.h"

struct nsc_workers;

/* A request to be answered. Initialise it with zeros. */
struct nsc_task {
    const char *request; /* "/api/trace"; borrowed until done() */
    struct nsc_engine_reply reply;
    atomic_bool gone; /* cancelled: the client has closed its connection */
    /* Called once, last, when the task is finished or cancelled (the reply's status is then 0).
     * Context: a worker, or the caller of nsc_workers_submit() or nsc_workers_stop(). */
    void (*done)(struct nsc_task *task);
    struct nsc_task *next;
};

struct nsc_workers_options {
    const struct nsc_serve_trace *traces; /* borrowed until nsc_workers_free() */
    size_t trace_count;
    /* Handlers of requests that the engine itself does not have. */
    const struct nsc_engine_handler *const *handlers;
    size_t handler_count;
    const struct nsc_category_rules *rules; /* as in nsc_engine_options */
};

/**
 * nsc_workers_start - start the threads.
 * Returns 0 or -errno: -ENOMEM, -EAGAIN (no more threads).
 */
int nsc_workers_start(const struct nsc_workers_options *options, struct nsc_workers **out);

/* Queue a task. Context: any thread. */
void nsc_workers_submit(struct nsc_workers *w, struct nsc_task *task);

/* Cancel queued and running tasks, wait until the threads have ended, and cancel every task that is
 * submitted later. @w may be NULL. */
void nsc_workers_stop(struct nsc_workers *w);
/* Free the workers; no task may be submitted any more. @w may be NULL. */
void nsc_workers_free(struct nsc_workers *w);

/* Return true for a request that may take long: it reads a whole trace, or is an SQL statement. */
bool nsc_workers_is_slow(const char *request);

#endif
