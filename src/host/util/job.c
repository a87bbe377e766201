/* job.c - see job.h. */
#include "util/job.h"

#include <stdarg.h>
#include <stdio.h>

void nsc_job_notes_add(struct nsc_notes *notes, const char *format, ...)
{
    va_list ap;

    if (notes->count == NSC_NOTES_MAX) {
        notes->dropped++;
        return;
    }
    va_start(ap, format);
    vsnprintf(notes->line[notes->count++], sizeof notes->line[0], format, ap);
    va_end(ap);
}
