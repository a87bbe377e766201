/*
 * context.h - the context of a request, for its handler: the trace, validated parameters, and
 * functions to write the answer.
 *
 * Used by the handlers of viewer/engine/ and by rooms that add handlers (nsc_engine_add()).
 *
 * A handler reads all its parameters first. An invalid parameter is recorded and gets the value
 * that it has when it is absent. Only nsc_context_check(), after the last parameter, must be
 * checked:
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

/* Options of nsc_engine_open(). */
struct nsc_engine_options {
    size_t size;                            /* of this structure */
    size_t cache_bytes;                     /* for decoded parts of the traces; 0: 16 MiB */
    bool growing;                           /* the (first) trace is still being recorded */
    const struct nsc_category_rules *rules; /* borrowed; NULL: the built-in rules */
    /* Cancellation callback, called before the events of a chunk are read. Return true to cancel
     * the request; it ends with status 500. */
    bool (*is_gone)(void *context);
    void *context;
};

/* Result of a request. Initialise with zeros; may be reused for the next request. */
struct nsc_engine_reply {
    int status;       /* HTTP status: 200, 400, 404, 500 */
    const char *type; /* content type; static */
    uint8_t *bytes;   /* malloc'ed, owned by the caller: see nsc_engine_reply_free() */
    size_t count;     /* size of the answer in bytes */
    size_t room;
};
void nsc_engine_reply_free(struct nsc_engine_reply *reply);

/**
 * struct nsc_engine_handler - the handler of the requests of one path.
 * @path: "/api/trace".
 * @can: the capability that /api/trace lists for it, or NULL for requests that every engine
 *       answers.
 * @answer: returns 0 (answered), -EINVAL (invalid request: 400), -ENOENT (not found: 404) or
 *          another -errno (500), with the ask's diagnostic filled.
 */
struct nsc_engine_handler {
    const char *path;
    const char *can;
    int (*answer)(struct nsc_engine_context *ask);
};

/* A trace, and the data that the engine keeps about it between requests. */
struct nsc_engine_source {
    struct nsc_trace *trace;
    struct nsc_trace_facts *facts; /* handle_trace.c; NULL until needed */
    uint64_t *calls; /* handle_search.c: calls by function; NULL until counted, or if unknown */
    struct nsc_categories categories; /* context_categories.c; empty until needed */
    bool counted;
    uint32_t number; /* 0 or 1 */
    bool growing;
};

struct nsc_engine_context {
    const struct nsc_engine_options *options;
    const struct nsc_engine_handler *const *handlers; /* all handlers of the engine */
    size_t handler_count;
    const struct nsc_engine_handler *handler; /* the one being called; may be embedded in a
                                               * structure */
    struct nsc_engine_source *sources;        /* all open traces */
    uint32_t source_count;
    struct nsc_engine_source *source; /* the one selected by `trace` */
    struct nsc_trace *trace;          /* its trace */
    struct nsc_cache *cache;          /* of pieces, see pieces.h */
    struct nsc_cache *tiles;          /* of finished tiles */
    struct nsc_request request;
    bool refused; /* a parameter is invalid; diag says which */
    struct nsc_diag diag;
    struct nsc_engine_reply *reply;
    struct nsc_json json; /* see nsc_context_json() */
};

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Reject the request with a one-line reason. Returns -EINVAL. */
int nsc_context_refuse(struct nsc_engine_context *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Report that something requested does not exist. Returns -ENOENT. */
int nsc_context_absent(struct nsc_engine_context *ask, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text of a parameter, or NULL. Giving it twice is an error. */
const char *nsc_context_text(struct nsc_engine_context *ask, const char *name);
/* A whole number from 0 to @max; @otherwise if it is absent or invalid. */
uint64_t nsc_context_number(struct nsc_engine_context *ask, const char *name, uint64_t otherwise,
                            uint64_t max);
/* The same for a required parameter. */
uint64_t nsc_context_needed(struct nsc_engine_context *ask, const char *name, uint64_t max);
/* Index of a word among @count words; @otherwise if it is absent or invalid. */
uint32_t nsc_context_word(struct nsc_engine_context *ask, const char *name,
                          const char *const *words, uint32_t count, uint32_t otherwise);
/* A required id. For a function, returns the canonical id. */
uint32_t nsc_context_thread(struct nsc_engine_context *ask, const char *name);
uint32_t nsc_context_function(struct nsc_engine_context *ask, const char *name);
/**
 * nsc_context_ids - read a list of ids, "1,5,9".
 * @below: exclusive upper limit of ids.
 * @max: maximum number of ids.
 * @count: receives their number; 0 if the parameter is absent.
 * Returns them, to be released with free(), or NULL if the parameter is absent or invalid.
 */
uint32_t *nsc_context_ids(struct nsc_engine_context *ask, const char *name, uint32_t below,
                          uint32_t max, uint32_t *count);
/* Read `from` and `to`, in ns. */
void nsc_context_window(struct nsc_engine_context *ask, uint64_t *from_ns, uint64_t *to_ns);
/**
 * nsc_context_selection - read window, threads and patterns.
 * @s: always filled; release with nsc_selection_free() in any case.
 * Returns 0, or -ENOMEM with the diagnostic. Invalid values are recorded, as above.
 */
int nsc_context_selection(struct nsc_engine_context *ask, struct nsc_selection *s);
/**
 * nsc_context_selections - read the selections of both traces, if two are open. `from_b`, `to_b`
 * and `threads_b` apply to the second trace; without `from_b` and `to_b` its window is that of the
 * first. Patterns apply to both.
 * @s: two selections; as for nsc_context_selection().
 */
int nsc_context_selections(struct nsc_engine_context *ask, struct nsc_selection *s);

/* Check that all parameters are valid and that the request has no others. Returns 0 or -EINVAL. */
int nsc_context_check(struct nsc_engine_context *ask);

/* ---- Answers --------------------------------------------------------------------------------- */

/* Begin an answer in JSON. Returns NULL, with the diagnostic, if out of memory. */
struct nsc_json *nsc_context_json(struct nsc_engine_context *ask);

/* Append @more bytes to a binary answer; they count from now on. Returns NULL, with the diagnostic,
 * if out of memory. */
uint8_t *nsc_context_bytes(struct nsc_engine_context *ask, size_t more);

/* Set the diagnostic. Returns -ENOMEM. */
static inline int nsc_context_no_memory(struct nsc_engine_context *ask)
{
    nsc_diag_set(&ask->diag, NSC_DIAG_NO_OFFSET, ENOMEM, "no memory for the answer");
    return -ENOMEM;
}

/* ---- Helpers for several answers ------------------------------------------------------------- */

/* The trace's categories; NULL, with the diagnostic, if out of memory. */
const struct nsc_categories *nsc_context_categories(struct nsc_engine_context *ask);
/* Whether the request has been cancelled. */
bool nsc_context_is_gone(const struct nsc_engine_context *ask);
/* Write an id, or null for NSC_NO_ID. */
void nsc_context_put_id(struct nsc_json *j, const char *key, uint32_t id);
/* Write ticks as ns since the trace's origin. */
void nsc_context_put_time(struct nsc_engine_context *ask, const char *key, uint64_t ticks);

#endif
