/* fuzz_chrome.c - any bytes as Chrome's JSON. See import_input.h. Build and run: make fuzz
 */
#include "fuzz/rigs/import_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 4 && memcmp(data, "\x89NST", 4) == 0)
        return 0; /* a .nst file is refused before any importer sees it */
    fz_run(data, size, "chrome", 1);
    return 0;
}
