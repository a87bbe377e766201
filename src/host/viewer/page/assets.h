/*
 * assets.h - the files of the web client, as they are built into the program (tools/embed-viewer).
 *
 * Read by the server; made by the Makefile from viewer/. A program that was built without node has
 * none of them.
 */
#ifndef NSC_VIEWER_PAGE_ASSETS_H
#define NSC_VIEWER_PAGE_ASSETS_H

#include <stddef.h>

struct nsc_asset {
    const char *path; /* as in the URL: "/app.js"; "/" is the page; NULL ends the table */
    const char *type; /* of its content, with the character set */
    const char *etag; /* in quotes, as HTTP wants it; made of the content */
    const unsigned char *data;
    size_t bytes;
};

extern const struct nsc_asset nsc_serve_assets[];

/* What a one-file page begins with, up to its traces (viewer/page.mjs). No data: built without
 * node, or without a compiler for WebAssembly. */
extern const struct nsc_asset nsc_serve_page_begin;

#endif
