/*
 * pdf.h - pages of a flame chart: by pdf.c where there is libcairo, else by pdf_without.c, which
 * says what is missing.
 *
 * Called by pdf_exporter.c only.
 */
#ifndef NSC_FORMATS_PDF_H
#define NSC_FORMATS_PDF_H

#include "formats/export.h"

/* As struct nsc_exporter's run(). */
int nsc_pdf_export(struct nsc_export *job, struct nsc_diag *diag);

#endif
