/*
 * pdf_pages.h - pages of a flame chart: by pdf_pages.c where there is libcairo, else by without.c,
 * which says what is missing.
 *
 * Called by pdf_export.c only.
 */
#ifndef NSC_FORMATS_PDF_CAIRO_PDF_PAGES_H
#define NSC_FORMATS_PDF_CAIRO_PDF_PAGES_H

#include "formats/export/export.h"

/* As struct nsc_exporter's run(). */
int nsc_pdf_export(struct nsc_export *job, struct nsc_diag *diag);

#endif
