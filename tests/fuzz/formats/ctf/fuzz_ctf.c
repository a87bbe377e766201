/* fuzz_ctf.c - any bytes as a folder of CTF 1.8. See folder_input.h. */
#include "fuzz/rigs/folder_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"metadata", "a", "b", NULL};

    fuzz_begin();
    fuzz_folder(data, size, names);
    fuzz_import(size);
    return 0;
}
