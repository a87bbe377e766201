/*
 * cairo.h - loads libcairo at run time, at the start of a PDF export.
 *
 * Used by the PDF exporter only.
 */
#ifndef NSC_FORMATS_PDF_CAIRO_CAIRO_H
#define NSC_FORMATS_PDF_CAIRO_CAIRO_H

#include <cairo-pdf.h>

#include "util/diag.h"

#define NSC_CAIRO_FUNCTIONS(x)                                                                     \
    x(pdf_surface_create_for_stream) x(pdf_surface_set_metadata) x(surface_finish)                 \
        x(surface_status) x(surface_destroy) x(create) x(status) x(destroy) x(save) x(restore)     \
            x(show_page) x(select_font_face) x(set_font_size) x(text_extents) x(show_text)         \
                x(set_source_rgb) x(set_line_width) x(set_dash) x(move_to) x(line_to) x(rectangle) \
                    x(fill) x(stroke) x(clip)

struct nsc_cairo {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name */
#define NSC_CAIRO_MEMBER(name) __typeof__(cairo_##name) *name;
    NSC_CAIRO_FUNCTIONS(NSC_CAIRO_MEMBER)
#undef NSC_CAIRO_MEMBER
};

/* Loads libcairo, which stays loaded, and fills in all function pointers. Returns 0, or -ENOSYS
 * with @diag if it is not installed. */
int nsc_cairo_load(struct nsc_cairo *cairo, struct nsc_diag *diag);

#endif
