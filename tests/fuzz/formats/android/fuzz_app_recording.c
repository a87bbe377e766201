/* fuzz_app_recording.c - any bytes as a recording of an app. See folder_input.h. */
#include "fuzz/rigs/folder_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[192];

    if (size < 8 || memcmp(data, "NSCAPP1", 8) != 0)
        return 0; /* the other importers have targets of their own */
    fuzz_begin();
    fuzz_path(path, "in");
    fuzz_write(path, data, size);
    fuzz_import(size);
    return 0;
}
