/* made_output.c - see made_output.h. */
#include "util/os/made_output.h"

static mode_t refused;
static bool keeps_files;

void nsc_made_output_begin(bool replaces)
{
    refused = 077;
    keeps_files = !replaces;
}

void nsc_made_output_allow(mode_t rights)
{
    refused &= ~rights;
}

mode_t nsc_made_output_mode(mode_t mode)
{
    return mode & ~refused;
}

bool nsc_made_output_replaces(void)
{
    return !keeps_files;
}
