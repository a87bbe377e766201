/* cairo.c - see cairo.h. */
#include "formats/pdf/cairo/cairo.h"

#include "util/os/dynlib.h"

int nsc_cairo_load(struct nsc_cairo *cairo, struct nsc_diag *diag)
{
    static const char *const names[] = {
#define NAME(function) "cairo_" #function,
        NSC_CAIRO_FUNCTIONS(NAME)
#undef NAME
    };

    _Static_assert(sizeof *cairo == sizeof names, "a pointer for each name");
    return nsc_dynlib_load("libcairo.so.2", "to write PDF (Debian: apt install libcairo2)", names,
                           sizeof names / sizeof names[0], cairo, diag);
}
