/* fuzz_perfetto.c - any bytes as a Perfetto trace. See import_input.h. Build and run: make
 * fuzz */
#include "fuzz/rigs/import_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4 && memcmp(data, "\x89NST", 4) == 0)
        return 0; /* a .nst file is refused before any importer sees it */
    fz_run(data, size, "perfetto", 1);
    return 0;
}
