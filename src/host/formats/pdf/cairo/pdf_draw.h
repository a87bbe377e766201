/*
 * pdf_draw.h - draws the elements of a page: text that fits its place, calls, gaps, the time axis.
 *
 * Called by pdf_pages.c, which decides on the layout. Coordinates are in points, from the top left.
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
#define NSC_PDF_ROW       10.5 /* row height: distance from one depth to the next */
#define NSC_PDF_TEXT_SIZE 7.5

struct nsc_pdf_pen {
    struct nsc_cairo api;
    cairo_t *to;
    double size;             /* of the current font; 0 = none */
    bool bold;               /* of the current font */
    uint64_t from_ns, to_ns; /* time range across the page's width; not empty */
};

/* Returns the x coordinate of a time, clamped to the page. */
double nsc_pdf_x(const struct nsc_pdf_pen *pen, uint64_t ns);

void nsc_pdf_font(struct nsc_pdf_pen *pen, double size, bool bold);
double nsc_pdf_text_width(struct nsc_pdf_pen *pen, const char *text);

/**
 * nsc_pdf_text - draw one line of text, shortened with an ellipsis if it is wider than @width.
 * @text: clean UTF-8 without control characters.
 * @y: of the base line.
 * Returns the width used; 0 if not even one letter fits.
 */
double nsc_pdf_text(struct nsc_pdf_pen *pen, const char *text, double x, double y, double width);

/* One call, or several that are too short to be distinguished. */
struct nsc_pdf_box {
    double x0, x1;
    const char *name; /* clean; NULL for several calls */
    uint32_t bound;   /* NSC_BOUND_* */
};

/* Draws a box in the row whose top is at @y. */
void nsc_pdf_box(struct nsc_pdf_pen *pen, const struct nsc_pdf_box *box, double y);

/* Draws a hatched area where events were lost. */
void nsc_pdf_hatch(struct nsc_pdf_pen *pen, double x0, double x1, double y, double height);

/* Draws vertical lines from @y to @bottom, with their times above @y. */
void nsc_pdf_axis(struct nsc_pdf_pen *pen, double y, double bottom);

/* Draws the legend. */
void nsc_pdf_legend(struct nsc_pdf_pen *pen, double y, double width);

#endif
