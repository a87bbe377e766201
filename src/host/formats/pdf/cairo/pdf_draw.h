/*
 * pdf_draw.h - what is drawn on a page: text that fits its place, calls, gaps, the axis of time.
 *
 * Called by pdf_pages.c, which knows where everything goes. Lengths are in points, from the top
 * left.
 */
#ifndef NSC_FORMATS_PDF_CAIRO_PDF_DRAW_H
#define NSC_FORMATS_PDF_CAIRO_PDF_DRAW_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pdf/cairo/cairo.h"

#define NSC_PDF_WIDTH     842.0 /* A4, landscape */
#define NSC_PDF_HEIGHT    595.0
#define NSC_PDF_LEFT      28.0
#define NSC_PDF_RIGHT     (NSC_PDF_WIDTH - 28.0)
#define NSC_PDF_ROW       10.5 /* from one depth to the next */
#define NSC_PDF_TEXT_SIZE 7.5

struct nsc_pdf_pen {
    struct nsc_cairo api;
    cairo_t *to;
    double size;             /* of the font that is set */
    bool bold;               /* likewise */
    uint64_t from_ns, to_ns; /* what the page's width shows; not empty */
};

/* Where a time is on the page. */
double nsc_pdf_x(const struct nsc_pdf_pen *pen, uint64_t ns);

void nsc_pdf_font(struct nsc_pdf_pen *pen, double size, bool bold);
double nsc_pdf_text_width(struct nsc_pdf_pen *pen, const char *text);

/**
 * nsc_pdf_text - one line of text, shortened by an ellipsis where it would be wider than its place.
 * @text: clean UTF-8 without control characters.
 * @y: of the base line.
 * Returns the width taken; 0 if not even a letter fits.
 */
double nsc_pdf_text(struct nsc_pdf_pen *pen, const char *text, double x, double y, double width);

/* One call, or several that are too short to be told apart, in a row that begins at @y. */
struct nsc_pdf_box {
    double x0, x1;
    const char *name; /* clean; NULL for several calls */
    uint32_t bound;   /* NSC_BOUND_* */
};

void nsc_pdf_box(struct nsc_pdf_pen *pen, const struct nsc_pdf_box *box, double y);

/* Hatched: events were lost here. */
void nsc_pdf_hatch(struct nsc_pdf_pen *pen, double x0, double x1, double y, double height);

/* Lines down to @bottom, and the times that they stand for above @y. */
void nsc_pdf_axis(struct nsc_pdf_pen *pen, double y, double bottom);

/* What the signs mean. */
void nsc_pdf_legend(struct nsc_pdf_pen *pen, double y, double width);

#endif
