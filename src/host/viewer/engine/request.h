/*
 * request.h - the text of a request, taken apart: a path and named values.
 *
 * Called by engine.c. The text comes from anywhere: everything is checked.
 */
#ifndef NSC_VIEWER_ENGINE_REQUEST_H
#define NSC_VIEWER_ENGINE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"

#define NSC_REQUEST_VALUES_MAX 256u

struct nsc_request_value {
    const char *name, *value;
    bool used; /* somebody asked for it */
};

struct nsc_request {
    char *text; /* owns what the others point into */
    const char *path;
    struct nsc_request_value values[NSC_REQUEST_VALUES_MAX];
    size_t count;
};

/**
 * nsc_request_parse - take "/path?name=value&name=value" apart.
 * @text, @bytes: percent-encoded; "+" in a value is a space. An encoded NUL is refused.
 * @out: filled on success; free with nsc_request_free().
 * Returns 0, -EINVAL with @diag, or -ENOMEM.
 */
int nsc_request_parse(const char *text, size_t bytes, struct nsc_request *out,
                      struct nsc_diag *diag);
void nsc_request_free(struct nsc_request *r);

/* The next value of that name that was not asked for yet, or NULL. */
const char *nsc_request_take(struct nsc_request *r, const char *name);
/* The name of a value that nobody asked for, or NULL. */
const char *nsc_request_left(const struct nsc_request *r);

#endif
