/*
 * page.h - write a one-file page: an HTML file with viewer, engine and traces, which browsers open
 * without a server.
 *
 * Called by cli/. Content: docs/viewer-protocol.md (WebAssembly); reasons: docs/adr/019-page.md.
 */
#ifndef NSC_VIEWER_PAGE_PAGE_H
#define NSC_VIEWER_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"
#include "util/os/gzip_output.h"

#define NSC_PAGE_TRACES_MAX 2u

/* A trace of the page. */
struct nsc_page_trace {
    int fd;           /* of a complete .nst file without compressed blocks; owned by the caller */
    const char *name; /* shown to the user; any text */
};

/* Rules of function categories, in addition to the built-in ones (analyze/functions/category.h). */
struct nsc_page_rules {
    char *text; /* NULL: none */
    size_t bytes;
};

/* Return true if this program was built with the page. If not, @diag says what to install. */
bool nsc_page_is_possible(struct nsc_diag *diag);

/**
 * nsc_page_write - write a page that shows one trace, or compares two.
 * @rules: category rules, already validated; NULL: none.
 * @out: the output; the caller checks it for errors and finishes it.
 * Returns 0 or -errno with @diag.
 */
int nsc_page_write(const struct nsc_page_trace *traces, size_t count,
                   const struct nsc_page_rules *rules, struct nsc_output *out,
                   struct nsc_diag *diag);

#endif
