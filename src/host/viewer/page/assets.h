/*
 * assets.h - the files of the web client, embedded into the program by tools/embed-viewer.
 *
 * Read by the server and page.c. The Makefile generates them from viewer/; builds without node have
 * none.
 */
#ifndef NSC_VIEWER_PAGE_ASSETS_H
#define NSC_VIEWER_PAGE_ASSETS_H

#include <stddef.h>

struct nsc_asset {
    const char *path; /* as in the URL: "/app.js"; "/" is the page; NULL ends the table */
    const char *type; /* Content-Type, with the character set */
    const unsigned char *data;
    size_t bytes;
};

extern const struct nsc_asset nsc_serve_assets[];

/* The beginning of a one-file page, up to its traces (viewer/page.mjs). Its data is NULL if it was
 * built without node or without a compiler for WebAssembly. */
extern const struct nsc_asset nsc_serve_page_begin;

#endif
