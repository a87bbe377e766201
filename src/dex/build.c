/*
 * build.c - a model from nothing. Called through dex.h.
 */
#include "dex/inner.h"

struct nsc_dex *nsc_dex_new(uint32_t version)
{
    struct nsc_dex *dex = nsc_dex_empty();

    if (dex != NULL)
        dex->version = version;
    return dex;
}
