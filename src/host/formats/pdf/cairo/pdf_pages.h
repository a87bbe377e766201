/*
 * pdf_pages.h - write a trace as pages of a flame chart. Implemented by pdf_pages.c if nanoscope is
 * built with libcairo, else by without.c, which returns an error.
 *
 * Called by pdf_export.c only.
 */
#ifndef NSC_FORMATS_PDF_CAIRO_PDF_PAGES_H
#define NSC_FORMATS_PDF_CAIRO_PDF_PAGES_H

#include "formats/export/export.h"

/* As struct nsc_exporter's run(). */
int nsc_pdf_export(struct nsc_export *job, struct nsc_diag *diag);

#endif
