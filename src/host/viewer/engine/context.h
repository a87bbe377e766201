/*
 * context.h - what a handler of requests has at hand: the trace that is meant, checked parameters,
 * and ways to write the answer.
 *
 * Used by the handlers of answer/ and by rooms that add their own (nsc_engine_add()).
 *
 * A handler takes all its parameters first. A wrong one is remembered and has the value that stands
 * for it when it is absent, so that only nsc_context_check(), after the last, need be looked at:
 *
 *     uint32_t function = nsc_context_function(ask, "function");
 *     uint64_t limit = nsc_context_number(ask, "limit", 200, 10000);
 *
 *     if (nsc_context_check(ask) != 0)
 *         return -EINVAL;
 */
#ifndef NSC_VIEWER_ENGINE_CONTEXT_H
#define NSC_VIEWER_ENGINE_CONTEXT_H

#include <errno.h>

#include "analyze/calls/selection.h"
#include "analyze/functions/category.h"
#include "util/text/json_writer.h"
#include "viewer/engine/request.h"

struct nsc_cache;
struct nsc_trace_facts;
struct nsc_engine_context;

/* How an engine is opened. */
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
void nsc_engine_reply_free(struct nsc_engine_reply *reply);

/**
 * struct nsc_engine_handler - what answers the requests of one path.
 * @path: "/api/trace".
 * @can: the name by which /api/trace offers it, or NULL for what is always there.
 * @answer: returns 0 (answered), -EINVAL (the request is wrong: 400), -ENOENT (there is no such
 *          thing: 404) or another -errno (500), with the ask's diagnostic filled.
 */
struct nsc_engine_handler {
    const char *path;
    const char *can;
    int (*answer)(struct nsc_engine_context *ask);
};

/* A trace, and what the engine keeps of it from one request to the next. */
struct nsc_engine_source {
    struct nsc_trace *trace;
    struct nsc_trace_facts *facts; /* handle_trace.c; NULL until it is needed */
    uint64_t *calls; /* handle_search.c: by function; NULL until counted, or not known */
    struct nsc_categories categories; /* context_categories.c; none until they are needed */
    bool counted;
    uint32_t number; /* 0 or 1 */
    bool growing;
};

struct nsc_engine_context {
    const struct nsc_engine_options *options;
    const struct nsc_engine_handler *const *handlers; /* all that the engine has */
    size_t handler_count;
    const struct nsc_engine_handler *handler; /* the one that was called; may stand in more */
    struct nsc_engine_source *sources;        /* all of them */
    uint32_t source_count;
    struct nsc_engine_source *source; /* the one that `trace` names */
    struct nsc_trace *trace;          /* its trace */
    struct nsc_cache *cache;          /* of pieces: see pieces.h */
    struct nsc_cache *tiles;          /* of finished ones */
    struct nsc_request request;
    bool refused; /* a parameter is wrong; diag says which */
    struct nsc_diag diag;
    struct nsc_engine_reply *reply;
    struct nsc_json json; /* see nsc_context_json() */
};

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Refuse the request, with one line that says why. Returns -EINVAL. */
int nsc_context_refuse(struct nsc_engine_context *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* There is no such thing. Returns -ENOENT. */
int nsc_context_absent(struct nsc_engine_context *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A parameter's text, or NULL. Twice the same is wrong. */
const char *nsc_context_text(struct nsc_engine_context *ask, const char *name);
/* A whole number from 0 to @max; @otherwise if it is absent, or wrong. */
uint64_t nsc_context_number(struct nsc_engine_context *ask, const char *name, uint64_t otherwise,
                            uint64_t max);
/* The same for one that must be there. */
uint64_t nsc_context_needed(struct nsc_engine_context *ask, const char *name, uint64_t max);
/* The index of a word among @count; @otherwise if it is absent, or wrong. */
uint32_t nsc_context_word(struct nsc_engine_context *ask, const char *name,
                          const char *const *words, uint32_t count, uint32_t otherwise);
/* An id that must be there. A function's is returned as the canonical one. */
uint32_t nsc_context_thread(struct nsc_engine_context *ask, const char *name);
uint32_t nsc_context_function(struct nsc_engine_context *ask, const char *name);
/**
 * nsc_context_ids - a list of ids, "1,5,9".
 * @below: ids must be less.
 * @max: no more than so many.
 * @count: receives their number; 0 if the parameter is absent.
 * Returns them, for free(), or NULL if it is absent or wrong.
 */
uint32_t *nsc_context_ids(struct nsc_engine_context *ask, const char *name, uint32_t below,
                          uint32_t max, uint32_t *count);
/* `from` and `to`, in ns. */
void nsc_context_window(struct nsc_engine_context *ask, uint64_t *from_ns, uint64_t *to_ns);
/**
 * nsc_context_selection - window, threads and patterns.
 * @s: always filled; nsc_selection_free() it in any case.
 * Returns 0, or -ENOMEM with the diagnostic. What is wrong is remembered, as above.
 */
int nsc_context_selection(struct nsc_engine_context *ask, struct nsc_selection *s);
/**
 * nsc_context_selections - those of both traces, with two open. `from_b`, `to_b` and `threads_b`
 * are the second's; without the former two, its window is as the first's. Patterns are for both.
 * @s: two; as for nsc_context_selection().
 */
int nsc_context_selections(struct nsc_engine_context *ask, struct nsc_selection *s);

/* Whether all that was asked for is right and nothing else stands in the request: 0 or -EINVAL. */
int nsc_context_check(struct nsc_engine_context *ask);

/* ---- Answers --------------------------------------------------------------------------------- */

/* Begin to answer in JSON. NULL, with the diagnostic, if there is no memory. */
struct nsc_json *nsc_context_json(struct nsc_engine_context *ask);

/* Answer in binary: room for @more bytes behind those that are there, which count from now on.
 * NULL, with the diagnostic, if there is no memory. */
uint8_t *nsc_context_bytes(struct nsc_engine_context *ask, size_t more);

/* Returns -ENOMEM. */
static inline int nsc_context_no_memory(struct nsc_engine_context *ask)
{
    nsc_diag_set(&ask->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the answer");
    return -ENOMEM;
}

/* ---- Small things that several answers hold -------------------------------------------------- */

/* The trace's functions by category; NULL, with the diagnostic, if there is no memory. */
const struct nsc_categories *nsc_context_categories(struct nsc_engine_context *ask);
/* Whether nobody waits for the answer any more. */
bool nsc_context_is_gone(const struct nsc_engine_context *ask);
/* An id or null. */
void nsc_context_put_id(struct nsc_json *j, const char *key, uint32_t id);
/* ns since the trace's time zero, of ticks. */
void nsc_context_put_time(struct nsc_engine_context *ask, const char *key, uint64_t ticks);

#endif
