/* fuzz_uftrace.c - any bytes as a data folder of uftrace. See folder_input.h. */
#include "fuzz/rigs/folder_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"info",
                                        "task.txt",
                                        "sid-0000000000000001.map",
                                        "a.sym",
                                        "a.dbg",
                                        "2.dat",
                                        "perf-cpu0.dat",
                                        "perf-cpu1.dat",
                                        "extern.dat",
                                        "1.dat",
                                        NULL};

    fuzz_begin();
    fuzz_folder(data, size, names);
    fuzz_import(size);
    return 0;
}
