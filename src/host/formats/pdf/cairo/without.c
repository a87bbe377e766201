/*
 * without.c - implements pdf_pages.h in a build without libcairo: returns an error that says so.
 *
 * The Makefile uses it instead of pdf_pages.c, pdf_draw.c and cairo.c.
 */
#include <errno.h>

#include "formats/pdf/cairo/pdf_pages.h"

int nsc_pdf_export(struct nsc_export *job, struct nsc_diag *diag)
{
    (void)job;
    return nsc_diag_set(diag, NSC_DIAG_NO_OFFSET, ENOSYS,
                        "nanoscope was built without libcairo, which PDF needs: install it "
                        "(Debian: apt install libcairo2-dev) and build again");
}
