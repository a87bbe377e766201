/*
 * without.c - pdf_pages.h where libcairo was not there when nanoscope was built: says so.
 *
 * The Makefile takes it in place of pdf_pages.c, pdf_draw.c and cairo.c.
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
