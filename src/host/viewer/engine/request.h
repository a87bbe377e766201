/*
 * request.h - parse a request: a path and named values.
 *
 * Called by engine.c. The text is untrusted: everything is checked.
 */
#ifndef NSC_VIEWER_ENGINE_REQUEST_H
#define NSC_VIEWER_ENGINE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"

#define NSC_REQUEST_VALUES_MAX 256u

struct nsc_request_value {
    const char *name, *value;
    bool used; /* a handler has taken it */
};

struct nsc_request {
    char *text; /* owns the strings that the other members point to */
    const char *path;
    struct nsc_request_value values[NSC_REQUEST_VALUES_MAX];
    size_t count;
};

/**
 * nsc_request_parse - parse "/path?name=value&name=value".
 * @text, @bytes: percent-encoded; "+" in a value is a space. An encoded NUL is rejected.
 * @out: filled on success; free with nsc_request_free().
 * Returns 0, -EINVAL with @diag, or -ENOMEM.
 */
int nsc_request_parse(const char *text, size_t bytes, struct nsc_request *out,
                      struct nsc_diag *diag);
void nsc_request_free(struct nsc_request *r);

/* Take the next unused value with that name, or return NULL. */
const char *nsc_request_take(struct nsc_request *r, const char *name);
/* The name of an unused value, or NULL. */
const char *nsc_request_left(const struct nsc_request *r);

#endif
