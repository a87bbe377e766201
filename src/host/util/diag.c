/* diag.c - see diag.h. */
#include "util/diag.h"

#include <stdio.h>
#include <stdlib.h>

int(nsc_diag_set)(struct nsc_diag *diag, uint64_t offset, int error, const char *format, ...)
{
    va_list ap;

    if (diag != NULL) {
        diag->offset = offset;
        va_start(ap, format);
        vsnprintf(diag->message, sizeof diag->message, format, ap);
        va_end(ap);
    }
    return -abs(error);
}
