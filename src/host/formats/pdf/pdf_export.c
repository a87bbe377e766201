/* pdf_export.c - registers PDF as an export format. Called through exporters.c. */
#include <string.h>

#include "formats/pdf/cairo/pdf_pages.h"
#include "util/text/name_text.h"

static bool sniff_pdf(const uint8_t *bytes, size_t count)
{
    return count >= 5 && memcmp(bytes, "%PDF-", 5) == 0;
}

static const char *const pdf_suffixes[] = {".pdf", NULL};

const struct nsc_exporter nsc_pdf_exporter = {
    .name = "pdf",
    .suffixes = pdf_suffixes,
    .sniff = sniff_pdf,
    .form = NSC_FORM_BINARY,
    .cook = nsc_names_line,
    .run = nsc_pdf_export,
};
