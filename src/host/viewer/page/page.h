/*
 * page.h - the one-file page: client, engine and traces in one file that opens from a disk.
 *
 * Called by cli/. What is in it is docs/viewer-protocol.md (WebAssembly), why docs/adr/019-page.md.
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
    int fd;           /* of a whole .nst file without compressed blocks; stays the caller's */
    const char *name; /* as it is shown; any text */
};

/* Rules for the categories of functions, beside the ready ones (analyze/functions/category.h). */
struct nsc_page_rules {
    char *text; /* NULL: none */
    size_t bytes;
};

/* Whether this program was built with what a page needs. If not, @diag says what to install. */
bool nsc_page_is_possible(struct nsc_diag *diag);

/**
 * nsc_page_write - write a page that shows one trace, or compares two.
 * @rules: of its categories, found right before; NULL: none.
 * @out: the caller finishes it, and asks it for write errors.
 * Returns 0 or -errno with @diag.
 */
int nsc_page_write(const struct nsc_page_trace *traces, size_t count,
                   const struct nsc_page_rules *rules, struct nsc_output *out,
                   struct nsc_diag *diag);

#endif
